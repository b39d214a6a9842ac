#include "rarefy/runs/picture.hpp"

#include <algorithm>
#include <cmath>

#include "rarefy/tessellations/cvt.hpp"
#include "rarefy/tessellations/grid.hpp"
#include "support/small_config.hpp"
#include "support/small_problem.hpp"

using rarefy::Archive;
using rarefy::Batch;
using rarefy::Index;

namespace {

/// Records the rows, one at a time, with objectives 1, 2, 3, ...
void record(Archive& archive, const std::vector<std::vector<double>>& rows) {
  rarefy::Workers workers(1);
  double objective = 0;
  for (const auto& row : rows) {
    const double solution = 0;
    objective += 1;
    rarefy::Outcome outcome{};
    archive.record(
        {&solution, 1, 1},
        {{row.data(), 1, static_cast<Index>(row.size())}, std::span<const double>(&objective, 1)},
        workers, std::span(&outcome, 1));
  }
}

std::string title_of(const std::vector<std::byte>& png) {
  return {reinterpret_cast<const char*>(png.data()) + 1, 3};
}

TEST(PictureOfAnArchive, TwoFeaturesShowTheVisitsOfEveryCell) {
  const auto info = problem(2);
  Archive archive(std::make_shared<rarefy::Grid>(info.feature_space, std::vector<Index>{5, 4}), 1);
  // x in [0, 10] by 2, y in [0, 20] by 5.
  record(archive, {{1, 1}, {1, 1}, {1, 1}, {9, 1}, {1, 19}, {5, 12}, {5, 12}});
  const auto map = rarefy::heatmap_of(archive, info, rarefy::Config{}, 1234);
  ASSERT_EQ(map.columns, 5);
  ASSERT_EQ(map.rows, 4);
  const auto at = [&](Index column, Index row) {
    return map.values[static_cast<std::size_t>(row * 5 + column)];
  };
  EXPECT_EQ(at(0, 0), 3.0);
  EXPECT_EQ(at(4, 0), 1.0) << "x goes to the right";
  EXPECT_EQ(at(0, 3), 1.0) << "y goes up";
  EXPECT_EQ(at(2, 2), 2.0);
  EXPECT_EQ(std::count_if(map.values.begin(), map.values.end(),
                          [](double value) { return std::isnan(value); }),
            16);
  EXPECT_TRUE(map.logarithmic);
  EXPECT_EQ(map.x_high, 10.0);
  EXPECT_EQ(map.y_high, 20.0);
  EXPECT_EQ(map.x_label, "name 0");
  EXPECT_EQ(map.y_label, "name 1");
  EXPECT_EQ(map.title, "My problem");
  EXPECT_NE(map.subtitle.find("1,234 iterations"), std::string::npos) << map.subtitle;
  EXPECT_NE(map.subtitle.find("coverage 20.00 %"), std::string::npos) << map.subtitle;
  EXPECT_EQ(map.subtitle.find("floor"), std::string::npos) << "the usual one: " << map.subtitle;
  EXPECT_FALSE(map.equal_aspect);
}

TEST(PictureOfAnArchive, TellsAnUnusualFloorOfTheCrossEntropy) {
  const auto info = problem(2);
  rarefy::Config config;
  config.output.entropy_floor = 1e-6;
  Archive archive(std::make_shared<rarefy::Grid>(info.feature_space, std::vector<Index>{5, 4}), 1);
  record(archive, {{1, 1}});
  const auto map = rarefy::heatmap_of(archive, info, config, 1);
  EXPECT_NE(map.subtitle.find("(floor 1e-06)"), std::string::npos) << map.subtitle;
}

TEST(PictureOfAnArchive, ObjectivesAreShownWhereTheyVary) {
  auto info = problem(2);
  info.constant_objective = false;
  Archive archive(std::make_shared<rarefy::Grid>(info.feature_space, std::vector<Index>{5, 4}), 1);
  record(archive, {{1, 1}, {1, 1}, {1, 1}, {9, 1}});
  const auto map = rarefy::heatmap_of(archive, info, rarefy::Config{}, 1);
  EXPECT_EQ(map.values[0], 3.0);
  EXPECT_EQ(map.values[4], 4.0);
  EXPECT_FALSE(map.logarithmic) << "objectives may be negative";
  EXPECT_NE(map.colour_label.find("objective"), std::string::npos);
}

TEST(PictureOfAnArchive, OneFeatureIsARow) {
  const auto info = problem(1);
  Archive archive(std::make_shared<rarefy::Grid>(info.feature_space, std::vector<Index>{5}), 1);
  record(archive, {{1}, {9}, {9}});
  const auto map = rarefy::heatmap_of(archive, info, rarefy::Config{}, 1);
  ASSERT_EQ(map.columns, 5);
  ASSERT_EQ(map.rows, 1);
  EXPECT_EQ(map.values[0], 1.0);
  EXPECT_EQ(map.values[4], 2.0);
  EXPECT_TRUE(std::isnan(map.values[2]));
  EXPECT_EQ(title_of(rarefy::picture_of(archive, info, rarefy::Config{}, 1)), "PNG");
}

TEST(PictureOfAnArchive, ThreeFeaturesAreSeenFromAbove) {
  const auto info = problem(3);
  Archive archive(
      std::make_shared<rarefy::Grid>(info.feature_space, std::vector<Index>{10, 10, 10}), 1);
  // Two elites above each other, which share a bin of the picture, and one elsewhere.
  record(archive, {{0.05, 19.9, 1}, {0.05, 19.9, 29}, {9.95, 0.1, 1}, {9.95, 0.1, 1}});
  const auto map = rarefy::heatmap_of(archive, info, rarefy::Config{}, 1);
  ASSERT_EQ(static_cast<Index>(map.values.size()), map.rows * map.columns);
  double elites = 0;
  for (const double value : map.values) elites += std::isnan(value) ? 0.0 : value;
  EXPECT_EQ(elites, 3.0) << "elites, not visits";
  const auto left_top = map.values[static_cast<std::size_t>((map.rows - 1) * map.columns)];
  const auto right_bottom = map.values[static_cast<std::size_t>(map.columns - 1)];
  EXPECT_EQ(left_top, 2.0);
  EXPECT_EQ(right_bottom, 1.0);
  EXPECT_NE(map.title.find("features 1 and 2 of 3"), std::string::npos) << map.title;
  EXPECT_EQ(title_of(rarefy::picture_of(archive, info, rarefy::Config{}, 1)), "PNG");
}

// Of a fine grid there is no copy, and the cells are where they are in a coarse one.
TEST(PictureOfAnArchive, FineGridsAreLookedUp) {
  const auto info = problem(2);
  Archive archive(
      std::make_shared<rarefy::Grid>(info.feature_space, std::vector<Index>{1500, 1200}), 1);
  record(archive, {{0.001, 19.999}, {0.001, 19.999}, {9.999, 0.001}});
  const auto map = rarefy::heatmap_of(archive, info, rarefy::Config{}, 1);
  EXPECT_EQ(map.columns, 1500);
  EXPECT_EQ(map.rows, 1200);
  EXPECT_TRUE(map.values.empty());
  ASSERT_TRUE(map.fill);
  std::vector<double> whole(1500 * 1200);
  map.fill({0, 1200, 0, 1500}, whole);
  EXPECT_EQ(whole[1199 * 1500], 2.0);
  EXPECT_EQ(whole[1499], 1.0);
  EXPECT_EQ(std::count_if(whole.begin(), whole.end(), [](double v) { return std::isnan(v); }),
            1500 * 1200 - 2);
  std::vector<double> corner(6);
  map.fill({1198, 2, 0, 3}, corner);
  EXPECT_EQ(corner[3], 2.0);
  EXPECT_EQ(title_of(rarefy::picture_of(archive, info, rarefy::Config{}, 1)), "PNG");
}

TEST(PictureOfAnArchive, VoronoiCellsFillTheirSurroundings) {
  const auto info = problem(2);
  Batch centroids(2, 2);
  centroids(0, 0) = 2.5;
  centroids(1, 0) = 7.5;
  centroids(0, 1) = centroids(1, 1) = 10.0;
  Archive archive(std::make_shared<rarefy::Cvt>(info.feature_space, std::move(centroids)), 1);
  record(archive, {{1, 1}, {2, 2}});
  const auto map = rarefy::heatmap_of(archive, info, rarefy::Config{}, 1);
  ASSERT_EQ(static_cast<Index>(map.values.size()), map.rows * map.columns);
  // The left half belongs to the visited cell, the right one to the other.
  for (Index row = 0; row < map.rows; row += 37) {
    for (Index column = 0; column < map.columns; column += 7) {
      const double value = map.values[static_cast<std::size_t>(row * map.columns + column)];
      if (2 * column + 1 < map.columns) {
        EXPECT_EQ(value, 2.0);
      } else {
        EXPECT_TRUE(std::isnan(value));
      }
    }
  }
  EXPECT_EQ(title_of(rarefy::picture_of(archive, info, rarefy::Config{}, 1)), "PNG");
}

TEST(PictureOfAnArchive, AnEmptyArchiveCanBeDrawn) {
  for (const Index features : {1, 2, 3}) {
    auto info = problem(features);
    const std::vector<Index> shape(static_cast<std::size_t>(features), 5);
    const Archive archive(std::make_shared<rarefy::Grid>(info.feature_space, shape), 1);
    EXPECT_EQ(title_of(rarefy::picture_of(archive, info, rarefy::Config{}, 0)), "PNG");
    info.constant_objective = false;
    info.title.clear();
    info.feature_names.clear();
    EXPECT_EQ(title_of(rarefy::picture_of(archive, info, rarefy::Config{}, 0)), "PNG");
    EXPECT_EQ(rarefy::heatmap_of(archive, info, rarefy::Config{}, 0).title.substr(0, 4), "mine");
  }
}

}  // namespace
