// What the default profile is for: coverage after 5,000 iterations.
//
// One seed a domain; a seed's outcome is fixed on one instruction set. Over seeds, coverage
// on LP has a mean of 94.9 and a standard deviation of 0.3, on the arm 80.11 and 0.025, in the
// maze 97.9 and 0.6, on multi-feature LP 91.8 and 0.2: another instruction set, which amounts to
// another seed, falls below these bounds once in a hundred times for the arm, and less than
// once in a thousand for the others.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "rarefy/archives/metrics.hpp"
#include "rarefy/evaluators/evaluator.hpp"
#include "rarefy/experiment/domain_table.hpp"
#include "rarefy/experiment/make_search.hpp"
#include "rarefy/runs/drive.hpp"

namespace rarefy {
namespace {

double percent_covered(const Config& config, std::int64_t iterations) {
  const auto domain = make_domain(config);
  const auto search = make_search(config, domain->info(), 1);  // other tests run beside it
  ThreadsEvaluator evaluator(*domain, search->workers());
  EXPECT_EQ(drive(*search, evaluator, iterations), DriveEnd::finished);
  return 100.0 * coverage(search->archive());
}

double percent_covered(const std::string& domain, const std::string& algorithm = "dds-kde",
                       std::int64_t iterations = 5000) {
  return percent_covered(default_config(domain, algorithm), iterations);
}

struct Sample {
  double mean, variance_of_mean;
};

Sample over_seeds(Config config, std::int64_t iterations) {
  constexpr int kSeeds = 10;
  double sum = 0, squares = 0;
  for (int i = 0; i < kSeeds; ++i) {
    config.seed = 1000 + i;
    const double covered = percent_covered(config, iterations);
    sum += covered;
    squares += covered * covered;
  }
  const double mean = sum / kSeeds;
  return {mean, (squares / kSeeds - mean * mean) / (kSeeds - 1)};
}

TEST(SlowCoverage, OfTheLinearProjectionIsAbove93Percent) {
  EXPECT_GE(percent_covered("lp"), 93.0);
}

// The ceiling is 80.24: the end point of the arm cannot leave a disc.
TEST(SlowCoverage, OfTheArmIsAbove8005Percent) {
  const double covered = percent_covered("arm");
  EXPECT_GE(covered, 80.05);
  EXPECT_LE(covered, 80.24);
}

TEST(SlowCoverage, OfTheMazeIsAbove96Percent) { EXPECT_GE(percent_covered("maze"), 96.0); }

TEST(SlowCoverage, OfTheMultiFeatureProjectionIsAbove90Percent) {
  EXPECT_GE(percent_covered("multi-lp"), 90.0);
}

// A flow takes longer: a tenth of the way. Over seeds the mean is 60.6 then, and the standard
// deviation 1.9: another seed falls below the bound less than once in a thousand times.
TEST(SlowCoverage, OfTheLinearProjectionByAFlowIsAbove54PercentAfter500Iterations) {
  EXPECT_GE(percent_covered("lp", "dds-cnf", 500), 54.0);
}

// What is faster must not be another search. Ten seeds each; by Welch's test with 18 degrees of
// freedom the means are that far apart once in ten thousand times if nothing has changed.
void expect_the_same(const Config& fast, const Config& exact, std::int64_t iterations) {
  constexpr double kLimit = 4.97;
  const auto a = over_seeds(fast, iterations);
  const auto b = over_seeds(exact, iterations);
  const double error = std::sqrt(a.variance_of_mean + b.variance_of_mean);
  EXPECT_GT(error, 0.0);
  EXPECT_NEAR(a.mean, b.mean, kLimit * error) << a.mean << " and " << b.mean;
}

TEST(SlowCoverage, IsTheSameByPanelsAndByDirectSums) {
  for (const std::string domain : {"lp", "maze"}) {
    auto fast = default_config(domain);
    auto exact = fast;
    fast.density.kde.method = KdeMethod::panels;
    exact.density.kde.method = KdeMethod::direct;
    expect_the_same(fast, exact, domain == "lp" ? 400 : 60);
  }
}

TEST(SlowCoverage, IsTheSameByCholeskyAndByEigenFactors) {
  auto fast = default_config("lp");
  auto exact = fast;
  exact.emitters.cma_es.factor = Factor::eigen;
  expect_the_same(fast, exact, 100);
}

}  // namespace
}  // namespace rarefy
