#include "rarefy/emitters/separable_cma_es.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/minimise.hpp"
#include "support/sanitized.hpp"

namespace {

using minimise::evaluations;
using minimise::sampling_key;
using rarefy::Batch;
using rarefy::Index;
using rarefy::SeparableCmaEs;

// One generation, by the formulas of Ros and Hansen written out for each value.
TEST(SeparableCmaEs, FollowsItsEquations) {
  SeparableCmaEs strategy({.dimension = 5, .batch = 8, .sigma0 = 0.3});
  strategy.reset(std::vector<double>(5, 1.0));
  Batch solutions(8, 5);
  strategy.ask(sampling_key(3, 0), solutions);
  const std::vector<Index> order = {4, 2, 7, 1, 0, 3, 5, 6};
  strategy.tell(solutions, order, 4);
  const rarefy::CmaEsParameters p(5, 8);
  const double c1 = p.c1 * 7 / 3, cmu = p.cmu * 7 / 3;
  ASSERT_LT(c1 + cmu, 1.0);
  double length = 0.0;
  for (Index d = 0; d < 5; ++d) {
    double step = 0.0, spread = 0.0;
    for (std::size_t i = 0; i < 4; ++i) {
      const double y = (solutions(order[i], d) - 1.0) / 0.3;
      step += p.weights[i] * y;
      spread += p.weights[i] * y * y;
    }
    const auto at = static_cast<std::size_t>(d);
    EXPECT_NEAR(strategy.mean()[at], 1.0 + 0.3 * step, 1e-14);
    const double path = std::sqrt(p.csigma * (2 - p.csigma) * p.mueff) * step;
    length += path * path;
    const double path_c = std::sqrt(p.cc * (2 - p.cc) * p.mueff) * step;
    EXPECT_NEAR(strategy.variances()[at], 1 - c1 - cmu + c1 * path_c * path_c + cmu * spread,
                1e-13);
  }
  const double change = p.csigma / p.dsigma * (std::sqrt(length) / p.chi_n - 1);
  EXPECT_NEAR(strategy.sigma(), 0.3 * std::exp(change), 1e-14);
}

// What it is for: axes of different length, found n / 3 times as fast as by a full matrix.
TEST(SeparableCmaEs, IsFasterThanAFullMatrixWhereAxesAreThoseOfTheProblem) {
  const Index n = kSanitized ? 20 : 40;
  const minimise::Problem problem = {
      .function = minimise::ellipsoid,
      .start = std::vector<double>(static_cast<std::size_t>(n), 1.0)};
  SeparableCmaEs separable({.dimension = n});
  const auto few = evaluations(separable, problem, 1);
  const auto many = evaluations(rarefy::CmaEsOptions{.dimension = n, .sigma0 = 0.5}, problem, 1);
  ASSERT_TRUE(few && many);
  EXPECT_LT(2 * *few, *many);
}

}  // namespace
