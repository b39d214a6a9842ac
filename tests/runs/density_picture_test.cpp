#include "rarefy/runs/density_picture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "rarefy/core/error.hpp"
#include "rarefy/density/kde.hpp"
#include "rarefy/density/reservoir.hpp"
#include "support/small_problem.hpp"

namespace rarefy {
namespace {

// One sample, at a third of the way along the first feature and two thirds along the others.
std::unique_ptr<KernelDensity> one_bump(const DomainInfo& info) {
  KdeOptions options;
  options.space = info.feature_space;
  options.bandwidth = Bandwidth::parse("0.8");
  auto density = std::make_unique<KernelDensity>(
      options, std::make_unique<Reservoir>(
                   ReservoirOptions{.feature_dim = info.feature_dim(), .capacity = 10, .seed = 1}));
  std::vector<double> sample;
  for (Index d = 0; d < info.feature_dim(); ++d) {
    sample.push_back(info.feature_space.width(d) * (d == 0 ? 1.0 : 2.0) / 3.0);
  }
  density->observe({BatchView(sample.data(), 1, info.feature_dim())});
  return density;
}

TEST(PictureOfADensity, HasTheValuesOfTheDensityInTheirPlaces) {
  auto info = problem(2);
  info.places.push_back({.x = 1.0, .y = 2.0, .name = "start"});
  const auto density = one_bump(info);
  Workers workers(2);
  const auto raster = density_raster(*density, info, workers);
  const auto columns = static_cast<Index>(raster.x.size());
  const auto rows = static_cast<Index>(raster.y.size());
  ASSERT_EQ(raster.log_density.rows(), rows);
  ASSERT_EQ(raster.log_density.cols(), columns);
  double sum = 0;
  for (Index row = 0; row < rows; ++row) {
    for (Index column = 0; column < columns; ++column) {
      const double x = raster.x[static_cast<std::size_t>(column)] - 10.0 / 3;
      const double y = raster.y[static_cast<std::size_t>(row)] - 40.0 / 3;
      const double u2 = (x * x + y * y) / (0.8 * 0.8);
      const double exact = -0.5 * u2 - std::log(2 * 3.14159265358979 * 0.8 * 0.8);
      ASSERT_NEAR(raster.log_density(row, column), exact, 2e-4) << row << ", " << column;
      sum += std::exp(raster.log_density(row, column));
    }
  }
  EXPECT_NEAR(sum * (10.0 / 200) * (20.0 / 200), 1.0, 1e-3) << "a density over feature space";

  const auto map = density_map(raster, *density, info, Config{}, 77);
  const auto peak = std::max_element(map.values.begin(), map.values.end()) - map.values.begin();
  EXPECT_NEAR(static_cast<double>(peak % map.columns) / 200, 1.0 / 3, 0.01) << "x goes right";
  EXPECT_NEAR(static_cast<double>(peak / map.columns) / 200, 2.0 / 3, 0.01) << "y goes up";
  ASSERT_TRUE(map.colour_limits.has_value());
  EXPECT_DOUBLE_EQ(map.colour_limits->low, 1e-6 * map.colour_limits->high);
  EXPECT_TRUE(map.logarithmic);
  ASSERT_EQ(map.dots.size(), 1U);
  EXPECT_NEAR(map.dots[0].y, 40.0 / 3, 1e-12);
  EXPECT_EQ(map.markers.size(), 1U) << "the places of the domain";
  EXPECT_EQ(map.x_label, "name 0");
  EXPECT_EQ(map.y_high, 20.0);
  EXPECT_NE(map.subtitle.find("77 iterations"), std::string::npos);
  EXPECT_FALSE(pictures::render_png(map).empty());
}

TEST(PictureOfADensity, OfOneFeatureIsARow) {
  const auto info = problem(1);
  const auto density = one_bump(info);
  Workers workers(1);
  const auto raster = density_raster(*density, info, workers);
  EXPECT_EQ(raster.log_density.rows(), 1);
  EXPECT_TRUE(raster.y.empty());
  const auto map = density_map(raster, *density, info, Config{}, 1);
  EXPECT_EQ(map.rows, 1);
  EXPECT_FALSE(pictures::render_png(map).empty());
}

TEST(PictureOfADensity, OfThreeFeaturesIsRefused) {
  const auto info = problem(3);
  const auto density = one_bump(info);
  Workers workers(1);
  EXPECT_THROW((void)density_raster(*density, info, workers), Error);
}

}  // namespace
}  // namespace rarefy
