#include "rarefy/tessellations/grid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "rarefy/core/error.hpp"
#include "rarefy/core/workers.hpp"
#include "support/random_batches.hpp"

namespace {

using rarefy::Batch;
using rarefy::Error;
using rarefy::ErrorKind;
using rarefy::FeatureSpace;
using rarefy::Grid;
using rarefy::Index;

std::vector<Index> cells_of(const rarefy::Tessellation& tessellation, rarefy::BatchView features) {
  std::vector<Index> cells(static_cast<std::size_t>(features.rows()), -1);
  tessellation.assign(features, cells);
  return cells;
}

Index cell_of(const Grid& grid, const std::vector<double>& features) {
  return cells_of(grid, {features.data(), 1, static_cast<Index>(features.size())})[0];
}

struct Shape {
  FeatureSpace space;
  std::vector<Index> intervals;
};

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {
      {{{0}, {1}}, {7}},
      {{{-256, -256}, {256, 256}}, {100, 100}},
      {{{-1, 0, 5}, {1, 10, 5.5}}, {3, 4, 5}},
      {{{-1, -1, -1, -1}, {1, 2, 3, 4}}, {2, 1, 3, 4}},
      {{{0, -1, -2, -3, -4}, {1, 1, 1, 1, 1}}, {4, 3, 2, 3, 4}},
  };
  return all;
}

// A cell's place along one feature: how many borders lie at or below it.
Index place(double feature, double low, double high, Index intervals) {
  Index passed = 0;
  for (Index k = 1; k < intervals; ++k) {
    const auto part = static_cast<long double>(k) / static_cast<long double>(intervals);
    if (static_cast<long double>(feature) >= low + part * (static_cast<long double>(high) - low)) {
      ++passed;
    }
  }
  return passed;
}

TEST(Grid, PutsFeaturesWhereCountingBordersPutsThem) {
  for (const auto& [space, intervals] : shapes()) {
    const Grid grid(space, intervals);
    const Batch features = uniform_batch(3000, space.lower, space.upper, 5);
    const auto cells = cells_of(grid, features);
    for (Index i = 0; i < features.rows(); ++i) {
      Index expected = 0;
      for (std::size_t d = 0; d < intervals.size(); ++d) {
        expected = expected * intervals[d] +
                   place(features.row(i)[d], space.lower[d], space.upper[d], intervals[d]);
      }
      ASSERT_EQ(cells[static_cast<std::size_t>(i)], expected)
          << intervals.size() << " features, row " << i;
    }
  }
}

TEST(Grid, NumbersItsCellsLikeARowMajorArray) {
  for (const auto& [space, intervals] : shapes()) {
    const Grid grid(space, intervals);
    const Index count =
        std::accumulate(intervals.begin(), intervals.end(), Index{1}, std::multiplies<>());
    ASSERT_EQ(grid.cells(), count);
    ASSERT_EQ(grid.feature_dim(), static_cast<Index>(intervals.size()));
    // The centres of all cells, the last feature fastest.
    Batch centres(count, grid.feature_dim());
    for (Index cell = 0; cell < count; ++cell) {
      Index rest = cell;
      for (std::size_t d = intervals.size(); d-- > 0;) {
        const auto at = static_cast<double>(rest % intervals[d]) + 0.5;
        rest /= intervals[d];
        centres.row(cell)[d] = space.lower[d] + at * (space.upper[d] - space.lower[d]) /
                                                    static_cast<double>(intervals[d]);
      }
    }
    std::vector<Index> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), Index{0});
    EXPECT_EQ(cells_of(grid, centres), all);
  }
}

// Borders that a double holds exactly must fall to the upper cell, all of them: whole numbers
// on the arm's grid, for one.
TEST(Grid, ABorderBelongsToTheUpperCell) {
  const Grid arm({{-100, -100}, {100, 100}}, {100, 100});
  for (Index k = 0; k < 100; ++k) {
    const double border = -100.0 + 2.0 * static_cast<double>(k);
    EXPECT_EQ(cell_of(arm, {border, -100}), 100 * k) << "border " << border;
    EXPECT_EQ(cell_of(arm, {-100, border}), k) << "border " << border;
    if (k > 0) {
      const double below = border - 1e-9;
      EXPECT_EQ(cell_of(arm, {below, -100}), 100 * (k - 1)) << "just below " << border;
    }
  }
  for (const Index intervals : {3, 10, 25, 49, 1000}) {
    const auto width = static_cast<double>(intervals);
    const Grid grid({{0}, {width}}, {intervals});
    for (Index k = 0; k < intervals; ++k) {
      EXPECT_EQ(cell_of(grid, {static_cast<double>(k)}), k) << "of " << intervals;
    }
  }
}

TEST(Grid, TheUpperEndBelongsToTheLastCell) {
  for (const auto& [space, intervals] : shapes()) {
    const Grid grid(space, intervals);
    EXPECT_EQ(cell_of(grid, space.upper), grid.cells() - 1);
    EXPECT_EQ(cell_of(grid, space.lower), 0);
  }
}

TEST(Grid, WhatLiesOutsideBelongsToTheNearestCell) {
  for (const auto& [space, intervals] : shapes()) {
    const Grid grid(space, intervals);
    std::vector<double> low, high;
    for (std::size_t d = 0; d < space.lower.size(); ++d) {
      const double width = space.upper[d] - space.lower[d];
      low.push_back(space.lower[d] - 2 * width);
      high.push_back(space.upper[d] + 2 * width);
    }
    const Batch features = uniform_batch(500, low, high, 6);
    Batch inside = features;
    for (Index i = 0; i < inside.rows(); ++i) {
      for (std::size_t d = 0; d < low.size(); ++d) {
        inside.row(i)[d] = std::clamp(inside.row(i)[d], space.lower[d], space.upper[d]);
      }
    }
    EXPECT_EQ(cells_of(grid, features), cells_of(grid, inside));
  }
  const Grid grid({{0, 0}, {1, 1}}, {10, 10});
  const double huge = std::numeric_limits<double>::max();
  EXPECT_EQ(cell_of(grid, {huge, -huge}), 90);
  EXPECT_EQ(cell_of(grid, {-huge, huge}), 9);
}

TEST(Grid, WorkersAssignTheSame) {
  const Grid grid({{0, 0}, {1, 1}}, {30, 30});
  const Batch features = uniform_batch(1001, 2, -0.5, 1.5, 7);
  rarefy::Workers three(3);
  std::vector<Index> cells(1001, -1);
  grid.assign(features, cells, three);
  EXPECT_EQ(cells, cells_of(grid, features));
}

std::string refusal(FeatureSpace space, std::vector<Index> shape) {
  try {
    const Grid grid(std::move(space), std::move(shape));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::parameter);
    return error.what();
  }
  ADD_FAILURE() << "accepted";
  return "";
}

TEST(Grid, ImpossibleShapesAreRefused) {
  const FeatureSpace square{{0, 0}, {1, 1}};
  EXPECT_NE(refusal(square, {10}).find("1 numbers"), std::string::npos);
  refusal(square, {});
  refusal(square, {10, 10, 10});
  refusal(square, {10, 0});
  EXPECT_NE(refusal(square, {-3, 10}).find("-3"), std::string::npos);
  refusal({{0, 0}, {1, 0}}, {10, 10});
  refusal({}, {});
}

TEST(Grid, MoreCellsThanCanBeCountedAreRefused) {
  const FeatureSpace square{{0, 0}, {1, 1}};
  EXPECT_EQ(Grid(square, {Index{1} << 15, Index{1} << 15}).cells(), Grid::kMostCells);
  EXPECT_NE(refusal(square, {(Index{1} << 15) + 1, Index{1} << 15}).find("CVT"), std::string::npos);
  refusal(square, {Index{1} << 40, Index{1} << 40});  // the product wraps around
  refusal(square, {std::numeric_limits<Index>::max(), 2});
  const std::vector<double> zeros(10, 0.0), ones(10, 1.0);
  refusal({zeros, ones}, std::vector<Index>(10, 10));
}

TEST(Grid, TheCentreOfACellLiesInIt) {
  const Grid grid({{-1, 0, 10}, {1, 6, 20}}, {4, 3, 5});
  std::vector<double> centre(3);
  for (Index cell = 0; cell < grid.cells(); ++cell) {
    grid.cell_centre(cell, centre);
    EXPECT_EQ(cell_of(grid, centre), cell);
  }
  grid.cell_centre(0, centre);
  EXPECT_EQ(centre, (std::vector<double>{-0.75, 1.0, 11.0}));
  grid.cell_centre(grid.cells() - 1, centre);
  EXPECT_EQ(centre, (std::vector<double>{0.75, 5.0, 19.0}));
}

}  // namespace
