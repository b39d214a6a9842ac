// The maze, and the reference itself, against what was recorded from the original, Kheperax
// v0.1.0 (tests/data/maze).
#include "maze_cases.hpp"

namespace {

using namespace maze_cases;  // NOLINT(google-build-using-namespace)

// Nine digits name a single-precision number, so this is equality of bits.
TEST(MazeReference, ReproducesEveryDigitOfTheVectors) {
  ASSERT_EQ(vectors().size(), 10U);
  const auto world = reference::world({});
  for (const auto& vector : vectors()) {
    ASSERT_EQ(vector.controller.size(), 66U) << vector.name;
    ASSERT_EQ(vector.moments.size(), 251U) << vector.name;
    const auto moments = reference::trajectory(world, reference::controller(vector.controller));
    ASSERT_EQ(moments.size(), 251U);
    for (std::size_t t = 0; t <= 250; ++t) {
      const auto found = values_of(moments[t]);
      for (std::size_t k = 0; k < 10; ++k) {
        if (std::isnan(vector.moments[t][k])) continue;  // no action after the last step
        ASSERT_EQ(found[k], static_cast<float>(vector.moments[t][k]))
            << vector.name << ", step " << t << ", value " << k;
      }
    }
    const auto episode = reference::episode(world, reference::controller(vector.controller));
    EXPECT_EQ(episode.feature.x, static_cast<float>(vector.feature_x)) << vector.name;
    EXPECT_EQ(episode.feature.y, static_cast<float>(vector.feature_y)) << vector.name;
    EXPECT_EQ(episode.frozen_from, vector.frozen_from) << vector.name;
    // The same digits for eight of the ten; 1e-7 for T04, whose sum the original ordered
    // in another way.
    EXPECT_NEAR(episode.fitness, vector.fitness, energy_tolerance(vector.fitness)) << vector.name;
  }
}

// What of a controller's wheels moves with a laser: |tanh'| <= 1 and |relu'| <= 1.
double gain(const std::vector<double>& controller, std::size_t wheel) {
  double sum = 0;
  for (std::size_t j = 0; j < 8; ++j) {
    double inputs = 0;
    for (std::size_t i = 0; i < 3; ++i) inputs += std::abs(controller[8 + 8 * i + j]);
    sum += inputs * std::abs(controller[50 + 2 * j + wheel]);
  }
  return sum;
}

// Positions within the tolerance that comes with the vector. The rest follows from that:
//  - an error of the heading moves the robot by up to 0.025 times as much in the very next step,
//    so whatever is more than tolerance / 0.025 would show in the position;
//  - a laser that meets a wall at an angle of more than 6 degrees (sine 0.1) reads at most ten
//    times what position and direction are off by, and 1e-6 for its own rounding;
//  - a wheel is off by at most its gain times what the lasers are off by, and by 1e-6 more
//    for the rounding of sums of a size of 10.
TEST(MazeVectors, TrajectoriesAgreeWithinTheTolerances) {
  const Maze maze;
  for (const auto& vector : vectors()) {
    const auto moments = maze.trajectory(vector.controller);
    ASSERT_EQ(moments.size(), 251U);
    for (std::size_t t = 0; t <= static_cast<std::size_t>(vector.compare_up_to); ++t) {
      const auto found = values_of(moments[t]);
      const auto& expected = vector.moments[t];
      const auto off = [&](std::size_t k) { return std::abs(found[k] - expected[k]); };
      ASSERT_LE(off(0), vector.tolerance) << vector.name << ", x at step " << t;
      ASSERT_LE(off(1), vector.tolerance) << vector.name << ", y at step " << t;
      ASSERT_LE(off(2), vector.tolerance / 0.025) << vector.name << ", heading at step " << t;
      const double beam = 10.0 * (off(0) + off(1) + 0.2 * off(2)) + 1e-6;
      for (const std::size_t k : {3, 4, 5}) {
        ASSERT_LE(off(k), beam) << vector.name << ", laser " << k - 3 << " at step " << t;
      }
      for (const std::size_t k : {6, 7}) {
        ASSERT_EQ(found[k], expected[k]) << vector.name << ", bumper " << k - 6 << " at step " << t;
      }
      if (t == 250) continue;
      for (const std::size_t k : {8, 9}) {
        const double seen = std::max({off(3), off(4), off(5)});
        ASSERT_LE(off(k), gain(vector.controller, k - 8) * seen + 1e-6)
            << vector.name << ", wheel " << k - 8 << " at step " << t;
      }
    }
  }
}

TEST(MazeVectors, OutcomesAgreeWithinTheTolerances) {
  const Maze maze(energy());
  Batch controllers(0, 66);
  for (const auto& vector : vectors()) controllers.append(vector.controller);
  const auto found = evaluate(maze, controllers);
  for (std::size_t i = 0; i < vectors().size(); ++i) {
    const auto& vector = vectors()[i];
    if (vector.compare_up_to < 250) continue;  // chaotic
    EXPECT_NEAR(found.x(static_cast<Index>(i)), vector.feature_x, vector.tolerance) << vector.name;
    EXPECT_NEAR(found.y(static_cast<Index>(i)), vector.feature_y, vector.tolerance) << vector.name;
    // And for the wheels, which are off by 1e-5 at most, in two wheels of 250 steps.
    EXPECT_NEAR(found.objectives[i], vector.fitness,
                energy_tolerance(vector.fitness) + 1e-5 * std::abs(vector.fitness))
        << vector.name;
  }
}

}  // namespace
