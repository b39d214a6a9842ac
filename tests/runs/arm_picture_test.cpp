#include "rarefy/runs/arm_picture.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "support/random_batches.hpp"

namespace {

using rarefy::Arm;
using rarefy::Batch;
using rarefy::Index;

TEST(ArmJoints, BendWhereTheAnglesSay) {
  const Arm arm({.n = 3});
  const std::vector<double> angles = {0.0, std::numbers::pi / 2, std::numbers::pi / 2};
  const auto joints = arm.joints(angles);
  ASSERT_EQ(joints.size(), 4U);
  const std::vector<std::pair<double, double>> expected = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
  for (std::size_t i = 0; i < joints.size(); ++i) {
    EXPECT_NEAR(joints[i].x, expected[i].first, 1e-15);
    EXPECT_NEAR(joints[i].y, expected[i].second, 1e-15);
  }
}

TEST(ArmJoints, EndWhereTheFeaturesAre) {
  const Arm arm({.n = 300});
  const Batch solutions = uniform_batch(5, 300, -20.0, 20.0, 3);  // many whole turns
  Batch features(5, 2);
  std::vector<double> objectives(5);
  arm.evaluate(solutions, features, objectives);
  for (Index i = 0; i < 5; ++i) {
    const auto joints = arm.joints(solutions.row(i));
    EXPECT_NEAR(joints.back().x, features(i, 0), 1e-11);
    EXPECT_NEAR(joints.back().y, features(i, 1), 1e-11);
    for (std::size_t k = 1; k < joints.size(); ++k) {
      EXPECT_NEAR(std::hypot(joints[k].x - joints[k - 1].x, joints[k].y - joints[k - 1].y), 1.0,
                  1e-13);
    }
  }
}

TEST(ArmPicture, HasEveryLinkItsEndsAndTheDisc) {
  const Arm arm({.n = 10});
  const std::vector<double> angles(10, 0.1);
  const auto map = rarefy::arm_map(arm, angles, "some run");
  EXPECT_EQ(map.path.size(), 11U);
  EXPECT_EQ(map.path.front().value, 0.0);
  EXPECT_EQ(map.path.back().value, 10.0);
  EXPECT_EQ(map.subtitle, "some run");
  ASSERT_EQ(map.markers.size(), 2U);
  EXPECT_EQ(map.markers[1].x, arm.joints(angles).back().x);
  for (const auto& wall : map.walls) {
    EXPECT_NEAR(std::hypot(wall.x1, wall.y1), 10.0, 1e-12);
    EXPECT_LT(std::hypot(wall.x2 - wall.x1, wall.y2 - wall.y1), 0.5);
  }
  EXPECT_FALSE(rarefy::pictures::render_png(map).empty());
  const Arm one({.n = 1});
  EXPECT_FALSE(
      rarefy::pictures::render_png(rarefy::arm_map(one, std::vector<double>{0.3}, "")).empty());
}

}  // namespace
