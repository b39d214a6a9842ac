#include "rarefy/domains/arm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <string>
#include <vector>

#include "rarefy/core/error.hpp"
#include "rarefy/tessellations/grid.hpp"
#include "support/random_batches.hpp"

namespace {

using rarefy::Arm;
using rarefy::ArmObjective;
using rarefy::Batch;
using rarefy::BatchView;
using rarefy::Error;
using rarefy::Index;

struct Evaluated {
  Batch features;
  std::vector<double> objectives;
};

Evaluated evaluate(const rarefy::Domain& domain, BatchView solutions) {
  Evaluated out{Batch(solutions.rows(), 2),
                std::vector<double>(static_cast<std::size_t>(solutions.rows()), -1.0)};
  domain.evaluate(solutions, out.features, out.objectives);
  return out;
}

// The end point, link by link, headings in extended precision.
std::pair<double, double> end_point(std::span<const double> joints) {
  long double heading = 0.0L, x = 0.0L, y = 0.0L;
  for (const double joint : joints) {
    heading += joint;
    x += std::cos(heading);
    y += std::sin(heading);
  }
  return {static_cast<double>(x), static_cast<double>(y)};
}

// 300 and 1,000 links are more than the domain takes at once.
TEST(Arm, EndsWhereFollowingItsLinksEnds) {
  for (const Index n : {1, 2, 3, 7, 8, 100, 256, 257, 300, 1000}) {
    const Arm arm({.n = n});
    for (const double reach : {0.01, 1.0, std::numbers::pi}) {
      const Batch joints = uniform_batch(30, n, -reach, reach, 3);
      const auto [features, objectives] = evaluate(arm, joints);
      for (Index i = 0; i < joints.rows(); ++i) {
        const auto [x, y] = end_point(joints.row(i));
        // Each of n headings carries the rounding of up to n additions of `reach`, and each
        // cosine 3 units in the last place.
        const auto links = static_cast<double>(n);
        const double error = links * 0x1p-52 * (3.0 + links * (1.0 + reach));
        EXPECT_NEAR(features(i, 0), x, error) << "n " << n << ", row " << i;
        EXPECT_NEAR(features(i, 1), y, error) << "n " << n << ", row " << i;
        EXPECT_EQ(objectives[static_cast<std::size_t>(i)], 1.0);
      }
    }
  }
}

TEST(Arm, KnownPosesEndWhereTheyShould) {
  const Arm arm({.n = 4});
  constexpr double kRight = std::numbers::pi / 2;
  Batch joints(4, 4);                                   // the first: stretched out, all 0
  joints(1, 0) = kRight;                                // straight up
  joints(2, 1) = joints(2, 2) = joints(2, 3) = kRight;  // a square, back to the start
  joints(3, 2) = 2 * kRight;                            // folded in the middle
  const auto features = evaluate(arm, joints).features;
  const double expected[4][2] = {{4, 0}, {0, 4}, {0, 0}, {0, 0}};
  for (Index i = 0; i < 4; ++i) {
    EXPECT_NEAR(features(i, 0), expected[i][0], 1e-14) << "pose " << i;
    EXPECT_NEAR(features(i, 1), expected[i][1], 1e-14) << "pose " << i;
  }
}

// An unbounded search may turn joints round and round. A double near a is known to a 2^-53, so
// that is what each heading may be off by, for every joint before it.
TEST(Arm, HugeAnglesAreTurnsLikeAnyOther) {
  constexpr Index kLinks = 20;
  const Arm arm({.n = kLinks});
  for (const double reach : {500.0, 2000.0, 1e5, 1e8, 1e12}) {
    const Batch joints = uniform_batch(40, kLinks, -reach, reach, 4);
    const auto features = evaluate(arm, joints).features;
    const double error = kLinks * kLinks * (reach + 1000.0) * 0x1p-52;
    for (Index i = 0; i < joints.rows(); ++i) {
      const auto [x, y] = end_point(joints.row(i));
      EXPECT_NEAR(features(i, 0), x, error) << reach;
      EXPECT_NEAR(features(i, 1), y, error) << reach;
    }
  }
}

TEST(Arm, NoAngleTakesTheEndPointOutOfReach) {
  for (const Index n : {1, 13, 100}) {
    const Arm arm({.n = n});
    const auto reach = static_cast<double>(n);
    for (const double size : {1.0, 1e4, 1e10, 1e100, 1e307}) {
      const Batch joints = uniform_batch(50, n, -size, size, 5);
      const auto features = evaluate(arm, joints).features;
      for (Index i = 0; i < joints.rows(); ++i) {
        EXPECT_LE(std::hypot(features(i, 0), features(i, 1)), reach * (1.0 + 1e-14)) << size;
      }
    }
  }
}

TEST(Arm, WholeTurnsChangeNothing) {
  const Arm arm({.n = 10});
  const Batch joints = uniform_batch(20, 10, -3, 3, 6);
  Batch turned = joints;
  for (Index i = 0; i < 20; ++i)
    turned(i, i % 10) += 2.0 * std::numbers::pi * static_cast<double>(i - 10);
  const auto before = evaluate(arm, joints).features;
  const auto after = evaluate(arm, turned).features;
  for (Index i = 0; i < 20; ++i) {
    EXPECT_NEAR(after(i, 0), before(i, 0), 1e-12);
    EXPECT_NEAR(after(i, 1), before(i, 1), 1e-12);
  }
}

// The ceiling: of a 100 x 100 grid over [-n, n]^2 only cells with a point inside the disc of
// radius n can be reached. In units of cells the disc has radius 50, and the corner of a cell
// that is nearest to the middle has whole coordinates (i, j), so the cell has such a point
// exactly when i^2 + j^2 < 50^2.
bool reachable(Index column, Index row) {
  const auto corner = [](Index k) { return k >= 50 ? k - 50 : 49 - k; };
  return corner(column) * corner(column) + corner(row) * corner(row) < 50 * 50;
}

TEST(Arm, EightThousandAndTwentyFourCellsCanBeReached) {
  Index count = 0;
  for (Index column = 0; column < 100; ++column) {
    for (Index row = 0; row < 100; ++row) count += reachable(column, row) ? 1 : 0;
  }
  EXPECT_EQ(count, 8024);
}

// ... and every one of them is: two straight halves, bent against each other by 2a and aimed
// in between, end at a distance of n cos a.
TEST(Arm, EveryReachableCellIsReachedByAnArm) {
  for (const Index n : {10, 100}) {
    const Arm arm({.n = n});
    const rarefy::Grid grid(arm.info().feature_space, {100, 100});
    const auto radius = static_cast<double>(n);
    const double side = 2.0 * radius / 100.0;
    Batch joints(0, n);
    std::vector<Index> wanted;
    for (Index column = 0; column < 100; ++column) {
      for (Index row = 0; row < 100; ++row) {
        if (!reachable(column, row)) continue;
        wanted.push_back(column * 100 + row);
        // From the corner nearest to the middle, half of the way that is left, inwards.
        const double right = column >= 50 ? 1.0 : -1.0, up = row >= 50 ? 1.0 : -1.0;
        double x = side * static_cast<double>(column >= 50 ? column - 50 : 49 - column);
        double y = side * static_cast<double>(row >= 50 ? row - 50 : 49 - row);
        const double inwards = 0.5 * std::min(side, radius - std::hypot(x, y));
        x = right * (x + inwards);
        y = up * (y + inwards);
        const double bend = std::acos(std::hypot(x, y) / radius);
        std::vector<double> pose(static_cast<std::size_t>(n), 0.0);
        pose[0] = std::atan2(y, x) + bend;
        pose[static_cast<std::size_t>(n / 2)] = -2.0 * bend;
        joints.append(pose);
      }
    }
    const auto features = evaluate(arm, joints).features;
    std::vector<Index> reached(wanted.size());
    grid.assign(features, reached);
    EXPECT_EQ(reached, wanted) << "n " << n;
    EXPECT_EQ(std::set(reached.begin(), reached.end()).size(), 8024U);
  }
}

// And no other. A stretched arm is where rounding could carry an end point over the rim, so
// those are tried all around, with their exact directions to every corner on the rim as well.
TEST(Arm, NoOtherCellIsReached) {
  const Arm arm;
  const rarefy::Grid grid(arm.info().feature_space, {100, 100});
  Batch joints = uniform_batch(4000, 100, -0.3, 0.3, 7);
  for (Index i = 0; i < 2000; ++i) {
    for (double& joint : joints.row(i)) joint = 0.0;
    joints(i, 0) = 2.0 * std::numbers::pi * (static_cast<double>(i) + 0.37) / 2000.0;
  }
  const auto features = evaluate(arm, joints).features;
  std::vector<Index> cells(4000);
  grid.assign(features, cells);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    EXPECT_TRUE(reachable(cells[i] / 100, cells[i] % 100)) << "arm " << i << ", cell " << cells[i];
  }
}

TEST(Arm, TheEvenObjectiveIsOneLessTheVarianceOfTheJoints) {
  const Arm arm({.n = 5, .objective = ArmObjective::even});
  EXPECT_FALSE(arm.info().constant_objective);
  Batch joints(3, 5);
  for (double& joint : joints.row(0)) joint = 0.7;  // perfectly even
  joints(1, 0) = 5.0;                               // mean 1, variance (16 + 4) / 5 = 4
  for (Index k = 0; k < 5; ++k) joints(2, k) = static_cast<double>(k);  // variance 2
  const auto objectives = evaluate(arm, joints).objectives;
  EXPECT_NEAR(objectives[0], 1.0, 1e-15);
  EXPECT_NEAR(objectives[1], -3.0, 1e-14);
  EXPECT_NEAR(objectives[2], -1.0, 1e-14);
}

TEST(Arm, TheEvenObjectiveFollowsItsFormulaForAnyLength) {
  for (const Index n : {1, 2, 100, 300}) {
    const Arm arm({.n = n, .objective = ArmObjective::even});
    const Batch joints = uniform_batch(20, n, -3, 3, 8);
    const auto objectives = evaluate(arm, joints).objectives;
    for (Index i = 0; i < 20; ++i) {
      double sum = 0.0, squares = 0.0;
      for (const double joint : joints.row(i)) {
        sum += joint;
        squares += joint * joint;
      }
      const auto count = static_cast<double>(n);
      EXPECT_NEAR(objectives[static_cast<std::size_t>(i)],
                  1.0 - (squares / count - sum * sum / (count * count)), 1e-12);
    }
  }
}

TEST(Arm, TheObjectiveLeavesFeaturesAlone) {
  const Batch joints = uniform_batch(10, 100, -1, 1, 9);
  const auto constant = evaluate(Arm({.n = 100}), joints);
  const auto even = evaluate(Arm({.n = 100, .objective = ArmObjective::even}), joints);
  for (Index i = 0; i < 10; ++i) {
    EXPECT_EQ(constant.features(i, 0), even.features(i, 0));
    EXPECT_EQ(constant.features(i, 1), even.features(i, 1));
  }
}

TEST(Arm, DescribesItself) {
  const Arm arm;
  EXPECT_EQ(arm.info().name, "arm");
  EXPECT_EQ(arm.info().solution_dim, 100);
  EXPECT_EQ(arm.info().feature_space.lower, (std::vector<double>{-100, -100}));
  EXPECT_EQ(arm.info().feature_space.upper, (std::vector<double>{100, 100}));
  EXPECT_EQ(arm.info().solution_low, -std::numbers::pi);
  EXPECT_EQ(arm.info().solution_high, std::numbers::pi);
  EXPECT_TRUE(arm.info().constant_objective);
}

TEST(Arm, ImpossibleOptionsAreRefused) {
  for (const Index n : {0, -1}) {
    try {
      const Arm arm({.n = n});
      FAIL() << n;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), rarefy::ErrorKind::parameter);
      EXPECT_NE(std::string(error.what()).find(std::to_string(n)), std::string::npos);
    }
  }
  for (const auto objective : {ArmObjective::constant, ArmObjective::even}) {
    EXPECT_EQ(rarefy::named<rarefy::ArmObjective>(rarefy::name_of(objective)), objective);
  }
  EXPECT_THROW((void)rarefy::named<rarefy::ArmObjective>("odd"), Error);
}

}  // namespace
