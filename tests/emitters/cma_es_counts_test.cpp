// How many evaluations CMA-ES needs on known functions, held against what others measured.
//
// "Measured" are medians over 15 seeds of pycma 4.5.0 (N. Hansen's own implementation) with
// negative weights off, no bounds and no restarts, and, where noted, with the step-size
// constants of the tutorial, which are ours: c_sigma = (mueff + 2) / (n + mueff + 5) and the
// d_sigma of its table 1. A count is that of all evaluations by the end of the generation that
// reached the target.
//
// Bands. Counts of single runs scatter by 4 to 6 % of their mean for n >= 5 and by 12 % for
// n = 2. The median of 15 then has a standard error of 1.25 sd / sqrt(15): 2 % and 4 %; the
// difference of two such medians 3 % and 6 %. pycma's c_mu has a term 1/4 more than the
// tutorial's first edition, worth a few per cent. Hence 15 % (four standard errors and those
// few per cent) for n >= 5 and 25 % for n = 2. Mistakes are larger: for n = 5 and 10, c1
// applied twice costs 70 to 100 % on the ellipsoid and on Rosenbrock's function, p_c not divided
// by sigma 20 to 50 %, a wrong damping 20 to 30 % on the sphere. (A missing h_sigma costs next
// to nothing here; the update tests see it.) False alarms: below 1e-4 for each comparison; seeds
// are fixed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "rarefy/emitters/cma_es.hpp"
#include "support/minimise.hpp"

namespace rarefy {
namespace {

using minimise::Problem;

struct Runs {
  std::vector<double> counts;  // of successful runs, ascending
  int runs = 0;

  [[nodiscard]] double median() const {
    const std::size_t half = counts.size() / 2;
    return counts.size() % 2 == 1 ? counts[half] : 0.5 * (counts[half - 1] + counts[half]);
  }
  [[nodiscard]] double mean() const {
    return std::accumulate(counts.begin(), counts.end(), 0.0) / static_cast<double>(counts.size());
  }
  [[nodiscard]] int successes() const { return static_cast<int>(counts.size()); }
};

template <typename ProblemOf>
Runs run(const CmaEsOptions& options, int runs, ProblemOf&& problem_of) {
  Runs result{.counts = {}, .runs = runs};
  for (int seed = 1; seed <= runs; ++seed) {
    const auto used =
        minimise::evaluations(options, problem_of(seed), static_cast<std::uint64_t>(seed));
    if (used) result.counts.push_back(static_cast<double>(*used));
  }
  std::sort(result.counts.begin(), result.counts.end());
  return result;
}

Runs run_from(minimise::Function function, Index n, double start, double sigma0, Factor factor,
              int runs = 15) {
  return run({.dimension = n, .sigma0 = sigma0, .factor = factor, .bounds = {}}, runs, [&](int) {
    return Problem{.function = function,
                   .start = std::vector<double>(static_cast<std::size_t>(n), start)};
  });
}

std::vector<double> uniform(Index n, double low, double high, int seed) {
  std::mt19937_64 random(static_cast<std::uint64_t>(seed));
  std::uniform_real_distribution<double> draw(low, high);
  std::vector<double> result(static_cast<std::size_t>(n));
  for (double& value : result) value = draw(random);
  return result;
}

double band(Index n) { return n == 2 ? 0.25 : 0.15; }

const char* name_of(Factor factor) { return factor == Factor::cholesky ? "cholesky" : "eigen"; }

constexpr Factor kFactors[] = {Factor::cholesky, Factor::eigen};

struct Measured {
  Index n;
  double evaluations;
};

void expect_counts(minimise::Function function, double start, double sigma0,
                   std::span<const Measured> measured, Factor factor, int runs = 15) {
  for (const auto& [n, expected] : measured) {
    SCOPED_TRACE(std::string(name_of(factor)) + ", n = " + std::to_string(n));
    const auto found = run_from(function, n, start, sigma0, factor, runs);
    ASSERT_EQ(found.successes(), found.runs);
    EXPECT_NEAR(found.median(), expected, band(n) * expected);
    ::testing::Test::RecordProperty(
        std::string(name_of(factor)) + "_" + std::to_string(n),
        std::to_string(found.median()) + " of " + std::to_string(expected));
  }
}

// x0 = (1, ..., 1), sigma0 = 0.5, target 1e-9; tutorial's constants but for n = 100.
TEST(SlowCmaEs, SphereTakesAsManyEvaluationsAsMeasuredElsewhere) {
  constexpr Measured kMeasured[] = {{2, 252}, {5, 752}, {10, 1510}, {20, 2796}, {40, 5220}};
  for (const auto factor : kFactors) {
    expect_counts(minimise::sphere, 1.0, 0.5, kMeasured, factor);
  }
}

TEST(SlowCmaEs, SphereInHundredDimensionsTakesAsManyEvaluationsAsMeasuredElsewhere) {
  constexpr Measured kMeasured[] = {{100, 11730}};
  expect_counts(minimise::sphere, 1.0, 0.5, kMeasured, Factor::cholesky);
  // Counts scatter by 2 % here, so five runs say enough about the dearer decomposition.
  expect_counts(minimise::sphere, 1.0, 0.5, kMeasured, Factor::eigen, 5);
}

// The same set-up, condition 1e6.
TEST(SlowCmaEs, EllipsoidTakesAsManyEvaluationsAsMeasuredElsewhere) {
  constexpr Measured kMeasured[] = {{2, 684}, {5, 2096}, {10, 5680}};
  for (const auto factor : kFactors) {
    expect_counts(minimise::ellipsoid, 1.0, 0.5, kMeasured, factor);
  }
}

TEST(SlowCmaEs, EllipsoidOfManyDimensionsTakesAsManyEvaluationsAsMeasuredElsewhere) {
  constexpr Measured kMeasured[] = {{20, 18180}, {40, 65835}};  // n = 40: pycma's constants
  expect_counts(minimise::ellipsoid, 1.0, 0.5, kMeasured, Factor::cholesky);
  expect_counts(minimise::ellipsoid, 1.0, 0.5, kMeasured, Factor::eigen, 5);
}

// x0 = 0, sigma0 = 0.1: so close that none of the measured runs found the local optimum.
TEST(SlowCmaEs, RosenbrockTakesAsManyEvaluationsAsMeasuredElsewhere) {
  constexpr Measured kMeasured[] = {{2, 546}, {5, 2032}, {10, 5770}};
  for (const auto factor : kFactors) {
    expect_counts(minimise::rosenbrock, 0.0, 0.1, kMeasured, factor);
  }
}

TEST(SlowCmaEs, RosenbrockInTwentyDimensionsTakesAsManyEvaluationsAsMeasuredElsewhere) {
  constexpr Measured kMeasured[] = {{20, 20100}};
  for (const auto factor : kFactors) {
    expect_counts(minimise::rosenbrock, 0.0, 0.1, kMeasured, factor);
  }
}

// x0 uniform in [1, 5]^10, sigma0 = 2, 500 a generation; measured: 15 of 15 with the tutorial's
// constants (14 of 15 with pycma's), median 35,500. With a true rate of 14/15, fewer than 11
// successes have a chance of 2e-3.
TEST(SlowCmaEs, RastriginIsSolvedByAsLargeABatchAsMeasuredElsewhere) {
  for (const auto factor : kFactors) {
    SCOPED_TRACE(name_of(factor));
    const auto found =
        run({.dimension = 10, .batch = 500, .sigma0 = 2.0, .factor = factor, .bounds = {}}, 15,
            [](int seed) {
              return Problem{.function = minimise::rastrigin, .start = uniform(10, 1, 5, seed)};
            });
    EXPECT_GE(found.successes(), 11);
    EXPECT_NEAR(found.median(), 35500, 0.15 * 35500);
  }
}

// Auger, Hansen, "A restart CMA evolution strategy with increasing population size", CEC 2005,
// function 1 (shifted sphere): 1.6e3 evaluations for n = 10, 4.5e3 for n = 30, to 1e-6, from
// x0 uniform in [-100, 100]^n with sigma0 = 100; means of 25 runs, given to two digits. No
// restart was needed there, and the bounds did not matter.
// (The two figures are quoted from memory of that paper's tables, not from its text; pycma 4.5.0
// gives 1621 and 4496 in the same set-up.)
TEST(SlowCmaEs, SphereAgreesWithTheCec2005Figures) {
  constexpr Measured kPublished[] = {{10, 1600}, {30, 4500}};
  for (const auto factor : kFactors) {
    for (const auto& [n, expected] : kPublished) {
      SCOPED_TRACE(std::string(name_of(factor)) + ", n = " + std::to_string(n));
      const auto found = run(
          {.dimension = n, .sigma0 = 100.0, .factor = factor, .bounds = {}}, 25, [n = n](int seed) {
            return Problem{
                .function = minimise::sphere, .start = uniform(n, -100, 100, seed), .target = 1e-6};
          });
      ASSERT_EQ(found.successes(), 25);
      // Two digits: 3 %; twice the standard error of a mean of 25: 2 %; the rest for the
      // constants of 2005, which were older than the tutorial's.
      EXPECT_NEAR(found.mean(), expected, 0.10 * expected);
    }
  }
}

// libcmaes, https://github.com/CMA-ES/libcmaes/issues/88: means of 50 runs to 1e-8 from x0
// uniform in [-4, 4]^n with sigma0 = 1/n. That is active CMA-ES, whose negative weights change
// little on a sphere, where there is no covariance to learn (a few per cent): 15 %.
TEST(SlowCmaEs, SphereAgreesWithTheFiguresOfLibcmaes) {
  constexpr Measured kPublished[] = {{5, 730.4}, {10, 1525}, {20, 2988.48}, {40, 5779.8}};
  for (const auto& [n, expected] : kPublished) {
    SCOPED_TRACE("n = " + std::to_string(n));
    const auto found =
        run({.dimension = n, .sigma0 = 1.0 / static_cast<double>(n), .bounds = {}}, 25,
            [n = n](int seed) {
              return Problem{
                  .function = minimise::sphere, .start = uniform(n, -4, 4, seed), .target = 1e-8};
            });
    ASSERT_EQ(found.successes(), 25);
    EXPECT_NEAR(found.mean(), expected, 0.15 * expected);
  }
}

}  // namespace
}  // namespace rarefy
