// Every step of an episode is the reference's.
#include "maze_steps.hpp"

namespace {

using namespace maze_cases;  // NOLINT(google-build-using-namespace)

class MazeMaps : public testing::TestWithParam<Map> {};

INSTANTIATE_TEST_SUITE_P(On, MazeMaps, testing::ValuesIn(maps()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(MazeMaps, EveryStepIsTheReferences) {
  StepByStep steps(GetParam().options);
  constexpr Index kFollowed = 60 / kFewer;
  for (const auto& controllers :
       {normal_controllers(kFollowed, 1.0, 21), normal_controllers(kFollowed, 3.0, 22),
        evolved_controllers(kFollowed, 0.1, 23)}) {
    for (Index i = 0; i < kFollowed; ++i) {
      SCOPED_TRACE(i);
      steps.follow(controllers.row(i));
      if (HasFatalFailure()) return;
    }
  }
  // All of it happens, and little of it is too close to call.
  EXPECT_GT(steps.held(), 1000 / kFewer);
  EXPECT_GT(steps.free(), 1000 / kFewer);
  EXPECT_LT(steps.unclear(), steps.readings() / 1000 + 1);
  EXPECT_LT(steps.ties(), steps.readings() / 1000 + 1);
  RecordProperty("readings", steps.readings());
  RecordProperty("unclear", steps.unclear());
  RecordProperty("ties", steps.ties());
}

TEST_P(MazeMaps, RobotsEndWhereTheReferenceEnds) {
  auto options = GetParam().options;
  options.objective = MazeObjective::energy;
  const Batch controllers = normal_controllers(600 / kFewer, 1.0, 24);
  const auto found = evaluate(Maze(options), controllers);
  const auto expected = reference_episodes(options, controllers);
  std::vector<double> apart;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    apart.push_back(distance(found, static_cast<Index>(i), expected[i]));
  }
  expect_at_most(0.5, apart, kUsuallyApart);
  expect_at_most(0.05, apart, kSeldomApart);
  expect_within_the_walls(found);
  expect_same_energy(found, expected);
}

// The definition compares strictly, so a robot with its centre exactly on a wall sees that wall on
// one side of it only: here, backed onto the border below, it looks up and sees nothing.
TEST(MazeLasers, AWallUnderTheCentreIsSeenOnOneSideOnly) {
  auto options = on_map("empty");
  options.start = {0.5, 0.05, 1.5707963267948966};
  const auto back = wheels_alone(-12, -12);
  const auto expected =
      reference::trajectory(reference::world(options), reference::controller(back));
  ASSERT_EQ(expected.back().pose.y, 0.0F);
  ASSERT_EQ(expected.back().seen.ahead, 0.2F);
  const auto last = Maze(options).trajectory(back).back();
  EXPECT_EQ(last.y, 0.0);
  EXPECT_EQ(last.laser_right, static_cast<double>(expected.back().seen.right));
  EXPECT_EQ(last.laser_ahead, static_cast<double>(expected.back().seen.ahead));
  EXPECT_EQ(last.laser_left, static_cast<double>(expected.back().seen.left));
}

}  // namespace
