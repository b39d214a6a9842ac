// What happens in one tell(), in which order, seen by parts that write it down.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rarefy/search.hpp"
#include "rarefy/tessellations/grid.hpp"

namespace rarefy {
namespace {

struct Log {
  std::vector<std::string> events;
  std::vector<std::vector<double>> scored, observed;  // features
  std::vector<std::vector<double>> objectives;
};

// Scores a feature by rounding it, so that ties can be arranged.
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
  explicit Recorded(const SearchOptions& options, bool informed_from_the_start = false,
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
    search = std::make_unique<Search>(std::move(parts), options);
  }
  void tell(const std::vector<double>& features, const std::vector<double>& objectives = {}) {
    search->ask();
    search->tell(BatchView(features.data(), static_cast<Index>(features.size()), 1), objectives);
  }

  Log log;
  std::vector<std::vector<Told>> told;
  std::vector<RecordingEmitter*> emitters;
  std::vector<RecordingTrigger*> triggers;
  RecordingPoint* point = nullptr;
  std::unique_ptr<Search> search;
};

const std::vector<double> kFeatures = {9.5, 8.5, 7.5, 6.5, 5.5, 4.5, 3.5, 2.5, 1.5, 0.5, 9.4, 8.4};

TEST(SearchOrder, CandidatesAreScoredBeforeTheyAreObserved) {
  Recorded recorded({.threads = 1}, true);
  recorded.tell(kFeatures);
  recorded.tell(kFeatures);
  EXPECT_EQ(recorded.log.events,
            (std::vector<std::string>{"score", "observe", "score", "observe"}));
  EXPECT_EQ(recorded.log.scored[0], kFeatures);
  EXPECT_EQ(recorded.log.observed[0], kFeatures);
}

TEST(SearchOrder, OrAfterwardsWhereThatIsAskedFor) {
  Recorded recorded({.threads = 1, .score_before_observing = false}, true);
  recorded.tell(kFeatures);
  recorded.tell(kFeatures);
  EXPECT_EQ(recorded.log.events,
            (std::vector<std::string>{"observe", "score", "observe", "score"}));
}

TEST(SearchOrder, ADensityThatKnowsNothingIsNotAsked) {
  Recorded before({.threads = 1});
  before.tell(kFeatures);
  EXPECT_EQ(before.log.events, (std::vector<std::string>{"observe"}));
  EXPECT_FALSE(before.told[0][0].informed);
  EXPECT_FALSE(before.triggers[0]->informed[0]);
  EXPECT_EQ(before.told[0][0].scores, std::vector<double>(4, 0.0));
  before.tell(kFeatures);
  EXPECT_EQ(before.log.events, (std::vector<std::string>{"observe", "score", "observe"}));
  EXPECT_TRUE(before.told[0][1].informed);
  EXPECT_TRUE(before.triggers[0]->informed[1]);
  // Scored after it was observed, even the first batch means something.
  Recorded after({.threads = 1, .score_before_observing = false});
  after.tell(kFeatures);
  EXPECT_EQ(after.log.events, (std::vector<std::string>{"observe", "score"}));
  EXPECT_TRUE(after.told[0][0].informed);
}

TEST(SearchOrder, EveryEmitterIsToldOfItsOwnRows) {
  Recorded recorded({.threads = 1}, true);
  std::vector<double> objectives(12);
  for (std::size_t i = 0; i < 12; ++i) objectives[i] = 50 + static_cast<double>(i);
  recorded.tell(kFeatures, objectives);
  recorded.tell(kFeatures, objectives);
  EXPECT_EQ(recorded.log.objectives[1], objectives);
  std::size_t first = 0;
  for (std::size_t e = 0; e < 3; ++e) {
    ASSERT_EQ(recorded.told[e].size(), 2U);
    const auto& told = recorded.told[e][1];
    const std::size_t rows = told.scores.size();
    ASSERT_EQ(rows, (std::vector<std::size_t>{4, 3, 5})[e]);
    for (std::size_t i = 0; i < rows; ++i) {
      EXPECT_EQ(told.solutions[3 * i], static_cast<double>(e));
      EXPECT_EQ(told.solutions[3 * i + 1], 1.0);  // the iteration it was asked in
      EXPECT_EQ(told.solutions[3 * i + 2], static_cast<double>(i));
      EXPECT_EQ(told.features[i], kFeatures[first + i]);
      EXPECT_EQ(told.objectives[i], objectives[first + i]);
      EXPECT_EQ(told.scores[i], std::round(kFeatures[first + i]));
      EXPECT_EQ(told.scores[i], recorded.search->scores()[first + i]);
    }
    // Best first, by the scores.
    auto sorted = told.order;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < rows; ++i) ASSERT_EQ(sorted[i], static_cast<Index>(i));
    for (std::size_t i = 1; i < rows; ++i) {
      EXPECT_LE(told.scores[static_cast<std::size_t>(told.order[i - 1])],
                told.scores[static_cast<std::size_t>(told.order[i])]);
    }
    first += rows;
  }
}

TEST(SearchOrder, TheBatchIsInTheArchiveWhenEmittersAreTold) {
  Recorded recorded({.threads = 1}, true);
  recorded.tell(kFeatures);
  // Cells 9 to 0 are found by the first ten rows; the last two come second.
  for (std::size_t e = 0; e < 3; ++e) EXPECT_EQ(recorded.told[e][0].archive_size, 10);
  EXPECT_EQ(recorded.told[0][0].outcomes, std::vector<Outcome>(4, Outcome::new_cell));
  EXPECT_EQ(recorded.told[1][0].outcomes, std::vector<Outcome>(3, Outcome::new_cell));
  EXPECT_EQ(recorded.told[2][0].outcomes,
            (std::vector<Outcome>{Outcome::new_cell, Outcome::new_cell, Outcome::new_cell,
                                  Outcome::rejected, Outcome::rejected}));
  // Each emitter's own features, in turn.
  ASSERT_EQ(recorded.point->observed.size(), 3U);
  for (std::size_t e = 0; e < 3; ++e) {
    EXPECT_EQ(recorded.point->observed[e].first, static_cast<Index>(e));
  }
  EXPECT_EQ(recorded.point->observed[0].second.size(), 4U);
  EXPECT_EQ(recorded.point->observed[1].second.size(), 3U);
  EXPECT_EQ(recorded.point->observed[2].second.size(), 5U);
  std::vector<double> better(12, 2.0);
  recorded.tell(kFeatures, better);
  EXPECT_EQ(recorded.told[0][1].outcomes, std::vector<Outcome>(4, Outcome::improved));
}

// Six rows with two equal pairs: within a pair either order must come up half the time, and
// independently for each emitter. 2,000 iterations, 5 standard errors: false alarms 6e-7 each.
TEST(SearchOrder, EqualScoresAreRankedAtRandom) {
  Recorded recorded({.seed = 9, .threads = 1}, true, {6, 6});
  std::vector<double> features = {3, 1, 3, 2, 1, 0};
  features.insert(features.end(), features.begin(), features.begin() + 6);
  constexpr int kIterations = 2000;
  for (int i = 0; i < kIterations; ++i) recorded.tell(features);
  double ones = 0, threes = 0, both = 0, alike = 0;
  for (std::size_t i = 0; i < kIterations; ++i) {
    std::vector<bool> in_order;
    for (std::size_t e = 0; e < 2; ++e) {
      const auto& order = recorded.told[e][i].order;
      ASSERT_EQ(order[0], 5);
      ASSERT_EQ(order[3], 3);
      ASSERT_TRUE((order[1] == 1 && order[2] == 4) || (order[1] == 4 && order[2] == 1));
      ASSERT_TRUE((order[4] == 0 && order[5] == 2) || (order[4] == 2 && order[5] == 0));
      in_order.push_back(order[1] == 1);
      if (e == 0) {
        ones += order[1] == 1 ? 1 : 0;
        threes += order[4] == 0 ? 1 : 0;
        both += (order[1] == 1) == (order[4] == 0) ? 1 : 0;
      }
    }
    alike += in_order[0] == in_order[1] ? 1 : 0;
  }
  const double allowed = 5 * std::sqrt(0.25 * kIterations);
  for (const double count : {ones, threes, both, alike}) {
    EXPECT_NEAR(count, kIterations / 2.0, allowed);
  }
}

// With nothing to go by, every order is as likely: each of four rows comes first 500 of 2,000
// times within 5 standard errors.
TEST(SearchOrder, UninformedBatchesAreRankedAtRandom) {
  constexpr int kSearches = 2000;
  std::map<Index, double> first;
  for (std::uint64_t seed = 0; seed < kSearches; ++seed) {
    Recorded recorded({.seed = seed, .threads = 1}, false, {4});
    recorded.tell({1, 2, 3, 4});
    first[recorded.told[0][0].order[0]] += 1;
  }
  ASSERT_EQ(first.size(), 4U);
  for (const auto& [row, count] : first) {
    EXPECT_NEAR(count, kSearches / 4.0, 5 * std::sqrt(kSearches * 0.25 * 0.75)) << row;
  }
}

TEST(SearchOrder, ATriggerRestartsItsEmitterAndNoOther) {
  Recorded recorded({.threads = 1}, true);
  recorded.tell(kFeatures);
  EXPECT_EQ(recorded.search->restarts(), 0);
  recorded.triggers[1]->restart_next = true;
  recorded.emitters[2]->stop_next = true;  // says itself that it cannot go on
  recorded.tell(kFeatures);
  EXPECT_EQ(recorded.search->restarts(), 2);
  EXPECT_EQ(recorded.point->chosen_for, (std::vector<Index>{1, 2}));
  EXPECT_TRUE(recorded.emitters[0]->restarted_at.empty());
  EXPECT_EQ(recorded.emitters[1]->restarted_at,
            (std::vector<std::vector<double>>{std::vector<double>(3, 1001.0)}));
  EXPECT_EQ(recorded.emitters[2]->restarted_at,
            (std::vector<std::vector<double>>{std::vector<double>(3, 1002.0)}));
  EXPECT_EQ(recorded.triggers[0]->resets, 0);
  EXPECT_EQ(recorded.triggers[1]->resets, 1);
  EXPECT_EQ(recorded.triggers[2]->resets, 1);
  EXPECT_EQ(recorded.triggers[2]->stops, (std::vector<bool>{false, true}));
  // What an iteration found is shown before anybody starts anew, and is in the archive.
  EXPECT_EQ(recorded.point->observed_before, (std::vector<std::size_t>{6, 6}));
  EXPECT_EQ(recorded.point->sizes, (std::vector<Index>{10, 10}));
}

}  // namespace
}  // namespace rarefy
