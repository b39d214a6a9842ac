// The maze against a plain scalar reference (support/maze_reference.hpp) and against vectors
// that were recorded from the original, Kheperax v0.1.0 (tests/data/maze).
#include "rarefy/domains/maze.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <map>
#include <ostream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rarefy/core/error.hpp"
#include "rarefy/core/random.hpp"
#include "rarefy/evaluators/evaluator.hpp"
#include "support/chi_square.hpp"
#include "support/every_instruction_set.hpp"
#include "support/maze_reference.hpp"

namespace {

namespace reference = maze_reference;
using rarefy::Batch;
using rarefy::BatchView;
using rarefy::Error;
using rarefy::ErrorKind;
using rarefy::Index;
using rarefy::Maze;
using rarefy::MazeMoment;
using rarefy::MazeObjective;
using rarefy::MazeOptions;
using rarefy::Wall;

// The sanitizers make everything ten times slower.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr Index kFewer = 10;
#else
constexpr Index kFewer = 1;
#endif

// Half a unit in the last place of 1 in single precision, a whole one of what is just below.
constexpr double kHalf = 0x1p-24;

// A sum of 250 squares in single precision: each addition rounds once, and so do the two wheels'
// squares and their sum.
double energy_tolerance(double energy) { return (250 + 3) * kHalf * std::abs(energy) + 1e-12; }

MazeOptions energy() {
  MazeOptions options;
  options.objective = MazeObjective::energy;
  return options;
}
MazeOptions with_walls(std::vector<Wall> walls) {
  MazeOptions options;
  options.walls = std::move(walls);
  return options;
}
MazeOptions on_map(std::string_view name) { return with_walls(rarefy::maze_map_named(name)); }
MazeOptions with_nothing_seen(double reading) {
  MazeOptions options;
  options.nothing_seen = reading;
  return options;
}

struct Evaluated {
  Batch features;
  std::vector<double> objectives;
  [[nodiscard]] double x(Index i) const { return features(i, 0); }
  [[nodiscard]] double y(Index i) const { return features(i, 1); }
};

Evaluated evaluate(const rarefy::Domain& domain, BatchView solutions) {
  Evaluated out{Batch(solutions.rows(), 2),
                std::vector<double>(static_cast<std::size_t>(solutions.rows()), -77.0)};
  domain.evaluate(solutions, out.features, out.objectives);
  return out;
}

Batch one_row(std::span<const double> controller) {
  Batch batch(0, Maze::kParameters);
  batch.append(controller);
  return batch;
}

std::vector<double> wheels_alone(double left, double right) {
  std::vector<double> controller(66, 0.0);
  controller[48] = left;
  controller[49] = right;
  return controller;
}

std::vector<reference::Episode> reference_episodes(const MazeOptions& options, BatchView rows) {
  const auto world = reference::world(options);
  std::vector<reference::Episode> out;
  for (Index i = 0; i < rows.rows(); ++i) {
    out.push_back(reference::episode(world, reference::controller(rows.row(i))));
  }
  return out;
}

// ---------------------------------------------------------------------------------------------
// The recorded vectors

struct Vector {
  std::string name;
  std::vector<double> controller;
  std::vector<std::array<double, 10>> moments;  // x, y, heading, lasers, bumpers, wheels
  double feature_x = 0, feature_y = 0, fitness = 0, tolerance = 0;
  int frozen_from = -1, compare_up_to = 0;
};

// The fields of a line; commas within quotation marks do not separate.
std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (const char letter : line) {
    if (letter == '"') {
      quoted = !quoted;
    } else if (letter == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += letter;
    }
  }
  return fields;
}

std::vector<std::vector<std::string>> read_csv(const std::string& name) {
  std::ifstream in(std::string(RAREFY_SOURCE_DIR) + "/tests/data/maze/" + name);
  std::vector<std::vector<std::string>> rows;
  std::string line;
  std::getline(in, line);  // the names of the columns
  while (std::getline(in, line)) rows.push_back(fields_of(line));
  return rows;
}

double number(const std::string& text) {
  return text.empty() ? std::numeric_limits<double>::quiet_NaN() : std::stod(text);
}

const std::vector<Vector>& vectors() {
  static const std::vector<Vector> all = [] {
    std::vector<Vector> made;
    std::map<std::string, std::size_t> place;
    for (const auto& row : read_csv("controllers.csv")) {
      place[row.at(0)] = made.size();
      made.emplace_back().name = row.at(0);
      for (std::size_t i = 1; i < row.size(); ++i) {
        made.back().controller.push_back(number(row[i]));
      }
    }
    for (const auto& row : read_csv("trajectories.csv")) {
      auto& moments = made.at(place.at(row.at(0))).moments;
      EXPECT_EQ(static_cast<double>(moments.size()), number(row.at(1)));
      for (std::size_t k = 0; k < 10; ++k) {
        if (k == 0) moments.emplace_back();
        moments.back().at(k) = number(row.at(k + 2));
      }
    }
    for (const auto& row : read_csv("outcomes.csv")) {
      auto& vector = made.at(place.at(row.at(0)));
      vector.feature_x = number(row.at(1));
      vector.feature_y = number(row.at(2));
      vector.fitness = number(row.at(5));
      vector.frozen_from = std::stoi(row.at(6));
      vector.compare_up_to = std::stoi(row.at(7));
      vector.tolerance = number(row.at(8));
    }
    return made;
  }();
  return all;
}

const Vector& vector_named(std::string_view name) {
  for (const auto& vector : vectors()) {
    if (vector.name == name) return vector;
  }
  throw std::runtime_error("no vector " + std::string(name));
}

std::array<double, 10> values_of(const MazeMoment& at) {
  return {at.x,           at.y,          at.heading,      at.laser_right,
          at.laser_ahead, at.laser_left, at.bumper_right, at.bumper_left,
          at.wheel_left,  at.wheel_right};
}

std::array<float, 10> values_of(const reference::Moment& at) {
  return {at.pose.x,    at.pose.y, at.pose.heading, at.seen.right,  at.seen.ahead,
          at.seen.left, at.felt.a, at.felt.b,       at.action.left, at.action.right};
}

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

// ---------------------------------------------------------------------------------------------
// Populations of controllers

Batch normal_controllers(Index rows, double deviation, std::uint64_t seed) {
  Batch made(rows, Maze::kParameters);
  rarefy::fill_normals({.seed = seed, .purpose = rarefy::Purpose::user}, made.values());
  for (double& value : made.values()) value *= deviation;
  return made;
}

// Evolved controllers, each with noise of its own: three that see where they go, of which one is
// chaotic.
Batch evolved_controllers(Index rows, double noise, std::uint64_t seed) {
  Batch made = normal_controllers(rows, noise, seed);
  const std::array parents = {"T08_goal_region", "T12_left_pocket", "T15_chaotic"};
  for (Index i = 0; i < rows; ++i) {
    const auto& parent = vector_named(parents.at(static_cast<std::size_t>(i % 3))).controller;
    for (std::size_t k = 0; k < parent.size(); ++k) made.row(i)[k] += parent[k];
  }
  return made;
}

// Every parameter moved to a neighbour in single precision: what no simulation in single
// precision can be expected to tell apart.
Batch twins_of(BatchView controllers, std::uint64_t seed) {
  rarefy::RandomStream random({.seed = seed, .purpose = rarefy::Purpose::user, .index = 1});
  Batch made(controllers.rows(), controllers.cols());
  for (Index i = 0; i < controllers.rows(); ++i) {
    for (Index k = 0; k < controllers.cols(); ++k) {
      const float far = random.uniform() < 0.5 ? -1e30F : 1e30F;
      made(i, k) = std::nextafter(static_cast<float>(controllers(i, k)), far);
    }
  }
  return made;
}

double count_above(const std::vector<double>& values, double limit) {
  return static_cast<double>(
      std::count_if(values.begin(), values.end(), [=](double v) { return v > limit; }));
}

// Where the part of values above the limit is `share`, their number passes this less than once in
// a million seeds: Bernstein's inequality, exp(-t^2 / (2 (variance + t / 3))) = 1e-6.
void expect_at_most(double share, const std::vector<double>& values, double limit) {
  const auto count = static_cast<double>(values.size());
  const double variance = share * (1.0 - share) * count, level = std::log(1e6);
  const double more = level / 3 + std::sqrt(level * level / 9 + 2 * level * variance);
  EXPECT_LE(count_above(values, limit), share * count + more)
      << "above " << limit << " of " << values.size();
}

double distance(const Evaluated& found, Index i, const reference::Episode& expected) {
  return std::hypot(found.x(i) - static_cast<double>(expected.feature.x),
                    found.y(i) - static_cast<double>(expected.feature.y));
}

void expect_within_the_walls(const Evaluated& found) {
  for (const double value : found.features.values()) {
    ASSERT_TRUE(value >= -0.01 && value <= 1.01) << value;
  }
}

// Robots that end at the same place have spent the same, stopped by a wall or not: an energy of
// 1e-5 is what wheels make that differ by 1.6e-5 on average. One in a hundred may come there
// on another path, or rest with its centre so close to a wall that rounding decides which
// bumper it lies at.
void expect_same_energy(const Evaluated& found, const std::vector<reference::Episode>& expected) {
  std::vector<double> frozen, moving;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_TRUE(found.objectives[i] >= -0.3125 - 1e-6 && found.objectives[i] <= 0.0);
    if (distance(found, static_cast<Index>(i), expected[i]) > 1e-6) continue;
    const double off = std::abs(found.objectives[i] - static_cast<double>(expected[i].fitness));
    (expected[i].frozen_from >= 0 ? frozen : moving).push_back(off);
  }
  ASSERT_GE(frozen.size(), expected.size() / 20);
  ASSERT_GE(moving.size(), expected.size() / 20);
  expect_at_most(0.01, frozen, 1e-5);
  expect_at_most(0.01, moving, 1e-5);
}

// Where two simulations differ visibly, which of them is where is a matter of chance. So the signs
// of the differences are as good as random ones; by Hoeffding's inequality their sum exceeds
// 5.39 times its deviation with a probability of less than 2 exp(-5.39^2 / 2) = 1e-6, for any
// number of terms.
void expect_no_lean(const Evaluated& found, const std::vector<reference::Episode>& expected) {
  std::array<double, 3> sum = {}, squares = {};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto row = static_cast<Index>(i);
    if (distance(found, row, expected[i]) < 1e-4) continue;  // rounding has its own habits
    const std::array off = {found.x(row) - static_cast<double>(expected[i].feature.x),
                            found.y(row) - static_cast<double>(expected[i].feature.y),
                            found.objectives[i] - static_cast<double>(expected[i].fitness)};
    for (std::size_t k = 0; k < 3; ++k) {
      sum.at(k) += off.at(k);
      squares.at(k) += off.at(k) * off.at(k);
    }
  }
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_LE(std::abs(sum.at(k)), 5.39 * std::sqrt(squares.at(k))) << "value " << k;
  }
}

// How far apart JAX on a CPU and JAX on a GPU end with N(0, 1) controllers.
constexpr double kUsuallyApart = 1.4e-7;  // half of them are closer
constexpr double kSeldomApart = 5.7e-6;   // 95 in 100 are closer

struct Population {
  std::string_view name;
  Batch (*make)(Index rows, double deviation, std::uint64_t seed);
  double deviation;
  double usually, seldom;  // how far apart two simulations may end
};
void PrintTo(const Population& population, std::ostream* out) { *out << population.name; }

// Of evolved controllers a third or so are chaotic, and those are compared by distribution alone.
const std::array kPopulations = {
    Population{"Normal", normal_controllers, 1.0, kUsuallyApart, kSeldomApart},
    Population{"Wide", normal_controllers, 1.5, kUsuallyApart, kSeldomApart},
    Population{"Evolved", evolved_controllers, 0.1, 1e-6, 2.0},
};
constexpr Index kRobots = kFewer > 1 ? 500 : 2000;

class MazePopulations : public testing::TestWithParam<Population> {};
INSTANTIATE_TEST_SUITE_P(Of, MazePopulations, testing::ValuesIn(kPopulations),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(MazePopulations, EndWhereTheReferenceEnds) {
  const Batch controllers = GetParam().make(kRobots, GetParam().deviation, 11);
  const auto found = evaluate(Maze(energy()), controllers);
  const auto expected = reference_episodes({}, controllers);
  const auto twins = reference_episodes({}, twins_of(controllers, 12));
  std::vector<double> apart, twins_apart;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    apart.push_back(distance(found, static_cast<Index>(i), expected[i]));
    twins_apart.push_back(static_cast<double>(reference::distance(
        {twins[i].feature.x, twins[i].feature.y}, {expected[i].feature.x, expected[i].feature.y})));
  }
  expect_at_most(0.5, apart, GetParam().usually);
  expect_at_most(0.05, apart, GetParam().seldom);
  // Some end elsewhere, by more than a tenth of a cell of the paper's grid: those whose path
  // hangs on the last bit. There must not be more of them than when the last bits of the
  // reference's own parameters are changed. If one is as likely as the other, their
  // difference passes 5.26 sqrt(n) of n in all less than once in a million seeds, by Hoeffding's
  // inequality: exp(-5.26^2 / 2) = 1e-6.
  const double elsewhere = count_above(apart, 1e-3);
  const double twins_elsewhere = count_above(twins_apart, 1e-3);
  EXPECT_LE(elsewhere, twins_elsewhere + 5.26 * std::sqrt(elsewhere + twins_elsewhere));
  RecordProperty("elsewhere", static_cast<int>(elsewhere));
  RecordProperty("twins_elsewhere", static_cast<int>(twins_elsewhere));
  expect_no_lean(found, expected);
  expect_within_the_walls(found);
  expect_same_energy(found, expected);
}

// Positions of other robots than the reference's, on a grid of 10 x 10: Pearson's test of two
// independent samples, with a false-alarm rate of 1e-6. Cells in which the smaller sample expects
// fewer than five are taken together.
TEST_P(MazePopulations, FillTheMazeAsTheReferenceDoes) {
  const Index others = 8 * kRobots;
  const auto sample = evaluate(Maze(), GetParam().make(others, GetParam().deviation, 13));
  const auto expected = reference_episodes({}, GetParam().make(kRobots, GetParam().deviation, 14));
  const auto part = [](double v) { return static_cast<std::size_t>(std::clamp(10 * v, 0., 9.)); };
  std::vector<double> ours(100), theirs(100);
  for (Index i = 0; i < others; ++i) ours[10 * part(sample.x(i)) + part(sample.y(i))] += 1;
  for (const auto& episode : expected) {
    const auto x = static_cast<double>(episode.feature.x);
    const auto y = static_cast<double>(episode.feature.y);
    theirs[10 * part(x) + part(y)] += 1;
  }
  const auto n = static_cast<double>(others), m = static_cast<double>(kRobots);
  double statistic = 0, cells = 0, rest_ours = 0, rest_theirs = 0;
  // sum of (observed - expected)^2 / expected over both samples, for one cell
  const auto add = [&](double a, double b) {
    if (a + b == 0) return;
    statistic += (a * m - b * n) * (a * m - b * n) / (n * m * (a + b));
    cells += 1;
  };
  for (std::size_t i = 0; i < 100; ++i) {
    if ((ours[i] + theirs[i]) * m / (n + m) < 5.0) {
      rest_ours += ours[i];
      rest_theirs += theirs[i];
    } else {
      add(ours[i], theirs[i]);
    }
  }
  add(rest_ours, rest_theirs);
  ASSERT_GE(cells, 5) << "too few to compare";
  EXPECT_LE(statistic, chi_square_limit(cells - 1)) << cells << " cells";
  RecordProperty("cells", static_cast<int>(cells));
  RecordProperty("statistic", std::to_string(statistic));
}

// ---------------------------------------------------------------------------------------------
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
void PrintTo(const Map& map, std::ostream* out) { *out << map.name; }

std::vector<Map> maps() {
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
          {"NothingIsMinusOne", with_nothing_seen(-1.0)}};
}

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

// ---------------------------------------------------------------------------------------------
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
    const auto first = Maze(with_nothing_seen(nothing)).trajectory(wheels_alone(0, 0)).front();
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

// Short and long episodes, mixed.
Batch mixed_controllers(Index rows) {
  Batch mixed = normal_controllers(rows, 1.5, 41);
  const Batch evolved = evolved_controllers(rows, 0.1, 42);
  for (Index i = 0; i < rows; i += 3) {
    std::copy(evolved.row(i).begin(), evolved.row(i).end(), mixed.row(i).begin());
  }
  return mixed;
}

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
    evaluator.evaluate(controllers, found.features, found.objectives);
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

// ---------------------------------------------------------------------------------------------
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
    EXPECT_EQ(rarefy::maze_objective_named(rarefy::name_of(objective)), objective);
  }
  EXPECT_THROW((void)rarefy::maze_objective_named("speed"), Error);
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
  EXPECT_EQ(MazeOptions().walls, rarefy::maze_map_named("deceptive"));
  EXPECT_EQ(rarefy::text_of(rarefy::maze_map_named("deceptive")),
            "0.25,0.25,0.25,0.75; 0.14,0.45,0,0.65; 0.25,0.75,0,0.8; 0.25,0.75,0.66,0.875; "
            "0.355,0,0.525,0.185; 0.25,0.5,0.75,0.215; 1,0.25,0.435,0.55");
  EXPECT_EQ(rarefy::text_of(rarefy::maze_map_named("pointmaze")),
            "0,0.25,0.75,0.25; 0.25,0.6,1,0.6; 0,0.25,0,1");
  EXPECT_EQ(rarefy::text_of(rarefy::maze_map_named("snake")),
            "0.2,0,0.2,0.8; 0,0.2,0,1; 0.2,0,1,0; 0.2,0.8,0.8,0.8; 0.2,0.4,0.8,0.4; "
            "0.4,0.6,1,0.6; 0.4,0.2,1,0.2");
  EXPECT_TRUE(rarefy::maze_map_named("empty").empty());
  for (const auto name : rarefy::maze_map_names()) {
    EXPECT_NO_THROW(Maze(on_map(name))) << name;
  }
  try {
    (void)rarefy::maze_map_named("decptive");
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
  const auto start = rarefy::parse_maze_start("0.5, 0.25,-1.5");
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
    expect_refused([&] { (void)rarefy::parse_maze_start(text); }, {"start", "x,y,heading"});
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
  expect_refused([] { const Maze maze(with_nothing_seen(kNan)); }, {"laser", "nan"});
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
