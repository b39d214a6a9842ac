#include "rarefy/archives/metrics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "rarefy/core/workers.hpp"
#include "rarefy/tessellations/grid.hpp"

namespace {

using rarefy::Archive;
using rarefy::Batch;
using rarefy::Index;

Archive archive_of(Index cells, const std::vector<double>& features,
                   const std::vector<double>& objectives) {
  Archive archive(
      std::make_shared<const rarefy::Grid>(rarefy::FeatureSpace{{0}, {static_cast<double>(cells)}},
                                           std::vector<Index>{cells}),
      1);
  rarefy::Workers alone(1);
  const auto count = static_cast<Index>(features.size());
  const Batch solutions(count, 1);
  std::vector<rarefy::Outcome> outcomes(features.size());
  archive.record(solutions, {{features.data(), count, 1}, objectives}, alone, outcomes);
  return archive;
}

TEST(Metrics, CoverageIsTheShareOfOccupiedCells) {
  EXPECT_EQ(rarefy::coverage(archive_of(8, {}, {})), 0.0);
  EXPECT_EQ(rarefy::coverage(archive_of(8, {0.5, 0.6, 3.5}, {1, 1, 1})), 0.25);
  EXPECT_EQ(rarefy::coverage(archive_of(2, {0.5, 1.5, 1.6}, {1, 1, 1})), 1.0);
}

TEST(Metrics, CrossEntropyOfEvenVisitsIsTheLogarithmOfTheNumberOfCells) {
  for (const std::int64_t visits : {std::int64_t{1}, std::int64_t{270}, std::int64_t{1} << 40}) {
    const std::vector<std::int64_t> even(10'000, visits);
    // The floor moves it by 1e-14 * 10,000 at most.
    EXPECT_NEAR(rarefy::cross_entropy(even), std::log(10'000.0), 2e-10);
  }
}

TEST(Metrics, UnevenVisitsHaveAGreaterCrossEntropy) {
  const double least = std::log(4.0);
  double last = least;
  for (const std::int64_t more : {1, 5, 20, 99}) {
    const std::vector<std::int64_t> visits{100 - more, 100 + more, 100, 100};
    const double value = rarefy::cross_entropy(visits);
    EXPECT_GT(value, last);
    last = value;
  }
}

TEST(Metrics, CrossEntropyFollowsItsFormula) {
  const std::vector<std::int64_t> visits{3, 0, 5, 2};
  for (const double floor : {1e-14, 1e-6, 0.5}) {
    const double expected =
        -(std::log(0.3 + floor) + std::log(floor) + std::log(0.5 + floor) + std::log(0.2 + floor)) /
        4.0;
    EXPECT_NEAR(rarefy::cross_entropy(visits, floor), expected, 1e-14 * expected);
  }
  EXPECT_EQ(rarefy::cross_entropy(visits), rarefy::cross_entropy(visits, 1e-14));
}

// One cell visited, all others empty: (l - 1)/l of -ln floor.
TEST(Metrics, EmptyCellsCostTheLogarithmOfTheFloor) {
  std::vector<std::int64_t> visits(100, 0);
  visits[7] = 12;
  EXPECT_NEAR(rarefy::cross_entropy(visits), -0.99 * std::log(1e-14), 1e-12);
  // Nothing visited at all: every share is 0, not a division by it.
  EXPECT_NEAR(rarefy::cross_entropy(std::vector<std::int64_t>(100, 0)), -std::log(1e-14), 1e-12);
}

// The worst possible and the best possible bracket everything on the paper's grid.
TEST(Metrics, OnThePapersGridCrossEntropyLiesBetweenItsExtremes) {
  EXPECT_NEAR(std::log(10'000.0), 9.21, 0.005);
  std::vector<std::int64_t> visits(10'000, 0);
  for (std::size_t i = 0; i < 6767; ++i) visits[i] = 1;  // 67.67 % covered, all equally often
  const double expected = 0.6767 * std::log(6767.0) - 0.3233 * std::log(1e-14);
  EXPECT_NEAR(rarefy::cross_entropy(visits), expected, 1e-9);
}

TEST(Metrics, QdScoreAddsUpElitesAboveTheLeastObjective) {
  const auto archive = archive_of(5, {0.5, 1.5, 1.6, 4.5}, {10, -3, 2, 0.5});
  EXPECT_DOUBLE_EQ(rarefy::qd_score(archive), 12.5);
  EXPECT_DOUBLE_EQ(rarefy::qd_score(archive, -10), 42.5);
  EXPECT_EQ(rarefy::qd_score(archive_of(5, {}, {}), -10), 0.0);
}

TEST(Metrics, BestObjectiveIsTheGreatestOfAnElite) {
  EXPECT_EQ(rarefy::best_objective(archive_of(5, {0.5, 1.5, 1.6}, {1, 7, 3})), 7.0);
  EXPECT_EQ(rarefy::best_objective(archive_of(5, {0.5, 1.5}, {-8, -3})), -3.0);
  EXPECT_EQ(rarefy::best_objective(archive_of(5, {}, {})), 0.0);
}

}  // namespace
