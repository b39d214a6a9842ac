#include "rarefy/domains/linear_projection.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "rarefy/core/error.hpp"
#include "rarefy/core/instruction_set.hpp"
#include "support/random_batches.hpp"

namespace {

using rarefy::Batch;
using rarefy::BatchView;
using rarefy::Error;
using rarefy::ErrorKind;
using rarefy::Index;
using rarefy::LinearProjection;
using rarefy::LpObjective;

struct Evaluated {
  Batch features;
  std::vector<double> objectives;
};

Evaluated evaluate(const rarefy::Domain& domain, BatchView solutions) {
  Evaluated out{Batch(solutions.rows(), domain.info().feature_dim()),
                std::vector<double>(static_cast<std::size_t>(solutions.rows()), -1.0)};
  domain.evaluate(solutions, out.features, out.objectives);
  return out;
}

double clip(double x) { return std::abs(x) <= 5.12 ? x : 5.12 / x; }

double sphere(std::span<const double> x) {
  double sum = 0.0;
  for (const double value : x) sum += (value - 2.048) * (value - 2.048);
  return sum;
}

double rastrigin(std::span<const double> x) {
  double sum = 10.0 * static_cast<double>(x.size());
  for (const double value : x) {
    const double t = value - 2.048;
    sum += t * t - 10.0 * std::cos(2.0 * std::numbers::pi * t);
  }
  return sum;
}

const std::vector<std::pair<Index, Index>>& shapes() {
  static const std::vector<std::pair<Index, Index>> all = {
      {1, 1}, {2, 2}, {2, 1}, {6, 3}, {10, 2}, {15, 5}, {100, 2}, {100, 10}, {100, 100}, {343, 7}};
  return all;
}

TEST(LinearProjection, FeaturesAreSumsOfClippedParts) {
  for (const auto& [n, m] : shapes()) {
    const LinearProjection domain({.n = n, .m = m});
    // Inside the range, outside, and far outside.
    for (const double reach : {5.0, 12.0, 1e6}) {
      const Batch solutions = uniform_batch(40, n, -reach, reach, 3);
      const auto [features, objectives] = evaluate(domain, solutions);
      ASSERT_EQ(features.cols(), m);
      const Index width = n / m;
      for (Index i = 0; i < solutions.rows(); ++i) {
        for (Index j = 0; j < m; ++j) {
          double expected = 0.0;
          for (Index k = 0; k < width; ++k) expected += clip(solutions(i, j * width + k));
          // A sum of `width` numbers of at most 5.12, in another order.
          ASSERT_NEAR(features(i, j), expected, static_cast<double>(width * width) * 5.12 * 0x1p-52)
              << "n " << n << ", m " << m << ", row " << i << ", feature " << j;
        }
        EXPECT_EQ(objectives[static_cast<std::size_t>(i)], 1.0);
      }
    }
  }
}

TEST(LinearProjection, TheRangeItselfIsInside) {
  const LinearProjection domain({.n = 1, .m = 1});
  Batch solutions(4, 1);
  solutions(0, 0) = 5.12;
  solutions(1, 0) = -5.12;
  solutions(2, 0) = std::nextafter(5.12, 6.0);  // one step further, and it falls back to 1
  solutions(3, 0) = -512.0;
  const auto features = evaluate(domain, solutions).features;
  EXPECT_EQ(features(0, 0), 5.12);
  EXPECT_EQ(features(1, 0), -5.12);
  EXPECT_NEAR(features(2, 0), 1.0, 1e-15);
  EXPECT_EQ(features(3, 0), -0.01);
}

TEST(LinearProjection, FeaturesStayWithinTheFeatureSpace) {
  for (const auto& [n, m] : shapes()) {
    const LinearProjection domain({.n = n, .m = m});
    const auto& space = domain.info().feature_space;
    ASSERT_EQ(space.dim(), m);
    Batch solutions(5, n);
    const double all[] = {5.12, -5.12, 1e308, -1e308, 5e-324};
    for (Index i = 0; i < 5; ++i) {
      for (double& value : solutions.row(i)) value = all[i];
    }
    const auto features = evaluate(domain, solutions).features;
    for (Index j = 0; j < m; ++j) {
      const auto at = static_cast<std::size_t>(j);
      EXPECT_DOUBLE_EQ(space.upper[at], 5.12 * static_cast<double>(n / m));
      EXPECT_DOUBLE_EQ(space.lower[at], -5.12 * static_cast<double>(n / m));
      // The corners of the box are the corners of feature space, up to rounding of the sum.
      EXPECT_NEAR(features(0, j), space.upper[at], 1e-13 * space.upper[at]);
      EXPECT_NEAR(features(1, j), space.lower[at], 1e-13 * space.upper[at]);
      EXPECT_NEAR(features(2, j), 0.0, 1e-300);
      EXPECT_NEAR(features(3, j), 0.0, 1e-300);
      EXPECT_NEAR(features(4, j), 0.0, 1e-300);
    }
  }
}

TEST(LinearProjection, SphereIsAHundredAtTheOptimumAndZeroInTheCorner) {
  for (const auto& [n, m] : shapes()) {
    const LinearProjection domain({.n = n, .m = m, .objective = LpObjective::sphere});
    Batch solutions(3, n);
    for (double& value : solutions.row(0)) value = 0.4 * 5.12;
    for (double& value : solutions.row(1)) value = -5.12;
    for (double& value : solutions.row(2)) value = 0.0;
    const auto objectives = evaluate(domain, solutions).objectives;
    EXPECT_EQ(objectives[0], 100.0);
    EXPECT_EQ(objectives[1], 0.0);
    EXPECT_NEAR(objectives[2], 100.0 * (1.0 - std::pow(0.4 / 1.4, 2.0)), 1e-10);
    EXPECT_FALSE(domain.info().constant_objective);
  }
}

TEST(LinearProjection, RastriginIsAHundredAtTheOptimumAndZeroInTheCorner) {
  for (const auto& [n, m] : shapes()) {
    const LinearProjection domain({.n = n, .m = m, .objective = LpObjective::rastrigin});
    Batch solutions(3, n);
    for (double& value : solutions.row(0)) value = 0.4 * 5.12;
    for (double& value : solutions.row(1)) value = -5.12;
    for (double& value : solutions.row(2)) value = 0.4 * 5.12 + 1.0;  // the next ripple
    const auto objectives = evaluate(domain, solutions).objectives;
    EXPECT_NEAR(objectives[0], 100.0, 1e-12);  // a cosine may be off by 3 units
    EXPECT_NEAR(objectives[1], 0.0, 1e-12);
    EXPECT_LT(objectives[2], 100.0);
    EXPECT_GT(objectives[2], 97.0);
  }
}

TEST(LinearProjection, ObjectivesFollowTheirFormulas) {
  for (const auto& [n, m] : shapes()) {
    const std::vector<double> corner(static_cast<std::size_t>(n), -5.12);
    const LinearProjection round({.n = n, .m = m, .objective = LpObjective::sphere});
    const LinearProjection rippled({.n = n, .m = m, .objective = LpObjective::rastrigin});
    for (const double reach : {5.12, 50.0, 5000.0}) {
      const Batch solutions = uniform_batch(40, n, -reach, reach, 4);
      const auto spheres = evaluate(round, solutions).objectives;
      const auto rastrigins = evaluate(rippled, solutions).objectives;
      for (Index i = 0; i < solutions.rows(); ++i) {
        const auto at = static_cast<std::size_t>(i);
        const double expected = 100.0 * (1.0 - sphere(solutions.row(i)) / sphere(corner));
        EXPECT_NEAR(spheres[at], expected, 1e-12 * (100.0 + std::abs(expected)));
        const double rippling = 100.0 * (1.0 - rastrigin(solutions.row(i)) / rastrigin(corner));
        // A cosine of 2 pi t is known no better than t itself: 2 pi t 2^-52, times 10.
        EXPECT_NEAR(rastrigins[at], rippling, 1e-11 * (100.0 + std::abs(rippling)));
      }
    }
  }
}

// An unbounded search may go anywhere. The ripples may be lost there, the bowl must not be.
TEST(LinearProjection, RastriginFarOutIsStillABowl) {
  const LinearProjection domain({.n = 4, .m = 2, .objective = LpObjective::rastrigin});
  const std::vector<double> corner(4, -5.12);
  for (const double far : {1e4, 1e6, 1e9, 1e15, 1e50, 1e150}) {
    for (const double sign : {1.0, -1.0}) {
      Batch solution(1, 4);
      for (double& value : solution.row(0)) value = sign * far;
      const double objective = evaluate(domain, solution).objectives[0];
      const double bowl = 100.0 * (1.0 - 4.0 * far * far / rastrigin(corner));
      EXPECT_NEAR(objective, bowl, std::abs(bowl) * (5.0 / far + 1e-9)) << sign * far;
    }
  }
}

TEST(LinearProjection, RowsDoNotDependOnEachOther) {
  const LinearProjection domain({.n = 100, .m = 10, .objective = LpObjective::rastrigin});
  const Batch solutions = uniform_batch(25, 100, -8, 8, 5);
  const auto all = evaluate(domain, solutions);
  for (Index i = 0; i < 25; ++i) {
    const auto one = evaluate(domain, solutions.view().rows(i, 1));
    EXPECT_EQ(one.objectives[0], all.objectives[static_cast<std::size_t>(i)]);
    for (Index j = 0; j < 10; ++j) EXPECT_EQ(one.features(0, j), all.features(i, j));
  }
}

TEST(LinearProjection, EveryInstructionSetAgreesToRounding) {
  const auto before = rarefy::instruction_set();
  const LinearProjection domain({.n = 99, .m = 3, .objective = LpObjective::rastrigin});
  const Batch solutions = uniform_batch(30, 99, -8, 8, 6);
  const auto expected = evaluate(domain, solutions);
  for (const auto set : {rarefy::InstructionSet::baseline, rarefy::InstructionSet::avx2,
                         rarefy::InstructionSet::avx512}) {
    if (set > rarefy::best_instruction_set()) continue;
    rarefy::pin_instruction_set(set);
    const auto found = evaluate(domain, solutions);
    for (Index i = 0; i < 30; ++i) {
      for (Index j = 0; j < 3; ++j)
        EXPECT_NEAR(found.features(i, j), expected.features(i, j), 1e-12);
      EXPECT_NEAR(found.objectives[static_cast<std::size_t>(i)],
                  expected.objectives[static_cast<std::size_t>(i)], 1e-11);
    }
  }
  rarefy::pin_instruction_set(before);
}

TEST(LinearProjection, DescribesItself) {
  const LinearProjection lp;
  EXPECT_EQ(lp.info().name, "lp");
  EXPECT_EQ(lp.info().solution_dim, 100);
  EXPECT_EQ(lp.info().feature_dim(), 2);
  EXPECT_DOUBLE_EQ(lp.info().feature_space.upper[1], 256.0);
  EXPECT_EQ(lp.info().solution_low, -5.12);
  EXPECT_EQ(lp.info().solution_high, 5.12);
  EXPECT_TRUE(lp.info().constant_objective);
  const LinearProjection multi({.n = 100, .m = 10});
  EXPECT_EQ(multi.info().name, "multi-lp");
  EXPECT_EQ(multi.info().feature_names.size(), 10U);
  EXPECT_DOUBLE_EQ(multi.info().feature_space.lower[9], -51.2);
}

TEST(LinearProjection, FeaturesThatDoNotDivideTheSolutionAreRefused) {
  for (const auto& [n, m] :
       {std::pair<Index, Index>{100, 3}, {100, 0}, {0, 1}, {0, 0}, {-4, 2}, {4, -2}, {5, 10}}) {
    try {
      const LinearProjection domain({.n = n, .m = m});
      FAIL() << "n " << n << ", m " << m;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::parameter);
      EXPECT_NE(std::string(error.what()).find("m = " + std::to_string(m)), std::string::npos);
    }
  }
}

TEST(LinearProjection, ObjectivesHaveNames) {
  for (const auto objective :
       {LpObjective::constant, LpObjective::sphere, LpObjective::rastrigin}) {
    EXPECT_EQ(rarefy::named<rarefy::LpObjective>(rarefy::name_of(objective)), objective);
  }
  EXPECT_THROW((void)rarefy::named<rarefy::LpObjective>("ackley"), Error);
}

}  // namespace
