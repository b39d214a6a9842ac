#include "rarefy/restarts/memory_cells.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

FeatureSpace box_of(Index features) {
  const auto count = static_cast<std::size_t>(features);
  return {std::vector<double>(count, -3.0), std::vector<double>(count, 5.0)};
}

TEST(MemoryCells, AreAGridOfOneOrTwoFeatures) {
  EXPECT_EQ(make_memory_cells(box_of(1), 0, 1)->cells(), 16'384);
  EXPECT_EQ(make_memory_cells(box_of(1), 50, 1)->cells(), 50);
  const auto plane = make_memory_cells(box_of(2), 0, 1);
  EXPECT_EQ(plane->name(), "grid");
  EXPECT_EQ(plane->cells(), 16'384);
  EXPECT_EQ(make_memory_cells(box_of(2), 50, 1)->cells(), 49);
  EXPECT_EQ(make_memory_cells(box_of(2), 1, 1)->cells(), 1);
}

TEST(MemoryCells, AreSpreadOverTheBoxWhereThereAreMoreFeatures) {
  const auto cells = make_memory_cells(box_of(4), 0, 7);
  ASSERT_EQ(cells->cells(), 4'096);
  const auto points = cells->centroids();
  for (Index d = 0; d < 4; ++d) {
    double sum = 0;
    for (Index i = 0; i < points.rows(); ++i) {
      EXPECT_GE(points(i, d), -3.0);
      EXPECT_LT(points(i, d), 5.0);
      sum += points(i, d);
    }
    // The mean of 4,096 uniform values in a width of 8 has a deviation of 0.036: beyond five of
    // them once in a million times.
    EXPECT_NEAR(sum / 4'096, 1.0, 0.18);
  }
}

TEST(MemoryCells, AreNamedByTheSeed) {
  const auto one = make_memory_cells(box_of(3), 100, 1);
  EXPECT_EQ(one->fingerprint(), make_memory_cells(box_of(3), 100, 1)->fingerprint());
  EXPECT_NE(one->fingerprint(), make_memory_cells(box_of(3), 100, 2)->fingerprint());
}

TEST(MemoryCells, CannotBeFewerThanNone) {
  try {
    (void)make_memory_cells(box_of(2), -4, 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "memory-cells: got -4, expected at least 0");
  }
}

}  // namespace
}  // namespace rarefy
