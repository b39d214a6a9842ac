// A search made of parts that write down what happens to them.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rarefy/search.hpp"
#include "rarefy/tessellations/grid.hpp"

namespace rarefy::recorded {

struct Log {
  std::vector<std::string> events;
  std::vector<std::vector<double>> scored, observed;  // features
  std::vector<std::vector<double>> objectives;
};

// Scores a feature by rounding it, so that ties can be arranged; accepts scores below 5.
class RecordingDensity : public Density {
 public:
  RecordingDensity(Log& log, bool informed_from_the_start)
      : log_(log), informed_(informed_from_the_start) {}
  [[nodiscard]] std::string_view name() const override { return "recording"; }
  [[nodiscard]] Index feature_dim() const override { return 1; }
  [[nodiscard]] bool informed() const override { return informed_; }
  void score(const Evaluated& batch, std::span<double> scores, Workers& /*workers*/) override {
    log_.events.emplace_back("score");
    const auto& features = batch.features;
    log_.scored.emplace_back(features.values().begin(), features.values().end());
    log_.objectives.emplace_back(batch.objectives.begin(), batch.objectives.end());
    for (Index i = 0; i < features.rows(); ++i) {
      scores[static_cast<std::size_t>(i)] = std::round(features(i, 0));
    }
  }
  [[nodiscard]] double accepts_below() const override { return 5.0; }
  using Density::observe;
  void observe(const Evaluated& batch, Workers& /*workers*/) override {
    log_.events.emplace_back("observe");
    const auto values = batch.features.values();
    log_.observed.emplace_back(values.begin(), values.end());
    informed_ = true;
  }
  void save(StateWriter& /*out*/) const override {}
  void load(StateReader& /*in*/) override {}

 private:
  Log& log_;
  bool informed_;
};

struct Told {
  std::vector<double> solutions, features, objectives, scores;
  std::vector<Index> order;
  std::vector<Outcome> outcomes;
  Index ranked, accepted, outside;
  std::vector<double> distances;
  bool informed;
  Index archive_size;  // when told
};

// Emits its own number, the iteration and the row; keeps what it is told.
class RecordingEmitter : public Emitter {
 public:
  RecordingEmitter(double number, Index rows, std::vector<Told>& told)
      : number_(number), rows_(rows), told_(told) {}
  [[nodiscard]] Index batch() const override { return rows_; }
  [[nodiscard]] Index dimension() const override { return 3; }
  void ask(const Archive& archive, std::uint64_t iteration, BatchSpan out) override {
    archive_ = &archive;
    for (Index i = 0; i < rows_; ++i) {
      out(i, 0) = number_;
      out(i, 1) = static_cast<double>(iteration);
      out(i, 2) = static_cast<double>(i);
    }
  }
  bool tell(const Feedback& f) override {
    told_.push_back({{f.solutions.values().begin(), f.solutions.values().end()},
                     {f.features.values().begin(), f.features.values().end()},
                     {f.objectives.begin(), f.objectives.end()},
                     {f.scores.begin(), f.scores.end()},
                     {f.order.begin(), f.order.end()},
                     {f.outcomes.begin(), f.outcomes.end()},
                     f.ranked,
                     f.accepted,
                     f.outside,
                     {f.distances.begin(), f.distances.end()},
                     f.informed,
                     archive_->size()});
    return stop_next;
  }
  void restart(std::span<const double> solution) override {
    restarted_at.emplace_back(solution.begin(), solution.end());
  }
  void save(StateWriter& /*out*/) const override {}
  void load(StateReader& /*in*/) override {}

  bool stop_next = false;
  std::vector<std::vector<double>> restarted_at;

 private:
  double number_;
  Index rows_;
  std::vector<Told>& told_;
  const Archive* archive_ = nullptr;
};

class RecordingTrigger : public RestartTrigger {
 public:
  bool tell(const Feedback& feedback, bool stopped) override {
    informed.push_back(feedback.informed);
    stops.push_back(stopped);
    return restart_next || stopped;
  }
  void reset() override { ++resets; }

  bool restart_next = false;
  int resets = 0;
  std::vector<bool> informed, stops;
};

class RecordingPoint : public RestartPoint {
 public:
  void choose(const RestartContext& context, Index emitter, std::span<double> out) override {
    chosen_for.push_back(emitter);
    observed_before.push_back(observed.size());
    sizes.push_back(context.archive.size());
    for (double& value : out) value = 1000.0 + static_cast<double>(emitter);
  }
  void observe(Index emitter, BatchView features) override {
    observed.emplace_back(emitter,
                          std::vector<double>(features.values().begin(), features.values().end()));
  }
  std::vector<Index> chosen_for;
  std::vector<std::size_t> observed_before;
  std::vector<Index> sizes;
  std::vector<std::pair<Index, std::vector<double>>> observed;
};

struct Recorded {
  explicit Recorded(SearchOptions options, bool informed_from_the_start = false,
                    std::vector<Index> rows = {4, 3, 5}) {
    told.resize(rows.size());
    SearchParts parts;
    for (std::size_t e = 0; e < rows.size(); ++e) {
      auto emitter = std::make_unique<RecordingEmitter>(static_cast<double>(e), rows[e], told[e]);
      auto trigger = std::make_unique<RecordingTrigger>();
      emitters.push_back(emitter.get());
      triggers.push_back(trigger.get());
      parts.emitters.push_back(std::move(emitter));
      parts.triggers.push_back(std::move(trigger));
    }
    auto restart_point = std::make_unique<RecordingPoint>();
    point = restart_point.get();
    parts.restart_point = std::move(restart_point);
    parts.density = std::make_unique<RecordingDensity>(log, informed_from_the_start);
    parts.archive = std::make_unique<Archive>(
        std::make_shared<Grid>(FeatureSpace{{0}, {10}}, std::vector<Index>{10}), 3);
    search = std::make_unique<Search>(std::move(parts), std::move(options));
  }
  void tell(const std::vector<double>& features, const std::vector<double>& objectives = {},
            const std::vector<std::uint8_t>& valid = {}) {
    search->ask();
    search->tell(BatchView(features.data(), static_cast<Index>(features.size()), 1), objectives,
                 valid);
  }

  Log log;
  std::vector<std::vector<Told>> told;
  std::vector<RecordingEmitter*> emitters;
  std::vector<RecordingTrigger*> triggers;
  RecordingPoint* point = nullptr;
  std::unique_ptr<Search> search;
};

}  // namespace rarefy::recorded
