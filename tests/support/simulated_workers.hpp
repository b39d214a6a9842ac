// Workers on a clock of their own: who would be done when, without waiting for it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <queue>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "rarefy/domains/domain.hpp"
#include "rarefy/evaluators/stream_evaluator.hpp"
#include "rarefy/storage/checkpoint.hpp"

/// How long the evaluation of a solution takes, in seconds: log-normal, by its own numbers.
class LogNormalDurations {
 public:
  LogNormalDurations(double mean, double sigma) : mean_(mean), sigma_(sigma) {}
  [[nodiscard]] double of(std::span<const double> solution) const;

 private:
  double mean_, sigma_;
};

/// A row goes to whoever is free first, in the order in which rows were begun. Evaluates at once,
/// and tells of it when the time has come.
class SimulatedWorkers : public rarefy::StreamEvaluator {
 public:
  SimulatedWorkers(const rarefy::Domain& domain, rarefy::Index workers,
                   LogNormalDurations durations);

  void begin(rarefy::Index job, rarefy::BatchView solutions,
             const rarefy::EvaluationSpan& out) override;
  std::span<const rarefy::RowDone> wait(rarefy::StopFlag stop) override;
  void abandon() override;
  [[nodiscard]] rarefy::Index capacity() const override { return workers_; }

  [[nodiscard]] double now() const { return now_; }
  /// The part of all workers' time in which they were at work.
  [[nodiscard]] double utilisation() const {
    return busy_ / (now_ * static_cast<double>(workers_));
  }

 private:
  struct End {
    double time = 0;
    std::int64_t number = 0;  // the earlier first, where times are equal
    rarefy::RowDone row;
    bool operator>(const End& other) const {
      return std::pair(time, number) > std::pair(other.time, other.number);
    }
  };
  template <typename T>
  using Soonest = std::priority_queue<T, std::vector<T>, std::greater<>>;

  const rarefy::Domain& domain_;
  rarefy::Index workers_;
  LogNormalDurations durations_;
  double now_ = 0, busy_ = 0;
  std::int64_t begun_ = 0;
  Soonest<double> free_at_;  // by worker
  Soonest<End> ends_;
  rarefy::RowDone named_;
};

inline double LogNormalDurations::of(std::span<const double> solution) const {
  std::mt19937_64 random(rarefy::checksum(std::as_bytes(solution)));
  // exp(mu + sigma Z) has the mean exp(mu + sigma^2 / 2).
  std::lognormal_distribution<double> seconds(std::log(mean_) - sigma_ * sigma_ / 2, sigma_);
  return seconds(random);
}

inline SimulatedWorkers::SimulatedWorkers(const rarefy::Domain& domain, rarefy::Index workers,
                                          LogNormalDurations durations)
    : domain_(domain), workers_(workers), durations_(durations) {
  for (rarefy::Index i = 0; i < workers; ++i) free_at_.push(0.0);
}

inline void SimulatedWorkers::begin(rarefy::Index job, rarefy::BatchView solutions,
                                    const rarefy::EvaluationSpan& out) {
  domain_.evaluate(solutions, out.features, out.objectives);
  for (rarefy::Index row = 0; row < solutions.rows(); ++row) {
    const double seconds = durations_.of(solutions.row(row));
    const double end = std::max(now_, free_at_.top()) + seconds;
    free_at_.pop();
    free_at_.push(end);
    busy_ += seconds;
    ends_.push({end, begun_++, {job, row}});
  }
}

inline std::span<const rarefy::RowDone> SimulatedWorkers::wait(rarefy::StopFlag /*stop*/) {
  if (ends_.empty()) return {};
  named_ = ends_.top().row;
  now_ = ends_.top().time;
  ends_.pop();
  return {&named_, 1};
}

inline void SimulatedWorkers::abandon() { ends_ = {}; }
