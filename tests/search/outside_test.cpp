// Features outside of the feature space: what the density sees of them, and where they rank.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "rarefy/core/random.hpp"
#include "support/every_algorithm.hpp"
#include "support/recorded_search.hpp"

namespace rarefy {
namespace {

using recorded::Recorded;

// In a box from 0 to 10. Emitters have 4, 3 and 5 rows; all of the second's lie outside.
const std::vector<double> kFeatures = {12, 4, 11, 3, -5, 30, -1, 9, 8, 10, 0, 10.5};
const std::vector<double> kClamped = {10, 4, 10, 3, 0, 10, 0, 9, 8, 10, 0, 10};

TEST(Outside, IsCountedWhateverBecomesOfIt) {
  for (const auto outside : {Outside::as_is, Outside::clamp, Outside::last}) {
    Recorded recorded({.threads = 1, .outside = outside}, true);
    recorded.tell(kFeatures);
    EXPECT_EQ(recorded.search->outside(), 6);
    EXPECT_EQ(recorded.search->outside_of_last_batch(), 6);
    recorded.tell(kClamped);
    EXPECT_EQ(recorded.search->outside(), 6);
    EXPECT_EQ(recorded.search->outside_of_last_batch(), 0);
    // The archive has the true features, in the nearest cell.
    const auto& archive = recorded.search->archive();
    EXPECT_TRUE(std::ranges::equal(archive.features().row(0), std::vector<double>{12}));
    EXPECT_EQ(archive.cells()[0], 9);
    EXPECT_EQ(archive.total_visits(), 24);
    EXPECT_EQ(recorded.point->observed[0].second, (std::vector<double>{12, 4, 11, 3}));
  }
}

TEST(Outside, IsSeenAsItIsUnlessSaidOtherwise) {
  Recorded recorded({.threads = 1}, true);
  recorded.tell(kFeatures);
  EXPECT_EQ(recorded.log.scored[0], kFeatures);
  EXPECT_EQ(recorded.log.observed[0], kFeatures);
  EXPECT_EQ(recorded.told[1][0].order, (std::vector<Index>{0, 2, 1}));
  EXPECT_EQ(recorded.told[1][0].ranked, 3);
  EXPECT_EQ(recorded.told[1][0].accepted, 2);
  EXPECT_EQ(recorded.told[1][0].outside, 0);
}

TEST(Outside, IsSeenAtTheEdgeWhereItIsClamped) {
  for (const auto outside : {Outside::clamp, Outside::last}) {
    for (const bool before : {true, false}) {
      Recorded recorded({.threads = 1, .score_before_observing = before, .outside = outside}, true);
      recorded.tell(kFeatures);
      EXPECT_EQ(recorded.log.scored[0], kClamped);
      EXPECT_EQ(recorded.log.observed[0], kClamped);
      EXPECT_TRUE(std::ranges::equal(recorded.search->scores(), kClamped));
    }
  }
  Recorded recorded({.threads = 1, .outside = Outside::clamp}, true);
  recorded.tell(kFeatures);
  // Sorted by what the density said: 10, 4, 10, 3.
  EXPECT_EQ(recorded.told[0][0].order[0], 3);
  EXPECT_EQ(recorded.told[0][0].order[1], 1);
  EXPECT_EQ(recorded.told[0][0].outside, 0);
  EXPECT_TRUE(recorded.told[0][0].distances.empty());
  EXPECT_EQ(recorded.told[1][0].accepted, 2);
}

TEST(Outside, RanksLastByDistanceWhereThatIsAskedFor) {
  for (const bool informed : {true, false}) {
    Recorded recorded({.threads = 1, .outside = Outside::last}, informed);
    recorded.tell(kFeatures);
    const auto& first = recorded.told[0][0];
    EXPECT_EQ(first.order[2], 2);
    EXPECT_EQ(first.order[3], 0);
    EXPECT_EQ(first.ranked, 4);
    EXPECT_EQ(first.outside, 2);
    EXPECT_EQ(first.accepted, 2);
    ASSERT_EQ(first.distances.size(), 4U);
    EXPECT_DOUBLE_EQ(first.distances[0], 0.2);
    EXPECT_EQ(first.distances[1], 0.0);
    EXPECT_DOUBLE_EQ(first.distances[2], 0.1);
    // -5, 30 and -1: though the density thinks most of the first and the last.
    const auto& second = recorded.told[1][0];
    EXPECT_EQ(second.order, (std::vector<Index>{2, 0, 1}));
    EXPECT_EQ(second.outside, 3);
    EXPECT_EQ(second.accepted, 0) << "a prefix of the order, and none of it lies outside";
    const auto& third = recorded.told[2][0];
    EXPECT_EQ(third.order.back(), 4);
    EXPECT_EQ(third.outside, 1);
    if (!informed) continue;
    EXPECT_EQ(first.order[0], 3);
    EXPECT_EQ(third.order, (std::vector<Index>{3, 1, 0, 2, 4}));
    EXPECT_EQ(third.accepted, 1);
  }
}

TEST(Outside, AndFailuresDoNotGetInEachOthersWay) {
  //                                    12 4 11 3  -5 30 -1  9 8 10 0 10.5
  const std::vector<std::uint8_t> valid = {1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1};
  Recorded recorded({.threads = 1, .outside = Outside::last}, true);
  recorded.tell(kFeatures, {}, valid);
  EXPECT_EQ(recorded.search->outside(), 5);
  EXPECT_EQ(recorded.search->failed(), 3);
  EXPECT_EQ(recorded.told[0][0].order, (std::vector<Index>{3, 2, 0, 1}));
  EXPECT_EQ(recorded.told[0][0].ranked, 3);
  EXPECT_EQ(recorded.told[0][0].outside, 2);
  EXPECT_EQ(recorded.told[1][0].order, (std::vector<Index>{2, 1, 0}));
  EXPECT_EQ(recorded.told[1][0].ranked, 2);
  EXPECT_EQ(recorded.told[1][0].outside, 2);
  EXPECT_EQ(recorded.told[2][0].order, (std::vector<Index>{3, 1, 2, 4, 0}));
  EXPECT_EQ(recorded.log.observed[0], (std::vector<double>{10, 10, 3, 10, 0, 8, 10, 0, 10}));
  // A batch that fails as a whole has nothing outside.
  recorded.tell(kFeatures, {}, std::vector<std::uint8_t>(12, 0));
  EXPECT_EQ(recorded.search->outside_of_last_batch(), 0);
}

// What a search comes to, but for how its state is written.
struct Course {
  explicit Course(const Search& search)
      : solutions(search.archive().solutions().values().begin(),
                  search.archive().solutions().values().end()),
        scores(search.scores().begin(), search.scores().end()),
        visits(search.archive().visits().begin(), search.archive().visits().end()),
        restarts(search.restarts()) {}
  bool operator==(const Course&) const = default;
  std::vector<double> solutions, scores;
  std::vector<std::int64_t> visits;
  std::int64_t restarts;
};

Course course(const std::string& algorithm, Outside outside, double stretch, int iterations) {
  every::Loop loop(algorithm, {.seed = 1, .threads = 1, .outside = outside});
  for (int i = 0; i < iterations; ++i) {
    every::evaluate(loop.search.ask(), loop.features, loop.objectives);
    for (double& value : loop.features.values()) value = stretch * std::tanh(value);
    loop.search.tell(loop.features, loop.objectives);
  }
  EXPECT_EQ(loop.search.outside() > 0, stretch > 1);
  return Course(loop.search);
}

TEST(Outside, MakesNoDifferenceAsLongAsNothingIs) {
  for (const auto& name : every::algorithms()) {
    SCOPED_TRACE(name);
    const auto as_is = course(name, Outside::as_is, 1.0, 40);
    EXPECT_TRUE(as_is == course(name, Outside::clamp, 1.0, 40));
    EXPECT_TRUE(as_is == course(name, Outside::last, 1.0, 40));
  }
}

TEST(Outside, MakesOneToEveryAlgorithmThatRanks) {
  for (const auto& name : every::algorithms()) {
    SCOPED_TRACE(name);
    const bool ranks = name.find("map-elites") != 0;
    const bool by_features = name == "ns" || name == "dms" || name.find("dds") == 0;
    const auto as_is = course(name, Outside::as_is, 2.0, 40);
    const auto clamped = course(name, Outside::clamp, 2.0, 40);
    EXPECT_EQ(as_is == clamped, !by_features);
    EXPECT_EQ(clamped == course(name, Outside::last, 2.0, 40), !ranks);
  }
}

TEST(Outside, TheSameBitsWithAnyThreadsAndFromAnySavedState) {
  for (const auto& name : every::algorithms()) {
    SCOPED_TRACE(name);
    const SearchOptions options = {.seed = 1, .threads = 1, .outside = Outside::last};
    every::Loop one(name, options);
    one.steps(20);
    const auto saved = one.state();
    const auto seen = one.search.outside();
    one.steps(20);
    EXPECT_GT(one.search.outside(), 0);
    auto more_threads = options;
    more_threads.threads = 3;
    every::Loop three(name, more_threads);
    three.steps(40);
    EXPECT_TRUE(one.state() == three.state());
    every::Loop other(name, options);
    other.steps(3);
    other.load(saved);
    EXPECT_EQ(other.search.outside(), seen);
    EXPECT_EQ(other.search.outside_of_last_batch(), 0);
    other.steps(20);
    EXPECT_TRUE(one.state() == other.state());
  }
}

// The emptiness outside of the box attracts a search that sees it, and no other.
TEST(Outside, RankedLastASearchStaysInside) {
  const auto share_outside = [](Outside outside) {
    every::Loop loop("dds-kde", {.seed = 1, .threads = 1, .outside = outside});
    loop.steps(150);
    return static_cast<double>(loop.search.outside()) /
           static_cast<double>(loop.search.evaluations());
  };
  EXPECT_GT(share_outside(Outside::as_is), 0.5);
  EXPECT_LT(share_outside(Outside::last), 0.25);
}

}  // namespace
}  // namespace rarefy
