// What the default profile is for: coverage after 5,000 iterations.
//
// One seed a domain; a seed's outcome is fixed on one instruction set. Over seeds, coverage
// on LP has a mean of 94.9 and a standard deviation of 0.3, on the arm 80.11 and 0.025, in the
// maze 97.9 and 0.6, on multi-feature LP 91.8 and 0.2: another instruction set, which amounts to
// another seed, falls below these bounds once in a hundred times for the arm, and less than
// once in a thousand for the others.
#include <gtest/gtest.h>

#include <string>

#include "rarefy/evaluators/evaluator.hpp"
#include "rarefy/experiment/driver.hpp"
#include "rarefy/experiment/metrics.hpp"
#include "rarefy/experiment/presets.hpp"

namespace rarefy {
namespace {

double percent_covered(const std::string& domain_name, const std::string& algorithm = "dds-kde",
                       std::int64_t iterations = 5000) {
  const auto config = default_config(domain_name, algorithm);
  const auto domain = make_domain(config);
  const auto search = make_search(config, domain->info(), 1);  // other tests run beside it
  ThreadsEvaluator evaluator(*domain, search->workers());
  EXPECT_EQ(drive(*search, evaluator, iterations), DriveEnd::finished);
  return 100.0 * coverage(search->archive());
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

}  // namespace
}  // namespace rarefy
