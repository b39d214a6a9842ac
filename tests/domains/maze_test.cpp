// Objectives, maps, and what is refused.
#include "maze_cases.hpp"

namespace {

using namespace maze_cases;  // NOLINT(google-build-using-namespace)

// Objectives

TEST(MazeObjectives, TheConstantOneIsOne) {
  const Batch controllers = mixed_controllers(40);
  const auto plain = evaluate(Maze(), controllers);
  const auto spent = evaluate(Maze(energy()), controllers);
  for (const double value : plain.objectives) EXPECT_EQ(value, 1.0);
  for (Index i = 0; i < 40; ++i) {
    EXPECT_EQ(plain.x(i), spent.x(i));
    EXPECT_EQ(plain.y(i), spent.y(i));
  }
}

// 250 steps, those after the freeze included.
TEST(MazeObjectives, EnergyIsTheSumOverTheWholeEpisode) {
  const Maze maze(energy());
  const Batch controllers = mixed_controllers(90 / kFewer);
  const auto found = evaluate(maze, controllers);
  for (Index i = 0; i < controllers.rows(); ++i) {
    const auto moments = maze.trajectory(controllers.row(i));
    double sum = 0;
    for (std::size_t t = 0; t < 250; ++t) {
      const double left = 0.025 * moments[t].wheel_left, right = 0.025 * moments[t].wheel_right;
      sum -= left * left + right * right;
    }
    // The single-precision 0.025 is off by 1.5e-8 of itself; that counts twice.
    ASSERT_NEAR(found.objectives[static_cast<std::size_t>(i)], sum,
                energy_tolerance(sum) + 4e-8 * std::abs(sum))
        << "robot " << i;
  }
  Batch known(0, 66);
  known.append(wheels_alone(0, 0));
  known.append(wheels_alone(20, 20));    // ahead, into a wall
  known.append(wheels_alone(-20, 20));   // on the spot
  known.append(wheels_alone(0.5, 0.0));  // a circle
  const auto spent = evaluate(maze, known).objectives;
  EXPECT_EQ(spent[0], 0.0);
  EXPECT_NEAR(spent[1], -0.3125, energy_tolerance(0.3125) + 4e-8);
  EXPECT_NEAR(spent[2], -0.3125, energy_tolerance(0.3125) + 4e-8);
  EXPECT_NEAR(spent[3], -0.15625 * std::pow(std::tanh(0.5), 2), energy_tolerance(0.15625));
}

TEST(MazeObjectives, HaveNames) {
  for (const auto objective : {MazeObjective::constant, MazeObjective::energy}) {
    EXPECT_EQ(rarefy::named<rarefy::MazeObjective>(rarefy::name_of(objective)), objective);
  }
  EXPECT_THROW((void)rarefy::named<rarefy::MazeObjective>("speed"), Error);
}

// ---------------------------------------------------------------------------------------------
// Known paths, maps, text, refusals

TEST(Maze, StraightAheadIsStraightAhead) {
  const Maze maze(on_map("empty"));
  const auto moments = maze.trajectory(wheels_alone(0.1, 0.1));
  const double step = 0.025 * std::tanh(0.1);
  for (std::size_t t = 0; t <= 250; ++t) {
    const double y = 0.15 + step * static_cast<double>(t);
    ASSERT_NEAR(moments[t].y, y, 250 * kHalf) << t;
    ASSERT_NEAR(moments[t].x, 0.15, 250 * kHalf) << t;
  }
}

// Wheels 1 : 3 apart by 0.03 turn about a point 0.015 beyond the left one: a circle of radius 0.03
// round (0.12, 0.15).
TEST(Maze, UnequalWheelsMakeACircle) {
  const Maze maze(on_map("empty"));
  const double slow = 0.2;
  const auto moments = maze.trajectory(wheels_alone(std::atanh(slow), std::atanh(3 * slow)));
  for (std::size_t t = 0; t <= 250; ++t) {
    const double turn = 0.025 * 2 * slow / 0.03 * static_cast<double>(t);
    ASSERT_NEAR(moments[t].x, 0.12 + 0.03 * std::cos(turn), 2e-5) << t;
    ASSERT_NEAR(moments[t].y, 0.15 + 0.03 * std::sin(turn), 2e-5) << t;
    ASSERT_LE(std::abs(moments[t].heading), 3.1416) << t;
  }
}

TEST(Maze, DescribesItself) {
  const Maze maze;
  const auto& info = maze.info();
  EXPECT_EQ(info.name, "maze");
  EXPECT_EQ(info.title, "Deceptive maze");
  EXPECT_EQ(info.solution_dim, 66);
  EXPECT_EQ(info.feature_space.lower, (std::vector<double>{0, 0}));
  EXPECT_EQ(info.feature_space.upper, (std::vector<double>{1, 1}));
  EXPECT_EQ(info.feature_names, (std::vector<std::string>{"x", "y"}));
  EXPECT_TRUE(info.constant_objective);
  ASSERT_EQ(info.lines.size(), 7U);
  EXPECT_EQ(info.lines[4].x1, 0.355);
  EXPECT_EQ(info.lines[4].y2, 0.185);
  ASSERT_EQ(info.places.size(), 1U);
  EXPECT_EQ(info.places[0].x, 0.15);
  EXPECT_FALSE(Maze(energy()).info().constant_objective);
  EXPECT_NE(Maze(on_map("empty")).info().title, "Deceptive maze");
}

TEST(MazeMap, NamedOnesHaveTheirWalls) {
  EXPECT_EQ(MazeOptions().walls, rarefy::walls_of(rarefy::MazeMap::deceptive));
  EXPECT_EQ(rarefy::text_of(rarefy::walls_of(rarefy::MazeMap::deceptive)),
            "0.25,0.25,0.25,0.75; 0.14,0.45,0,0.65; 0.25,0.75,0,0.8; 0.25,0.75,0.66,0.875; "
            "0.355,0,0.525,0.185; 0.25,0.5,0.75,0.215; 1,0.25,0.435,0.55");
  EXPECT_EQ(rarefy::text_of(rarefy::walls_of(rarefy::MazeMap::pointmaze)),
            "0,0.25,0.75,0.25; 0.25,0.6,1,0.6; 0,0.25,0,1");
  EXPECT_EQ(rarefy::text_of(rarefy::walls_of(rarefy::MazeMap::snake)),
            "0.2,0,0.2,0.8; 0,0.2,0,1; 0.2,0,1,0; 0.2,0.8,0.8,0.8; 0.2,0.4,0.8,0.4; "
            "0.4,0.6,1,0.6; 0.4,0.2,1,0.2");
  EXPECT_TRUE(rarefy::walls_of(rarefy::MazeMap::empty).empty());
  for (const auto name : rarefy::names_of<rarefy::MazeMap>()) {
    EXPECT_NO_THROW(Maze(on_map(name))) << name;
  }
  try {
    (void)rarefy::named<rarefy::MazeMap>("decptive");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("decptive"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("deceptive"), std::string::npos) << error.what();
  }
}

TEST(MazeMap, WallsSurviveBeingText) {
  const std::vector<Wall> walls = {{0.1, 1.0 / 3.0, -2, 1e-7}, {0, 0.25, 0.7500000000000001, 5}};
  EXPECT_EQ(rarefy::parse_walls(rarefy::text_of(walls)), walls);
  EXPECT_EQ(rarefy::text_of({}), "");
  EXPECT_TRUE(rarefy::parse_walls("").empty());
  EXPECT_TRUE(rarefy::parse_walls("  ").empty());
  const std::vector<Wall> two = {{0, 0.5, 1, 0.5}, {0.25, 0, 0.25, -1}};
  for (const auto* text : {"0,0.5,1,0.5;0.25,0,0.25,-1", " 0 , .5,1,5e-1 ;  0.25,0,0.25,-1 ; "}) {
    EXPECT_EQ(rarefy::parse_walls(text), two) << text;
  }
  const auto start = rarefy::MazeStart::parse("0.5, 0.25,-1.5");
  EXPECT_EQ(start, (rarefy::MazeStart{0.5, 0.25, -1.5}));
}

template <typename Try>
void expect_refused(Try attempt, std::initializer_list<std::string_view> words,
                    ErrorKind kind = ErrorKind::parameter) {
  try {
    attempt();
    FAIL() << "nothing was refused, " << *words.begin();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    for (const auto word : words) {
      EXPECT_NE(std::string_view(error.what()).find(word), std::string_view::npos)
          << "'" << word << "' is missing: " << error.what();
    }
  }
}

TEST(MazeMap, TextThatIsNoWallIsRefused) {
  for (const auto* text : {"1", "1,2,3", "1,2,3,4,5", "1,2,,4", "1,2,3,x", "1 2 3 4", "1,2,3,4,",
                           "1,2,3,nan", "inf,2,3,4", "1,2,3,1e999", ",1,2,3"}) {
    expect_refused([&] { (void)rarefy::parse_walls(text); }, {"wall 1", text, "x1,y1,x2,y2"});
  }
  expect_refused([] { (void)rarefy::parse_walls("0,0,1,1; 0.5,0.5,0.1"); },
                 {"wall 2", "0.5,0.5,0.1"});
  for (const auto* text : {"", "0.5,0.5", "a,b,c", "0.5,0.5,0,0", "0.5,0.5,nan"}) {
    expect_refused([&] { (void)rarefy::MazeStart::parse(text); }, {"start", "x,y,heading"});
  }
}

TEST(MazeMap, ImpossibleWallsAreRefused) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Wall good = {0.5, 0.5, 0.6, 0.6};
  const std::vector<std::pair<Wall, std::string_view>> bad = {
      {{0.5, 0.5, 0.5, 0.5}, "0.5,0.5"},   {{0.5, 0.5, 0.50001, 0.5}, "apart"},
      {{kNan, 0.5, 0.5, 0.5}, "nan"},      {{0.5, 0.5, 0.5, kNan}, "nan"},
      {{0.5, kInfinity, 0.5, 0.5}, "inf"}, {{0.5, 0.5, -11, 0.5}, "-11"},
      {{0.5, 1e300, 0.5, 0.5}, "1e+300"},
  };
  for (const auto& [wall, word] : bad) {
    const auto options = with_walls({good, wall});
    expect_refused([&] { const Maze maze(options); }, {"wall 2", word});
  }
}

TEST(MazeMap, ImpossibleStartsAreRefused) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const auto start_at = [](double x, double y, double heading = 0) {
    return [=] { const Maze maze({.start = {x, y, heading}}); };
  };
  expect_refused(start_at(0.25, 0.5), {"start", "0.25,0.5", "wall 1"});
  expect_refused(start_at(0.26, 0.5), {"start", "0.26,0.5", "wall 1"});
  expect_refused(start_at(0.25, 0.239), {"start", "wall 1"});  // its tip
  expect_refused(start_at(0.44, 0.54), {"start", "wall 7"});
  expect_refused(start_at(0.5, 0.0149), {"start", "border"});
  expect_refused(start_at(0.9901, 0.9), {"start", "border"});
  for (const double outside : {-0.1, 0.0, 1.0, 1.5, 1e300, kNan}) {
    expect_refused(start_at(outside, 0.1), {"start", "unit square"});
    expect_refused(start_at(0.1, outside), {"start", "unit square"});
  }
  expect_refused(start_at(0.15, 0.15, kNan), {"heading", "nan"});
  expect_refused(start_at(0.15, 0.15, 4.0), {"heading", "4"});
  EXPECT_NO_THROW(start_at(0.5, 0.0151)());
  EXPECT_NO_THROW(start_at(0.266, 0.55)());
  EXPECT_NO_THROW(start_at(0.15, 0.15, -3.14159265)());
  expect_refused([] { const Maze maze(with_no_wall_reading(kNan)); }, {"laser", "nan"});
}

TEST(Maze, ControllersOfAnotherLengthAreRefused) {
  const Maze maze;
  for (const std::size_t count : {0, 1, 65, 67, 132}) {
    const std::vector<double> controller(count, 0.1);
    expect_refused([&] { (void)maze.trajectory(controller); },
                   {"controller", std::to_string(count), "66"}, ErrorKind::data);
  }
}

}  // namespace
