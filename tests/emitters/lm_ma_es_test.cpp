#include "rarefy/emitters/lm_ma_es.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "rarefy/emitters/separable_cma_es.hpp"
#include "support/minimise.hpp"
#include "support/sanitized.hpp"

namespace {

using minimise::evaluations;
using minimise::sampling_key;
using rarefy::Batch;
using rarefy::Index;
using rarefy::LmMaEs;
using rarefy::SeparableCmaEs;

// One axis, the diagonal, a hundred times as long as the others.
double diagonal_cigar(std::span<const double> x) {
  double along = 0.0;
  for (const double value : x) along += value;
  along *= along / static_cast<double>(x.size());
  return along + 1e4 * (minimise::sphere(x) - along);
}

// A generation from known directions, by the paper's loop with matrices written out.
TEST(LmMaEs, ShapesItsSamplesByTheDirectionsItHasLearnt) {
  const Index n = 12;
  LmMaEs strategy({.dimension = n, .batch = 10});
  Batch solutions(10, n);
  std::vector<double> path(12, 0.0);
  std::vector<std::vector<double>> directions(11, std::vector<double>(12, 0.0));
  ASSERT_EQ(strategy.directions(), 4 + 7);
  const rarefy::CmaEsParameters p(n, 10);
  double sigma = strategy.sigma();
  std::vector<double> mean(12, 0.0);
  for (int generation = 0; generation < 15; ++generation) {
    const auto key = sampling_key(9, static_cast<std::uint64_t>(generation));
    strategy.ask(key, solutions);
    Batch z(10, n);
    rarefy::fill_normals(key, z.values());
    std::vector<Index> order;
    for (Index i = 0; i < 10; ++i) order.push_back((i * 3 + generation) % 10);
    std::vector<double> z_mean(12, 0.0), d_mean(12, 0.0);
    for (Index i = 0; i < 10; ++i) {
      const Index row = order[static_cast<std::size_t>(i)];
      std::vector<double> d(z.row(row).begin(), z.row(row).end());
      for (int j = 0; j < std::min(generation, 11); ++j) {
        const double c = 1.0 / (std::pow(1.5, j) * 12.0);
        const auto& m = directions[static_cast<std::size_t>(j)];
        double along = 0.0;
        for (std::size_t k = 0; k < 12; ++k) along += m[k] * d[k];
        for (std::size_t k = 0; k < 12; ++k) d[k] = (1 - c) * d[k] + c * m[k] * along;
      }
      for (std::size_t k = 0; k < 12; ++k) {
        ASSERT_NEAR(solutions(row, static_cast<Index>(k)), mean[k] + sigma * d[k], 1e-9);
        if (i >= 5) continue;
        z_mean[k] += p.weights[static_cast<std::size_t>(i)] * z(row, static_cast<Index>(k));
        d_mean[k] += p.weights[static_cast<std::size_t>(i)] * d[k];
      }
    }
    strategy.tell(solutions, order, 5);
    const double cs = std::min(1.0, 20.0 / 12.0);
    double length = 0.0;
    for (std::size_t k = 0; k < 12; ++k) {
      mean[k] += sigma * d_mean[k];
      path[k] = (1 - cs) * path[k] + std::sqrt(p.mueff * cs * (2 - cs)) * z_mean[k];
      length += path[k] * path[k];
      for (std::size_t j = 0; j < 11; ++j) {
        const double c = std::min(1.0, 10.0 / (std::pow(4.0, static_cast<double>(j)) * 12.0));
        directions[j][k] =
            (1 - c) * directions[j][k] + std::sqrt(p.mueff * c * (2 - c)) * z_mean[k];
      }
    }
    sigma *= std::exp(std::min(1.0, cs / 2 * (length / 12.0 - 1)));
    ASSERT_NEAR(strategy.sigma(), sigma, 1e-9 * sigma);
  }
}

// What the directions are for: a long axis that is not one of the coordinates'. (35,715 and 83,286
// evaluations were measured for n = 40 and 128.)
TEST(LmMaEs, LearnsALongAxis) {
  const Index n = kSanitized ? 40 : 128;
  const minimise::Problem problem = {.function = diagonal_cigar,
                                     .start = std::vector<double>(static_cast<std::size_t>(n), 1.0),
                                     .target = 1e-9,
                                     .most_evaluations = 150'000};
  LmMaEs strategy({.dimension = n});
  SeparableCmaEs separable({.dimension = n});
  EXPECT_TRUE(evaluations(strategy, problem, 1));
  EXPECT_FALSE(evaluations(separable, problem, 1));  // has no such axes
}

}  // namespace
