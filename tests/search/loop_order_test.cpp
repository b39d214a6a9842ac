// What happens in one tell(), in which order, seen by parts that write it down.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "rarefy/search.hpp"
#include "support/recorded_search.hpp"

namespace rarefy {
namespace {

using recorded::Recorded;

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
