#include "rarefy/core/feature_space.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "rarefy/core/outside.hpp"

namespace rarefy {
namespace {

const FeatureSpace kBox = {{0, -10}, {1, 10}};

TEST(FeatureSpace, ContainsItsSurface) {
  for (const auto& inside : std::vector<std::vector<double>>{
           {0.5, 0}, {0, -10}, {1, 10}, {0, 10}, {0.999999, 9.999999}}) {
    EXPECT_TRUE(kBox.contains(inside)) << inside[0] << ", " << inside[1];
    EXPECT_EQ(kBox.distance(inside), 0.0);
    auto clamped = inside;
    kBox.clamp(clamped);
    EXPECT_EQ(clamped, inside);
  }
  const double just_outside = std::nextafter(1.0, 2.0);
  EXPECT_FALSE(kBox.contains(std::vector<double>{just_outside, 0}));
  EXPECT_FALSE(kBox.contains(std::vector<double>{0.5, -10.1}));
  EXPECT_FALSE(kBox.contains(std::vector<double>{-1, 11}));
  EXPECT_GT(kBox.distance(std::vector<double>{just_outside, 0}), 0.0);
}

TEST(FeatureSpace, ClampsToTheNearestPlaceInside) {
  std::vector<double> features = {-3, 4};
  kBox.clamp(features);
  EXPECT_EQ(features, (std::vector<double>{0, 4}));
  features = {1e300, -1e300};
  kBox.clamp(features);
  EXPECT_EQ(features, (std::vector<double>{1, -10}));
}

// Every feature in units of its own width: 1 and 20.
TEST(FeatureSpace, MeasuresDistancesInWidths) {
  EXPECT_DOUBLE_EQ(kBox.distance(std::vector<double>{1.5, 0}), 0.5);
  EXPECT_DOUBLE_EQ(kBox.distance(std::vector<double>{0.5, -20}), 0.5);
  EXPECT_DOUBLE_EQ(kBox.distance(std::vector<double>{-3, 90}), 5.0);  // 3 and 4
}

TEST(FeatureSpace, DistancesDoNotOverflow) {
  constexpr double kMost = std::numeric_limits<double>::max();
  const auto distance = [](double x, double y) { return kBox.distance(std::vector<double>{x, y}); };
  EXPECT_DOUBLE_EQ(distance(3e200, 80e200), 5e200);
  EXPECT_LT(distance(1e300, 0), distance(1e301, 0));
  EXPECT_EQ(distance(kMost, -kMost), kMost);
  const FeatureSpace narrow = {{0}, {1e-300}};
  EXPECT_EQ(narrow.distance(std::vector<double>{1e300}), kMost);
}

TEST(Outside, HasNames) {
  EXPECT_EQ(names_of<Outside>(), (std::vector<std::string_view>{"as-is", "clamp", "last"}));
  EXPECT_EQ(named<Outside>("last"), Outside::last);
}

}  // namespace
}  // namespace rarefy
