// What ask() draws: its distribution, mirrored pairs, lazily refreshed factors.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "rarefy/compat/published.hpp"
#include "rarefy/core/random.hpp"
#include "rarefy/emitters/cma_es.hpp"
#include "support/minimise.hpp"
#include "support/naive_matrix.hpp"

namespace rarefy {
namespace {

using minimise::sampling_key;
using naive::Matrix;
using naive::Vector;

constexpr Factor kFactors[] = {Factor::cholesky, Factor::eigen};

void adapt(CmaEs& optimizer, minimise::Function function, int generations, std::uint64_t seed = 1) {
  const Index batch = optimizer.options().batch;
  Batch solutions(batch, optimizer.options().dimension);
  for (int g = 0; g < generations; ++g) {
    optimizer.ask(sampling_key(seed, static_cast<std::uint64_t>(g)), solutions);
    std::vector<double> values;
    for (Index i = 0; i < batch; ++i) values.push_back(function(solutions.view().row(i)));
    optimizer.tell(solutions, minimise::ranked(values));
  }
}

// After adaptation to an ellipsoid, 20,000 samples in the coordinates in which they should be
// standard normal: means, variances and covariances within 5 standard errors (1, sqrt 2 and
// 1 over sqrt N), and the number of squared lengths below the median and the 95 % point of
// the chi-square distribution with 5 degrees. 22 numbers for each case: false alarms 5e-5 in all.
TEST(CmaEsSampling, SamplesHaveTheCovarianceThatTheStateClaims) {
  constexpr Index kN = 5, kBatch = 20;
  constexpr int kAsks = 1000;
  constexpr double kCount = kAsks * kBatch;
  for (const auto factor : kFactors) {
    for (const bool mirrored : {false, true}) {
      SCOPED_TRACE(std::string(factor == Factor::eigen ? "eigen" : "cholesky") +
                   (mirrored ? ", mirrored" : ""));
      CmaEs optimizer({.dimension = kN,
                       .batch = kBatch,
                       .sigma0 = 0.5,
                       .mirrored = mirrored,
                       .factor = factor,
                       .decompose_every = 1,
                       .bounds = {}});
      optimizer.reset(Vector(kN, 1.0));
      adapt(optimizer, minimise::ellipsoid, 60);
      const Matrix c = naive::from(optimizer.covariance());
      ASSERT_GT(naive::condition(c), 1e3) << "nothing was adapted";
      const Matrix l = naive::cholesky(c);

      Vector sum(kN, 0.0);
      Matrix products = naive::zeros(kN);
      double below_median = 0, below_tail = 0;
      Batch solutions(kBatch, kN);
      for (int ask = 0; ask < kAsks; ++ask) {
        optimizer.ask(sampling_key(77, static_cast<std::uint64_t>(ask)), solutions);
        for (Index i = 0; i < kBatch; ++i) {
          Vector y(kN);
          for (std::size_t d = 0; d < kN; ++d) {
            y[d] = (solutions.view().row(i)[d] - optimizer.mean()[d]) / optimizer.sigma();
          }
          const Vector z = naive::forward_substitution(l, y);
          for (std::size_t a = 0; a < kN; ++a) {
            sum[a] += z[a];
            for (std::size_t b = 0; b < kN; ++b) products[a][b] += z[a] * z[b];
          }
          below_median += naive::dot(z, z) < 4.351460191 ? 1 : 0;
          below_tail += naive::dot(z, z) < 11.07049769 ? 1 : 0;
        }
      }
      // Of a mirrored pair only one is independent; the other repeats its products.
      const double independent = mirrored ? kCount / 2 : kCount;
      for (std::size_t a = 0; a < kN; ++a) {
        if (mirrored) {
          EXPECT_NEAR(sum[a], 0.0, 1e-6);
        } else {
          EXPECT_NEAR(sum[a] / kCount, 0.0, 5 / std::sqrt(kCount));
        }
        for (std::size_t b = 0; b < kN; ++b) {
          EXPECT_NEAR(products[a][b] / kCount, a == b ? 1.0 : 0.0,
                      5 * std::sqrt((a == b ? 2.0 : 1.0) / independent));
        }
      }
      EXPECT_NEAR(below_median / kCount, 0.5, 5 * std::sqrt(0.25 / independent));
      EXPECT_NEAR(below_tail / kCount, 0.95, 5 * std::sqrt(0.95 * 0.05 / independent));
    }
  }
}

TEST(CmaEsSampling, MirroredRowsLieOppositeEachOther) {
  for (const auto factor : kFactors) {
    for (const Index batch : {2, 3, 8, 9, 37}) {
      SCOPED_TRACE(batch);
      CmaEs mirrored({.dimension = 6,
                      .batch = batch,
                      .sigma0 = 0.5,
                      .mirrored = true,
                      .factor = factor,
                      .bounds = {}});
      Batch solutions(batch, 6);
      // About the origin the two are the same number with two signs.
      mirrored.ask(sampling_key(3, 1), solutions);
      for (Index i = 0; i + 1 < batch; i += 2) {
        for (Index d = 0; d < 6; ++d) ASSERT_EQ(solutions(i, d), -solutions(i + 1, d));
      }
      // Elsewhere, after adaptation, mean + s and mean - s are rounded once each.
      mirrored.reset(Vector{5, -3, 0.1, 100, -7, 2});
      adapt(mirrored, minimise::ellipsoid, 20);
      mirrored.ask(sampling_key(3, 2), solutions);
      for (Index i = 0; i + 1 < batch; i += 2) {
        for (Index d = 0; d < 6; ++d) {
          const double mean = mirrored.mean()[static_cast<std::size_t>(d)];
          const double up = solutions(i, d), down = solutions(i + 1, d);
          const double ulp = std::numeric_limits<double>::epsilon() *
                             std::max({std::abs(up), std::abs(down), std::abs(mean)});
          ASSERT_NEAR(up + down, 2 * mean, 2 * ulp) << i << ", " << d;
          ASSERT_NE(up, down);
        }
      }
    }
  }
}

// Row 2i of a mirrored batch, and the last one of an odd batch, is what row i of an unmirrored
// batch would have been: nothing is drawn twice, nothing is left out.
TEST(CmaEsSampling, MirroringReflectsTheFirstHalfOfThePlainSamples) {
  for (const auto factor : kFactors) {
    for (const Index batch : {7, 8}) {
      CmaEsOptions options = {
          .dimension = 5, .batch = batch, .sigma0 = 0.8, .factor = factor, .bounds = {}};
      CmaEs plain(options);
      options.mirrored = true;
      CmaEs mirrored(options);
      const Vector start = {1, 2, 3, 4, 5};
      plain.reset(start);
      mirrored.reset(start);
      Batch a(batch, 5), b(batch, 5);
      for (std::uint64_t g = 0; g < 25; ++g) {
        plain.ask(sampling_key(9, g), a);
        mirrored.ask(sampling_key(9, g), b);
        for (Index i = 0; 2 * i < batch; ++i) {
          for (Index d = 0; d < 5; ++d) {
            ASSERT_NEAR(b(2 * i, d), a(i, d), 1e-12 * (1 + std::abs(a(i, d)))) << g;
          }
        }
        // The same data for both, so that they stay in the same state.
        std::vector<double> values;
        for (Index i = 0; i < batch; ++i) values.push_back(minimise::ellipsoid(b.view().row(i)));
        plain.tell(b, minimise::ranked(values));
        mirrored.tell(b, minimise::ranked(values));
      }
    }
  }
}

TEST(CmaEsSampling, DependsOnItsKeyAlone) {
  for (const auto factor : kFactors) {
    CmaEs optimizer({.dimension = 4, .batch = 6, .factor = factor, .bounds = {}});
    adapt(optimizer, minimise::sphere, 10);
    Batch first(6, 4), again(6, 4), other(6, 4);
    optimizer.ask(sampling_key(1, 5), first);
    optimizer.ask(sampling_key(1, 6), other);
    optimizer.ask(sampling_key(1, 5), again);
    EXPECT_TRUE(std::ranges::equal(first.values(), again.values()));
    EXPECT_FALSE(std::ranges::equal(first.values(), other.values()));
    StreamKey neighbour = sampling_key(1, 5);
    neighbour.index = 1;
    optimizer.ask(neighbour, other);
    EXPECT_FALSE(std::ranges::equal(first.values(), other.values()));
  }
}

// (x - mean) / sigma of a fixed key changes when, and only when, the factor is refreshed.
std::vector<int> refreshes(CmaEs& optimizer, int generations) {
  const Index n = optimizer.options().dimension, batch = optimizer.options().batch;
  Batch solutions(batch, n);
  Vector before;
  std::vector<int> changed;
  for (int g = 0; g < generations; ++g) {
    optimizer.ask(sampling_key(1, 0), solutions);
    Vector steps;
    for (Index i = 0; i < batch; ++i) {
      for (Index d = 0; d < n; ++d) {
        const double mean = optimizer.mean()[static_cast<std::size_t>(d)];
        steps.push_back((solutions(i, d) - mean) / optimizer.sigma());
      }
    }
    double difference = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      difference = std::max(difference, std::abs(steps[i] - before[i]));
    }
    if (difference > 1e-9) changed.push_back(g);
    before = steps;
    Batch other(batch, n);
    optimizer.ask(sampling_key(2, static_cast<std::uint64_t>(g)), other);
    std::vector<double> values;
    for (Index i = 0; i < batch; ++i) values.push_back(other(i, 0));
    optimizer.tell(other, minimise::ranked(values));
  }
  return changed;
}

TEST(CmaEsSampling, TheFactorIsRefreshedAsOftenAsAsked) {
  for (const auto factor : kFactors) {
    CmaEs every({.dimension = 4, .batch = 8, .factor = factor, .decompose_every = 1, .bounds = {}});
    EXPECT_EQ(refreshes(every, 6), (std::vector<int>{1, 2, 3, 4, 5}));
    CmaEs fourth(
        {.dimension = 4, .batch = 8, .factor = factor, .decompose_every = 4, .bounds = {}});
    EXPECT_EQ(refreshes(fourth, 14), (std::vector<int>{4, 8, 12}));
  }
}

// B.2 of the tutorial: max(1, floor(1 / (10 n (c1 + cmu)))) generations.
TEST(CmaEsSampling, TheFactorIsRefreshedAsSeldomAsTheTutorialSays) {
  for (const Index n : {4, 100, 500}) {
    SCOPED_TRACE(n);
    const Index batch = 8;
    const CmaEsParameters p(n, batch);
    const int gap = std::max(
        1, static_cast<int>(std::floor(1 / (10 * static_cast<double>(n) * (p.c1 + p.cmu)))));
    if (n == 500) {
      ASSERT_GT(gap, 3) << "too small to show laziness";
    }
    CmaEs optimizer({.dimension = n, .batch = batch, .bounds = {}});
    EXPECT_EQ(refreshes(optimizer, 2 * gap + 1), (std::vector<int>{gap, 2 * gap}));
  }
}

TEST(CmaEsSampling, ThePublishedVariantRefreshesByCountedEvaluations) {
  const Index n = 40, batch = 12;
  const CmaEsParameters p(n, batch);
  // A refresh is due when more than 0.5 lambda / (n (c1 + cmu)) evaluations have passed.
  const double gap = 0.5 * 12 / (static_cast<double>(n) * (p.c1 + p.cmu));
  int generations = 0;
  while (generations * 12 <= gap) ++generations;
  ASSERT_GT(generations, 1);
  compat::PublishedCmaEs optimizer({.dimension = n, .batch = batch, .bounds = {}});
  EXPECT_EQ(refreshes(optimizer, 2 * generations + 1),
            (std::vector<int>{generations, 2 * generations}));
}

// Left out, the batch must be the default one here, too.
TEST(CmaEsSampling, ThePublishedVariantKnowsTheDefaultBatch) {
  const compat::PublishedCmaEs given({.dimension = 10, .batch = 10, .bounds = {}});
  const compat::PublishedCmaEs left_out({.dimension = 10, .bounds = {}});
  EXPECT_EQ(left_out.options().batch, 10);
  EXPECT_EQ(left_out.options().decompose_every, given.options().decompose_every);
}

}  // namespace
}  // namespace rarefy
