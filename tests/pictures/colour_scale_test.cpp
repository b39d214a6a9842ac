#include "pictures/colour_scale.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace rarefy::pictures {
namespace {

const double kEmpty = std::numeric_limits<double>::quiet_NaN();

Heatmap map_of(std::vector<double> values) {
  Heatmap map;
  map.columns = static_cast<Index>(values.size());
  map.rows = 1;
  map.values = std::move(values);
  return map;
}

TEST(ColourScale, SpansTheValues) {
  const ColourScale scale(map_of({2.0, kEmpty, 6.0}));
  EXPECT_TRUE(scale.has_range());
  EXPECT_FALSE(scale.reaches_below() || scale.reaches_above());
  EXPECT_EQ(scale.position(2.0), 0.0);
  EXPECT_EQ(scale.position(3.0), 0.25);
  EXPECT_EQ(scale.position(6.0), 1.0);
  EXPECT_TRUE(std::isnan(scale.position(kEmpty)));
}

TEST(ColourScale, SaysWhichLimitsTheValuesPass) {
  Heatmap map = map_of({2.0, 6.0});
  map.colour_limits = ColourLimits{3.0, 6.0};
  const ColourScale scale(map);
  EXPECT_TRUE(scale.reaches_below());
  EXPECT_FALSE(scale.reaches_above());
  EXPECT_EQ(scale.position(2.0), 0.0);
}

TEST(ColourScale, HasNoPlaceForWhatHasNoLogarithm) {
  Heatmap map = map_of({-1.0, 0.0, 1.0, 100.0});
  map.logarithmic = true;
  const ColourScale scale(map);
  EXPECT_TRUE(std::isnan(scale.position(-1.0)));
  EXPECT_TRUE(std::isnan(scale.position(0.0)));
  EXPECT_EQ(scale.position(10.0), 0.5);
}

TEST(ColourScale, MarksTheOneValueThereIs) {
  const ColourScale scale(map_of({7.0, 7.0}));
  EXPECT_TRUE(scale.single());
  EXPECT_FALSE(scale.has_range());
  EXPECT_EQ(scale.position(7.0), 0.5);
  const auto ticks = scale.ticks(8);
  ASSERT_EQ(ticks.size(), 1U);
  EXPECT_EQ(ticks.front().label, "7");
}

TEST(ColourScale, IsEmptyWithoutValues) {
  const ColourScale scale(map_of({kEmpty, kEmpty}));
  EXPECT_TRUE(scale.empty());
  EXPECT_FALSE(scale.has_range());
  EXPECT_TRUE(scale.ticks(8).empty());
}

}  // namespace
}  // namespace rarefy::pictures
