#include "simulated_workers.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "rarefy/storage/checkpoint.hpp"

double LogNormalDurations::of(std::span<const double> solution) const {
  std::mt19937_64 random(rarefy::checksum(std::as_bytes(solution)));
  // exp(mu + sigma Z) has the mean exp(mu + sigma^2 / 2).
  std::lognormal_distribution<double> seconds(std::log(mean_) - sigma_ * sigma_ / 2, sigma_);
  return seconds(random);
}

SimulatedWorkers::SimulatedWorkers(const rarefy::Domain& domain, rarefy::Index workers,
                                   LogNormalDurations durations)
    : domain_(domain), workers_(workers), durations_(durations) {
  for (rarefy::Index i = 0; i < workers; ++i) free_at_.push(0.0);
}

void SimulatedWorkers::begin(rarefy::Index job, rarefy::BatchView solutions,
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

std::span<const rarefy::RowDone> SimulatedWorkers::wait(rarefy::StopFlag /*stop*/) {
  if (ends_.empty()) return {};
  named_ = ends_.top().row;
  now_ = ends_.top().time;
  ends_.pop();
  return {&named_, 1};
}

void SimulatedWorkers::abandon() { ends_ = {}; }
