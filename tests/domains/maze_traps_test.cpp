// The five traps of the task; and the same bits, whatever the circumstances.
#include "maze_steps.hpp"

namespace {

using namespace maze_cases;  // NOLINT(google-build-using-namespace)

// The five traps

// A hidden unit that is 0 while the robot is free (both bumpers -1), and 1 or 3 on contact.
void feel_contact_with(std::span<double> controller, std::size_t unit) {
  for (std::size_t i = 0; i < 3; ++i) controller[8 + 8 * i + unit] = 0.0;
  controller[unit] = controller[32 + unit] = controller[40 + unit] = 1.0;
}

// Trap 1. It runs into a wall, feels it, turns its wheels back at full speed, and does not move.
TEST(MazeTraps, TouchingAWallFreezesForTheRestOfTheEpisode) {
  auto controller = wheels_alone(12.0, 12.0);
  feel_contact_with(controller, 3);
  controller[50 + 6] = controller[51 + 6] = -30.0;
  const Maze maze(with_walls({{0.05, 0.51, 0.25, 0.51}}));
  const auto moments = maze.trajectory(controller);
  std::size_t first = 0;
  while (first < 250 && 0.51 - moments[first].y > 0.015) ++first;
  ASSERT_EQ(first, 14U);  // 0.35 in steps of 0.025
  for (std::size_t t = 0; t < first; ++t) EXPECT_GT(moments[t + 1].y, moments[t].y);
  for (std::size_t t = first; t <= 250; ++t) {
    ASSERT_EQ(moments[t].x, moments[first].x) << t;
    ASSERT_EQ(moments[t].y, moments[first].y) << t;
    ASSERT_EQ(moments[t].heading, moments[first].heading) << t;
    // The step of the contact is still taken forwards, without the bumpers.
    const double felt = std::max(moments[t].bumper_right, moments[t].bumper_left);
    ASSERT_EQ(felt, t > first ? 1.0 : -1.0) << t;
    ASSERT_EQ(moments[t].wheel_left, t > first ? -1.0 : 1.0) << t;
    ASSERT_EQ(moments[t].wheel_right, t > first ? -1.0 : 1.0) << t;
  }
  EXPECT_EQ(evaluate(maze, one_row(controller)).y(0), moments[first].y);

  // Nor does anyone else who touched a wall.
  const auto world = reference::world({});
  const Batch controllers = normal_controllers(100 / kFewer, 1.5, 31);
  int frozen = 0;
  for (Index i = 0; i < controllers.rows(); ++i) {
    const auto path = Maze().trajectory(controllers.row(i));
    bool touched = false;
    for (std::size_t t = 0; t < 250; ++t) {
      const auto clearance = static_cast<double>(
          reference::clearance(world, {static_cast<float>(path[t].x), static_cast<float>(path[t].y),
                                       static_cast<float>(path[t].heading)}));
      touched = touched || clearance < 0.015 - 1e-7;
      if (!touched) continue;
      ASSERT_EQ(path[t + 1].x, path[t].x);
      ASSERT_EQ(path[t + 1].y, path[t].y);
      ASSERT_EQ(path[t + 1].heading, path[t].heading);
    }
    frozen += touched ? 1 : 0;
  }
  EXPECT_GE(frozen, controllers.rows() / 5);
}

// The centre passes a wall at a distance that is a hair more or less than the radius.
TEST(MazeTraps, TouchingIsCloserThanTheRadius) {
  for (const double side : {-1.0, 1.0}) {
    for (const double hair : {-1e-6, -1e-7, 1e-7, 1e-6}) {
      const double x = 0.15 + side * (0.015 + hair);
      const Maze maze(with_walls({{x, 0.3, x, 0.5}}));
      const auto moments = maze.trajectory(wheels_alone(0.5, 0.5));
      // Its steps are 0.0116 long.
      if (hair < 0) {
        EXPECT_NEAR(moments[250].y, 0.3, 0.0117) << x;
      } else {
        EXPECT_NEAR(moments[250].y, 1.0, 0.0151) << x;
      }
    }
  }
}

TEST(MazeTraps, TheShortestWallStopsARobot) {
  for (const double x : {0.14, 0.15, 0.16}) {
    const Maze maze(with_walls({{x, 0.4, x + 1.01e-4, 0.4}}));
    EXPECT_NEAR(maze.trajectory(wheels_alone(0.5, 0.5)).back().y, 0.4, 0.015) << x;
  }
}

// Trap 2. Robots that react violently to contact end exactly where those without bumpers do;
// only what they spend after it differs.
TEST(MazeTraps, BumpersNeverInfluenceTheMotion) {
  Batch without = normal_controllers(1000 / kFewer, 1.0, 32), with = without;
  for (Index i = 0; i < with.rows(); ++i) {
    for (auto* batch : {&without, &with}) {
      feel_contact_with(batch->row(i), 7);
      (*batch)(i, 64) = (*batch)(i, 65) = 0.0;
    }
    with(i, 64) = 50.0;
    with(i, 65) = -70.0;
  }
  const Maze maze(energy());
  const auto numb = evaluate(maze, without), touchy = evaluate(maze, with);
  int spent_otherwise = 0;
  for (Index i = 0; i < with.rows(); ++i) {
    ASSERT_EQ(numb.x(i), touchy.x(i)) << i;
    ASSERT_EQ(numb.y(i), touchy.y(i)) << i;
    const auto k = static_cast<std::size_t>(i);
    spent_otherwise += numb.objectives[k] != touchy.objectives[k] ? 1 : 0;
  }
  EXPECT_GE(spent_otherwise, with.rows() / 10);
  EXPECT_LE(spent_otherwise, with.rows() / 2);  // about half are never stopped

  for (Index i = 0; i < 50 / kFewer; ++i) {
    const auto moments = maze.trajectory(with.row(i));
    for (std::size_t t = 0; t < 250; ++t) {
      if (moments[t].bumper_right < 0 && moments[t].bumper_left < 0) continue;
      ASSERT_EQ(moments[t + 1].x, moments[t].x);
      ASSERT_EQ(moments[t + 1].y, moments[t].y);
    }
  }
}

// Trap 3.
TEST(MazeTraps, TheFeatureIsWhereItStandsAfter249Moves) {
  const Maze maze;
  for (const auto* name : {"T05_circle", "T08_goal_region"}) {
    const auto& vector = vector_named(name);
    const auto moments = maze.trajectory(vector.controller);
    const auto found = evaluate(maze, one_row(vector.controller));
    EXPECT_EQ(found.x(0), moments[249].x) << name;
    EXPECT_EQ(found.y(0), moments[249].y) << name;
    // One move later it is elsewhere.
    EXPECT_GT(std::hypot(moments[250].x - found.x(0), moments[250].y - found.y(0)), 4e-3) << name;
    EXPECT_GT(std::hypot(moments[248].x - found.x(0), moments[248].y - found.y(0)), 4e-3) << name;
  }
}

TEST(MazeTraps, Moment249IsTheFeatureBitForBit) {
  for (const auto& map : maps()) {
    const Maze maze(map.options);
    const Batch controllers = evolved_controllers(60 / kFewer, 0.3, 33);
    const auto found = evaluate(maze, controllers);
    for (Index i = 0; i < controllers.rows(); ++i) {
      const auto moments = maze.trajectory(controllers.row(i));
      ASSERT_EQ(found.x(i), moments[249].x) << map.name << ", robot " << i;
      ASSERT_EQ(found.y(i), moments[249].y) << map.name << ", robot " << i;
    }
  }
}

// Trap 4, with every instruction set.
class MazeOnEverySet : public WithInstructionSet {};
INSTANTIATE_TEST_SUITE_P(On, MazeOnEverySet, testing::ValuesIn(available_instruction_sets()),
                         instruction_set_of_test);

TEST_P(MazeOnEverySet, TheFirstReadingOfTheRightLaserIsAHit) {
  for (const double nothing : {0.2, -1.0}) {
    const auto first = Maze(with_no_wall_reading(nothing)).trajectory(wheels_alone(0, 0)).front();
    EXPECT_NEAR(first.laser_right, 0.14142135, 2e-8);
    EXPECT_EQ(first.laser_ahead, static_cast<double>(static_cast<float>(nothing)));
    EXPECT_EQ(first.laser_left, static_cast<double>(static_cast<float>(nothing)));
  }
}

// Trap 5. The last bit of the parameters decides where the one ends, and not the other. (That is
// why the tests above compare by distribution.)
TEST(MazeTraps, SomeControllersAreChaotic) {
  const Maze maze;
  const auto ends_apart = [&](const char* name) {
    Batch same(0, 66);
    for (int i = 0; i < 32; ++i) same.append(vector_named(name).controller);
    const auto found = evaluate(maze, twins_of(same, 34));
    double most = 0;
    for (Index i = 0; i < 32; ++i) {
      most = std::max(most, std::hypot(found.x(i) - found.x(0), found.y(i) - found.y(0)));
    }
    return most;
  };
  EXPECT_GT(ends_apart("T15_chaotic"), 1e-2);
  EXPECT_LT(ends_apart("T08_goal_region"), 1e-5);
}

// ---------------------------------------------------------------------------------------------
// The same bits, whatever the circumstances

void expect_same(const Evaluated& found, const Evaluated& expected, const std::string& when) {
  ASSERT_EQ(found.features.rows(), expected.features.rows());
  for (Index i = 0; i < expected.features.rows(); ++i) {
    ASSERT_EQ(found.x(i), expected.x(i)) << when << ", robot " << i;
    ASSERT_EQ(found.y(i), expected.y(i)) << when << ", robot " << i;
  }
  ASSERT_EQ(found.objectives, expected.objectives) << when;
}

TEST(MazeBits, AreTheSameWithEveryInstructionSet) {
  const Batch controllers = mixed_controllers(1500 / kFewer);
  for (const auto& map : maps()) {
    auto options = map.options;
    options.objective = MazeObjective::energy;
    const Maze maze(options);
    const PinnedInstructionSet first(rarefy::InstructionSet::baseline);
    const auto expected = evaluate(maze, controllers);
    const auto path = maze.trajectory(controllers.row(0));
    for (const auto set : available_instruction_sets()) {
      const PinnedInstructionSet pinned(set);
      const std::string name(rarefy::name_of(set));
      expect_same(evaluate(maze, controllers), expected, name);
      const auto found = maze.trajectory(controllers.row(0));
      for (std::size_t t = 0; t <= 250; ++t) {
        ASSERT_EQ(values_of(found[t]), values_of(path[t])) << name << ", step " << t;
      }
    }
  }
}

TEST(MazeBits, AreTheSameWithAnyNumberOfThreads) {
  const Batch controllers = mixed_controllers(1500 / kFewer);
  const Maze maze(energy());
  const auto expected = evaluate(maze, controllers);
  for (const Index threads : {1, 2, 3, 7}) {
    rarefy::Workers workers(threads);
    rarefy::ThreadsEvaluator evaluator(maze, workers);
    Evaluated found{Batch(controllers.rows(), 2), std::vector<double>(expected.objectives.size())};
    evaluator.evaluate(controllers, {found.features, found.objectives});
    expect_same(found, expected, std::to_string(threads) + " threads");
  }
}

// Robots know nothing of each other, and nothing of who was in their lane before.
TEST_P(MazeOnEverySet, BatchesOfAnySizeGiveTheSameBits) {
  const Batch controllers = mixed_controllers(70);
  const Maze maze(energy());
  Evaluated alone{Batch(0, 2), {}};
  for (Index i = 0; i < 70; ++i) {
    const auto one = evaluate(maze, controllers.view().rows(i, 1));
    alone.features.append(one.features.row(0));
    alone.objectives.push_back(one.objectives[0]);
  }
  for (Index size = 0; size <= 70; size += 1 + size / 20 * (kFewer - 1)) {
    const auto found = evaluate(maze, controllers.view().rows(70 - size, size));
    for (Index i = 0; i < size; ++i) {
      ASSERT_EQ(found.x(i), alone.x(70 - size + i)) << "robot " << i << " of " << size;
      ASSERT_EQ(found.y(i), alone.y(70 - size + i)) << "robot " << i << " of " << size;
      ASSERT_EQ(found.objectives[static_cast<std::size_t>(i)],
                alone.objectives[static_cast<std::size_t>(70 - size + i)])
          << "robot " << i << " of " << size;
    }
  }
}

TEST_P(MazeOnEverySet, AnyPlaceInABatchGivesTheSameBits) {
  const Batch controllers = mixed_controllers(200 / kFewer);
  const Index count = controllers.rows();
  const Maze maze(energy());
  const auto expected = evaluate(maze, controllers);
  rarefy::RandomStream random({.seed = 43});
  for (int repeat = 0; repeat < 5; ++repeat) {
    std::vector<Index> order(static_cast<std::size_t>(count));
    rarefy::random_permutation(random, order);
    Batch shuffled(0, 66);
    for (const Index i : order) shuffled.append(controllers.row(i));
    const auto found = evaluate(maze, shuffled);
    for (Index i = 0; i < count; ++i) {
      const Index from = order[static_cast<std::size_t>(i)];
      ASSERT_EQ(found.x(i), expected.x(from)) << "place " << i;
      ASSERT_EQ(found.y(i), expected.y(from)) << "place " << i;
      ASSERT_EQ(found.objectives[static_cast<std::size_t>(i)],
                expected.objectives[static_cast<std::size_t>(from)])
          << "place " << i;
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Weights of any size

// Beyond 1e15 a weight counts as that, so that sums neither overflow nor cancel to NaN.
TEST_P(MazeOnEverySet, HugeWeightsDoNoHarm) {
  constexpr double kMax = std::numeric_limits<double>::max();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Batch controllers(0, 66);
  for (const double size : {1e10, 1e16, 1e19, 1e30, 1e38, 1e39, 1e300}) {
    const Batch some = normal_controllers(40 / kFewer, size, 51);
    for (Index i = 0; i < some.rows(); ++i) controllers.append(some.row(i));
  }
  for (const double size : {1e300, -1e300, kMax, -kMax, kInfinity, -kInfinity}) {
    controllers.append(std::vector<double>(66, size));
    for (std::size_t apart = 2; apart < 9; ++apart) {
      std::vector<double> mixed(66, 0.3);
      for (std::size_t i = 0; i < 66; i += apart) mixed[i] = i % 2 == 0 ? size : -size;
      controllers.append(mixed);
    }
  }
  const Maze maze(energy());
  const auto found = evaluate(maze, controllers);
  expect_within_the_walls(found);
  for (const double spent : found.objectives) {
    ASSERT_TRUE(spent >= -0.3125 - 1e-6 && spent <= 0.0) << spent;
  }
  Batch cut = controllers;
  for (double& weight : cut.values()) weight = std::clamp(weight, -1e15, 1e15);
  expect_same(found, evaluate(maze, cut), "cut off");
}

// As long as nothing overflows in the reference.
TEST(MazeWeights, LargeOnesSteerAsInTheReference) {
  StepByStep steps({});
  for (const double size : {1e3, 1e6, 1e9}) {
    const Batch controllers = normal_controllers(40 / kFewer, size, 52);
    for (Index i = 0; i < controllers.rows(); ++i) {
      SCOPED_TRACE(i);
      steps.follow(controllers.row(i));
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
