// What the tests of the maze share: controllers, the recorded vectors, and how results are
// held against the plain scalar reference (support/maze_reference.hpp).
#pragma once

#include "rarefy/domains/maze.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
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

namespace maze_cases {

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
inline double energy_tolerance(double energy) {
  return (250 + 3) * kHalf * std::abs(energy) + 1e-12;
}

inline MazeOptions energy() {
  MazeOptions options;
  options.objective = MazeObjective::energy;
  return options;
}
inline MazeOptions with_walls(std::vector<Wall> walls) {
  MazeOptions options;
  options.walls = std::move(walls);
  return options;
}
inline MazeOptions on_map(std::string_view name) {
  return with_walls(rarefy::walls_of(rarefy::named<rarefy::MazeMap>(name)));
}
inline MazeOptions with_no_wall_reading(double reading) {
  MazeOptions options;
  options.no_wall_reading = reading;
  return options;
}

struct Evaluated {
  Batch features;
  std::vector<double> objectives;
  [[nodiscard]] double x(Index i) const { return features(i, 0); }
  [[nodiscard]] double y(Index i) const { return features(i, 1); }
};

inline Evaluated evaluate(const rarefy::Domain& domain, BatchView solutions) {
  Evaluated out{Batch(solutions.rows(), 2),
                std::vector<double>(static_cast<std::size_t>(solutions.rows()), -77.0)};
  domain.evaluate(solutions, out.features, out.objectives);
  return out;
}

inline Batch one_row(std::span<const double> controller) {
  Batch batch(0, Maze::kParameters);
  batch.append(controller);
  return batch;
}

inline std::vector<double> wheels_alone(double left, double right) {
  std::vector<double> controller(66, 0.0);
  controller[48] = left;
  controller[49] = right;
  return controller;
}

inline std::vector<reference::Episode> reference_episodes(const MazeOptions& options,
                                                          BatchView rows) {
  const auto world = reference::world(options);
  std::vector<reference::Episode> out;
  for (Index i = 0; i < rows.rows(); ++i) {
    out.push_back(reference::episode(world, reference::controller(rows.row(i))));
  }
  return out;
}

// The recorded vectors

struct Vector {
  std::string name;
  std::vector<double> controller;
  std::vector<std::array<double, 10>> moments;  // x, y, heading, lasers, bumpers, wheels
  double feature_x = 0, feature_y = 0, fitness = 0, tolerance = 0;
  int frozen_from = -1, compare_up_to = 0;
};

// The fields of a line; commas within quotation marks do not separate.
inline std::vector<std::string> fields_of(const std::string& line) {
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

inline std::vector<std::vector<std::string>> read_csv(const std::string& name) {
  std::ifstream in(std::filesystem::path(RAREFY_SOURCE_DIR "/tests/data/maze") / name);
  std::vector<std::vector<std::string>> rows;
  std::string line;
  std::getline(in, line);  // the names of the columns
  while (std::getline(in, line)) rows.push_back(fields_of(line));
  return rows;
}

inline double number(const std::string& text) {
  return text.empty() ? std::numeric_limits<double>::quiet_NaN() : std::stod(text);
}

inline const std::vector<Vector>& vectors() {
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

inline const Vector& vector_named(std::string_view name) {
  for (const auto& vector : vectors()) {
    if (vector.name == name) return vector;
  }
  throw std::runtime_error("no vector " + std::string(name));
}

inline std::array<double, 10> values_of(const MazeMoment& at) {
  return {at.x,           at.y,          at.heading,      at.laser_right,
          at.laser_ahead, at.laser_left, at.bumper_right, at.bumper_left,
          at.wheel_left,  at.wheel_right};
}

inline std::array<float, 10> values_of(const reference::Moment& at) {
  return {at.pose.x,    at.pose.y, at.pose.heading, at.seen.right,  at.seen.ahead,
          at.seen.left, at.felt.a, at.felt.b,       at.action.left, at.action.right};
}

// Populations of controllers

inline Batch normal_controllers(Index rows, double deviation, std::uint64_t seed) {
  Batch made(rows, Maze::kParameters);
  rarefy::fill_normals({.seed = seed, .purpose = rarefy::Purpose::user}, made.values());
  for (double& value : made.values()) value *= deviation;
  return made;
}

// Evolved controllers, each with noise of its own: three that see where they go, of which one is
// chaotic.
inline Batch evolved_controllers(Index rows, double noise, std::uint64_t seed) {
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
inline Batch twins_of(BatchView controllers, std::uint64_t seed) {
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

inline double count_above(const std::vector<double>& values, double limit) {
  return static_cast<double>(
      std::count_if(values.begin(), values.end(), [=](double v) { return v > limit; }));
}

// Where the part of values above the limit is `share`, their number passes this less than once in
// a million seeds: Bernstein's inequality, exp(-t^2 / (2 (variance + t / 3))) = 1e-6.
inline void expect_at_most(double share, const std::vector<double>& values, double limit) {
  const auto count = static_cast<double>(values.size());
  const double variance = share * (1.0 - share) * count, level = std::log(1e6);
  const double more = level / 3 + std::sqrt(level * level / 9 + 2 * level * variance);
  EXPECT_LE(count_above(values, limit), share * count + more)
      << "above " << limit << " of " << values.size();
}

inline double distance(const Evaluated& found, Index i, const reference::Episode& expected) {
  return std::hypot(found.x(i) - static_cast<double>(expected.feature.x),
                    found.y(i) - static_cast<double>(expected.feature.y));
}

inline void expect_within_the_walls(const Evaluated& found) {
  for (const double value : found.features.values()) {
    ASSERT_TRUE(value >= -0.01 && value <= 1.01) << value;
  }
}

// Robots that end at the same place have spent the same, stopped by a wall or not: an energy of
// 1e-5 is what wheels make that differ by 1.6e-5 on average. One in a hundred may come there
// on another path, or rest with its centre so close to a wall that rounding decides which
// bumper it lies at.
inline void expect_same_energy(const Evaluated& found,
                               const std::vector<reference::Episode>& expected) {
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
inline void expect_no_lean(const Evaluated& found,
                           const std::vector<reference::Episode>& expected) {
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

// Short and long episodes, mixed.
inline Batch mixed_controllers(Index rows) {
  Batch mixed = normal_controllers(rows, 1.5, 41);
  const Batch evolved = evolved_controllers(rows, 0.1, 42);
  for (Index i = 0; i < rows; i += 3) {
    std::copy(evolved.row(i).begin(), evolved.row(i).end(), mixed.row(i).begin());
  }
  return mixed;
}

// How far apart JAX on a CPU and JAX on a GPU end with N(0, 1) controllers.
constexpr double kUsuallyApart = 1.4e-7;  // half of them are closer
constexpr double kSeldomApart = 5.7e-6;   // 95 in 100 are closer

}  // namespace maze_cases
