// One step of an episode at a time, held against the reference; and the maps on which.
#pragma once

#include "maze_cases.hpp"

namespace maze_cases {

// Step by step. Chaos takes many steps; within one, everything can be held to rounding.

// Follows an episode and asks of every moment whether the reference, put there, would have sensed,
// done and gone the same.
class StepByStep {
 public:
  explicit StepByStep(const MazeOptions& options)
      : maze_(options), world_(reference::world(options)) {}

  void follow(std::span<const double> parameters) {
    const auto controller = reference::controller(parameters);
    const auto moments = maze_.trajectory(parameters);
    ASSERT_EQ(moments.size(), 251U);
    reference::Bumpers before;  // of the pose before
    for (std::size_t t = 0; t <= 250; ++t) {
      const auto& now = moments[t];
      const reference::Pose pose = {static_cast<float>(now.x), static_cast<float>(now.y),
                                    static_cast<float>(now.heading)};
      const reference::Lasers seen = {static_cast<float>(now.laser_right),
                                      static_cast<float>(now.laser_ahead),
                                      static_cast<float>(now.laser_left)};
      const float eighth = 0.25F * reference::kPi;
      fresh_ = t == 0 || now.x != moments[t - 1].x || now.y != moments[t - 1].y;
      check_laser(pose, pose.heading - eighth, seen.right);
      check_laser(pose, pose.heading, seen.ahead);
      check_laser(pose, pose.heading + eighth, seen.left);

      const reference::Bumpers felt = {static_cast<float>(now.bumper_right),
                                       static_cast<float>(now.bumper_left)};
      if (felt.a != before.a || felt.b != before.b) {
        // Allowed where a hair's breadth decides: the same bumpers, felt a little to the side.
        if (fresh_) ++ties_;
        ASSERT_GT(t, 0U) << "contact at the start";
        ASSERT_TRUE(nearly(moments[t - 1], felt)) << "bumpers at step " << t;
      }

      // The same sums in the same order; only tanh may differ, by 1.4 units in the last place
      // (kernels/maze_functions_test.cpp) and the half that the reference rounds.
      const auto action = reference::wheels(controller, seen, felt);
      ASSERT_NEAR(now.wheel_left, action.left, 2 * kHalf) << "step " << t;
      ASSERT_NEAR(now.wheel_right, action.right, 2 * kHalf) << "step " << t;

      const auto clearance = static_cast<double>(reference::clearance(world_, pose));
      const bool held = clearance <= static_cast<double>(reference::kRadius);
      before = reference::bumpers(world_, pose);
      if (!held && felt.a == -1.0F && felt.b == -1.0F) ++free_;
      if (t == 250) break;
      const auto& next = moments[t + 1];
      const bool stayed = next.x == now.x && next.y == now.y && next.heading == now.heading;
      if (std::abs(clearance - 0.015) < 2e-8) {
        if (fresh_) ++ties_;
        continue;
      }
      if (held) {
        ASSERT_TRUE(stayed) << "step " << t;
        ++held_;
        continue;
      }
      check_move(pose,
                 reference::displacements(
                     {static_cast<float>(now.wheel_left), static_cast<float>(now.wheel_right)}),
                 next, t);
    }
  }

  // How often each thing was met. What a robot at rest senses again and again counts once.
  [[nodiscard]] int readings() const { return readings_; }
  [[nodiscard]] int unclear() const { return unclear_; }
  [[nodiscard]] int ties() const { return ties_; }
  [[nodiscard]] int held() const { return held_; }
  [[nodiscard]] int free() const { return free_; }

 private:
  // Readings within 1e-6; or, where a beam grazes a wall or passes its tip, between what the
  // reference reads when the robot is some roundings away.
  void check_laser(const reference::Pose& pose, float angle, float found) {
    if (fresh_) ++readings_;
    float least = reference::laser(world_, {pose.x, pose.y}, angle);
    if (std::abs(found - least) <= 1e-6F) return;
    if (fresh_) ++unclear_;
    float most = least;
    const float shift = 3e-7F, turn = 2e-6F;
    for (const auto& [x, y, by] : {std::array{shift, 0.0F, 0.0F}, std::array{-shift, 0.0F, 0.0F},
                                   std::array{0.0F, shift, 0.0F}, std::array{0.0F, -shift, 0.0F},
                                   std::array{0.0F, 0.0F, turn}, std::array{0.0F, 0.0F, -turn}}) {
      const float reading = reference::laser(world_, {pose.x + x, pose.y + y}, angle + by);
      least = std::min(least, reading);
      most = std::max(most, reading);
    }
    ASSERT_GE(found, least - 1e-6F) << pose.x << "," << pose.y << " towards " << angle;
    ASSERT_LE(found, most + 1e-6F) << pose.x << "," << pose.y << " towards " << angle;
  }

  // Whether the reference has these bumpers within some roundings of a pose.
  bool nearly(const MazeMoment& at, const reference::Bumpers& felt) const {
    for (const double turn : {-1e-5, 0.0, 1e-5}) {
      for (const double right : {-1e-7, 0.0, 1e-7}) {
        for (const double up : {-1e-7, 0.0, 1e-7}) {
          const auto there = reference::bumpers(
              world_, {static_cast<float>(at.x + right), static_cast<float>(at.y + up),
                       static_cast<float>(at.heading + turn)});
          if (there.a == felt.a && there.b == felt.b) return true;
        }
      }
    }
    return false;
  }

  // The heading is made by the same operations. The place may be off by the rounding of the
  // coordinate itself; by that of sine and cosine, of a displacement of 0.025; and by that of
  // cos(alpha) - 1, half a unit in either, times the radius of the arc.
  static void check_move(const reference::Pose& pose, const reference::Wheels& by,
                         const MazeMoment& next, std::size_t t) {
    const auto there = reference::arc(pose, by);
    const auto alpha = static_cast<double>((by.right - by.left) / reference::kAxle);
    const double radius =
        std::abs(alpha) > 1e-10 ? std::abs(static_cast<double>(by.left) / alpha + 0.015) : 0.0;
    // Below 2.4e-4 the cosine is exactly 1 in both.
    const double bend = std::abs(alpha) > 2.4e-4 ? 2 * kHalf * radius : 0.0;
    const double tolerance = 2 * kHalf + 8 * kHalf * 0.025 + bend;
    ASSERT_NEAR(next.x, there.x, tolerance) << "step " << t;
    ASSERT_NEAR(next.y, there.y, tolerance) << "step " << t;
    ASSERT_EQ(static_cast<float>(next.heading), there.heading) << "step " << t;
  }

  Maze maze_;
  reference::World world_;
  bool fresh_ = true;  // the robot has just moved
  int readings_ = 0, unclear_ = 0, ties_ = 0, held_ = 0, free_ = 0;
};

struct Map {
  std::string_view name;
  MazeOptions options;
};
inline void PrintTo(const Map& map, std::ostream* out) { *out << map.name; }

inline std::vector<Map> maps() {
  const MazeOptions own = {.walls = {{0.3, 0.0, 0.3, 0.4},
                                     {0.05, 0.3, 0.2, 0.32},
                                     {0.6, 0.6, 0.9, 0.1},
                                     {0.1, 0.7, 0.5, 0.7},
                                     {0.5, 0.5, 0.52, 0.5},     // smaller than the robot
                                     {-2.0, 0.85, 5.0, 0.95}},  // from outside to outside
                           .start = {0.4, 0.2, -2.5}};
  return {{"Deceptive", {}},
          {"PointMaze", on_map("pointmaze")},
          {"Snake", on_map("snake")},
          {"Empty", on_map("empty")},
          {"Own", own},
          {"NothingIsMinusOne", with_no_wall_reading(-1.0)}};
}

}  // namespace maze_cases
