// The published relatives of CMA-ES, against plain loops of what is written down about the software
// they imitate.
#include "rarefy/compat/published_strategies.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "rarefy/core/random.hpp"

namespace {

using rarefy::Batch;
using rarefy::Index;
using Vector = std::vector<double>;

rarefy::StreamKey relative_key(std::uint64_t iteration) {
  return {.seed = 8, .purpose = rarefy::Purpose::sampling, .index = 0, .iteration = iteration};
}

struct Weights {
  explicit Weights(Index parents) {
    double sum = 0, squares = 0;
    for (Index i = 1; i <= parents; ++i) {
      w.push_back(std::log((static_cast<double>(parents) + 0.5) / static_cast<double>(i)));
      sum += w.back();
    }
    for (double& one : w) {
      one /= sum;
      squares += one * one;
    }
    mueff = 1 / squares;
  }
  Vector w;
  double mueff;
};

// Far from the optimum of a slope, then near that of a sphere.
std::vector<Index> ranked_rows(const Batch& solutions, bool slope) {
  Vector values;
  for (Index i = 0; i < solutions.rows(); ++i) {
    double sum = 0;
    for (const double x : solutions.view().row(i)) sum += slope ? x : x * x;
    values.push_back(sum);
  }
  std::vector<Index> order(values.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index a, Index b) {
    return values[static_cast<std::size_t>(a)] < values[static_cast<std::size_t>(b)];
  });
  return order;
}

// Batches even and odd; numbers of parents that change.
TEST(PublishedSeparableCmaEs, FollowsTheDescription) {
  constexpr std::size_t kN = 7;
  constexpr double n = 7.0;
  bool stalled = false, moved = false;
  for (const Index lambda : {8, 9, 20}) {
    rarefy::compat::PublishedSeparableCmaEs es(
        {.dimension = 7, .batch = lambda, .sigma0 = 0.6, .bounds = {}});
    Vector mean(kN, 0.0), c(kN, 1.0), pc(kN, 0.0), ps(kN, 0.0);
    double sigma = 0.6;
    Batch x(lambda, 7);
    for (int g = 1; g <= 25; ++g) {
      es.ask(relative_key(static_cast<std::uint64_t>(g)), x);
      const auto order = ranked_rows(x, g < 12);
      const Index parents = g % 3 == 0 ? lambda : lambda / 2;
      es.tell(x, order, parents);
      const Weights p(parents);
      const double cs = (p.mueff + 2) / (n + p.mueff + 5);
      const double cc = (1 + 1 / n + p.mueff / n) / (std::sqrt(n) + 1 / n + 2 * p.mueff / n);
      const double c1 =
          2 / ((n + 1.3) * (n + 1.3) + p.mueff) / (n + 2 * std::sqrt(n) + p.mueff / n);
      const double cmu =
          std::min(1 - c1, (p.mueff + 1 / p.mueff - 2) / (n + 4 * std::sqrt(n) + p.mueff / 2));
      const double damping = 1 + 2 * std::max(0.0, std::sqrt((p.mueff - 1) / (n + 1)) - 1) + cs;
      Vector next(kN, 0.0), spread(kN, 0.0);
      for (std::size_t i = 0; i < p.w.size(); ++i) {
        for (std::size_t d = 0; d < kN; ++d) {
          const double value = x.view().row(order[i])[d];
          next[d] += p.w[i] * value;
          spread[d] += p.w[i] * (value - mean[d]) * (value - mean[d]);
        }
      }
      double length = 0;
      for (std::size_t d = 0; d < kN; ++d) {
        ps[d] = (1 - cs) * ps[d] +
                std::sqrt(cs * (2 - cs) * p.mueff) / sigma * (next[d] - mean[d]) / std::sqrt(c[d]);
        length += ps[d] * ps[d];
      }
      const bool hsig = length / n / (1 - std::pow(1 - cs, 2 * g)) < 2 + 4 / (n + 1);
      stalled = stalled || !hsig;
      moved = moved || hsig;
      for (std::size_t d = 0; d < kN; ++d) {
        pc[d] = (1 - cc) * pc[d] +
                (hsig ? std::sqrt(cc * (2 - cc) * p.mueff) * (next[d] - mean[d]) : 0.0);
        const double c1a = c1 * (1 - (hsig ? 0.0 : cc * (2 - cc)));
        c[d] = c[d] * (1 - c1a - cmu) + c1 * c1 * pc[d] * pc[d] + cmu * spread[d] / sigma / sigma;
      }
      sigma *= std::exp(std::min(1.0, cs / damping * (length / n - 1) / 2));
      mean = next;
      ASSERT_NEAR(es.sigma(), sigma, 1e-12 * g * sigma) << lambda << ", " << g;
      for (std::size_t d = 0; d < kN; ++d) {
        ASSERT_NEAR(es.mean()[d], mean[d], 1e-12 * g * (1 + std::abs(mean[d])));
        ASSERT_NEAR(es.variances()[d], c[d], 1e-12 * g * c[d]) << lambda << ", " << g;
      }
    }
  }
  EXPECT_TRUE(stalled && moved);
}

// The rate of the step-size path passes 1 where the batch is more than half of the dimension.
TEST(PublishedLmMaEs, DoesNotLimitItsRates) {
  constexpr std::size_t kN = 10;
  constexpr Index kLambda = 9;
  rarefy::compat::PublishedLmMaEs es({.dimension = 10, .batch = kLambda, .bounds = {}}, 4);
  rarefy::LmMaEs limited({.dimension = 10, .batch = kLambda, .bounds = {}}, 4);
  Batch x(kLambda, 10), z(kLambda, 10);
  const Weights p(kLambda / 2);
  const double rate = 2.0 * 9 / 10;
  double sigma = es.sigma();
  Vector path(kN, 0.0);
  for (std::uint64_t g = 0; g < 6; ++g) {
    es.ask(relative_key(g), x);
    rarefy::fill_normals(relative_key(g), z.values());
    const auto order = ranked_rows(x, true);
    es.tell(x, order, kLambda / 2);
    double length = 0;
    for (std::size_t d = 0; d < kN; ++d) {
      double step = 0;
      for (std::size_t i = 0; i < p.w.size(); ++i) step += p.w[i] * z.view().row(order[i])[d];
      path[d] = (1 - rate) * path[d] + std::sqrt(rate * (2 - rate) * p.mueff) * step;
      length += path[d] * path[d];
    }
    sigma *= std::exp(rate / 2 * (length / 10 - 1));
    ASSERT_NEAR(es.sigma(), sigma, 1e-11 * sigma) << g;
  }
  limited.ask(relative_key(0), x);
  const auto order = ranked_rows(x, true);
  limited.tell(x, order, kLambda / 2);
  rarefy::compat::PublishedLmMaEs other({.dimension = 10, .batch = kLambda, .bounds = {}}, 4);
  other.ask(relative_key(0), x);
  other.tell(x, order, kLambda / 2);
  EXPECT_NE(limited.sigma(), other.sigma());
}

}  // namespace
