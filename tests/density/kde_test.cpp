#include "rarefy/density/kde.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "density/kde_reference.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/instruction_set.hpp"
#include "rarefy/core/state.hpp"
#include "rarefy/core/workers.hpp"
#include "rarefy/density/reservoir.hpp"
#include "support/random_batches.hpp"
#include "support/sanitized.hpp"

namespace {

using kde_reference::distance;
using kde_reference::documented_error;
using kde_reference::estimate_over;
using kde_reference::kKernels;
using kde_reference::log_density;
using kde_reference::scores_of;
using rarefy::Bandwidth;
using rarefy::Batch;
using rarefy::FeatureSpace;
using rarefy::Index;
using rarefy::Kernel;
using rarefy::KernelDensity;

/// A box with another width and place along every feature.
FeatureSpace uneven_box(Index dims) {
  FeatureSpace space;
  for (Index d = 0; d < dims; ++d) {
    const double low = -3.0 + 2.5 * static_cast<double>(d);
    space.lower.push_back(low);
    space.upper.push_back(low + std::pow(3.0, static_cast<double>(d % 4) - 1.0));
  }
  return space;
}

std::unique_ptr<rarefy::Reservoir> reservoir(Index dims, Index capacity, std::uint64_t seed = 1) {
  return std::make_unique<rarefy::Reservoir>(
      rarefy::ReservoirOptions{.feature_dim = dims, .capacity = capacity, .seed = seed});
}

/// Tries all instruction sets of this machine, and puts back the one that was in use.
template <typename Task>
void on_every_instruction_set(Task&& task) {
  const auto before = rarefy::instruction_set();
  for (const auto set : {rarefy::InstructionSet::baseline, rarefy::InstructionSet::avx2,
                         rarefy::InstructionSet::avx512}) {
    if (set > rarefy::best_instruction_set()) continue;
    rarefy::pin_instruction_set(set);
    SCOPED_TRACE(std::string(rarefy::name_of(set)));
    task();
  }
  rarefy::pin_instruction_set(before);
}

constexpr Index kQueries = kSanitized ? 7 : 61;

// 1,501 points: more than one chunk of the kernel, and no multiple of any vector length.
TEST(KdeAccuracy, GaussianIsWithinTheDocumentedErrorInAnyDimension) {
  on_every_instruction_set([] {
    for (const Index dims : {1, 2, 3, 4, 5, 7, 10, 13}) {
      for (const double h0 : {0.02, 0.062, 0.15, 0.5, 3.0}) {
        const auto space = uneven_box(dims);
        const Batch points = uniform_batch(1501, space.lower, space.upper, 11);
        const Batch queries = uniform_batch(kQueries, space.lower, space.upper, 12);
        auto kde = estimate_over(points, {.space = space, .bandwidth = Bandwidth::normalised(h0)});
        const auto scores = scores_of(kde, queries);
        for (Index i = 0; i < queries.rows(); ++i) {
          ASSERT_NEAR(scores[static_cast<std::size_t>(i)],
                      log_density(Kernel::gaussian, points, kde.bandwidths(), queries.row(i)),
                      documented_error(space, kde.bandwidths()))
              << dims << " features, h0 " << h0 << ", query " << i;
        }
      }
    }
  });
}

// Where samples are plenty: here a sum of many terms is what the search compares.
TEST(KdeAccuracy, KernelsOfBoundedSupportAreWithinTheDocumentedErrorAmongTheirSamples) {
  on_every_instruction_set([] {
    for (const Kernel kernel : {Kernel::triangular, Kernel::epanechnikov}) {
      for (const Index dims : {1, 2, 3, 4, 5, 7, 10}) {
        for (const double h0 : {0.5, 1.0, 3.0}) {
          const auto space = uneven_box(dims);
          const Batch points = uniform_batch(1501, space.lower, space.upper, 21);
          const Batch queries = uniform_batch(kQueries, space.lower, space.upper, 22);
          auto kde = estimate_over(
              points, {.space = space, .kernel = kernel, .bandwidth = Bandwidth::normalised(h0)});
          const auto scores = scores_of(kde, queries);
          for (Index i = 0; i < queries.rows(); ++i) {
            double sum = 0.0;
            for (Index j = 0; j < points.rows(); ++j) {
              sum += kde_reference::kernel_value(
                  kernel, distance(queries.row(i), points.row(j), kde.bandwidths()));
            }
            if (sum < 1.0) continue;  // the edge of the support has a test of its own
            ASSERT_NEAR(scores[static_cast<std::size_t>(i)],
                        log_density(kernel, points, kde.bandwidths(), queries.row(i)),
                        documented_error(space, kde.bandwidths()))
                << rarefy::name_of(kernel) << ", " << dims << " features, h0 " << h0;
          }
        }
      }
    }
  });
}

// The sparsest candidates are those that one sample just reaches. The header's bound knows no
// exception for them: from one thousandth of a bandwidth inside the edge.
TEST(KdeAccuracy, KernelsOfBoundedSupportAreWithinTheDocumentedErrorAtTheirEdge) {
  const FeatureSpace space{{-10, -10}, {10, 10}};
  Batch points(1, 2);
  points(0, 0) = 3.3;
  points(0, 1) = -4.1;
  for (const Kernel kernel : {Kernel::triangular, Kernel::epanechnikov}) {
    auto kde = estimate_over(
        points, {.space = space, .kernel = kernel, .bandwidth = Bandwidth::absolute(1.0)});
    Batch queries(200, 2);
    for (Index i = 0; i < queries.rows(); ++i) {
      const double u = 1.0 - std::pow(10.0, -3.0 * static_cast<double>(i) / 199.0);
      queries(i, 0) = 3.3 + u * 0.6;
      queries(i, 1) = -4.1 + u * 0.8;
    }
    const auto scores = scores_of(kde, queries);
    double worst = 0.0;
    for (Index i = 0; i < queries.rows(); ++i) {
      worst =
          std::max(worst, std::abs(scores[static_cast<std::size_t>(i)] -
                                   log_density(kernel, points, kde.bandwidths(), queries.row(i))));
    }
    EXPECT_LE(worst, documented_error(space, kde.bandwidths())) << rarefy::name_of(kernel);
  }
}

// A single sample: there is nothing for errors to cancel against.
TEST(KdeAccuracy, OneSampleHasTheShapeOfTheKernel) {
  const FeatureSpace space{{-4}, {4}};
  Batch point(1, 1);
  point(0, 0) = 0.7;
  Batch queries(1, 1);
  for (const Kernel kernel : kKernels) {
    auto kde = estimate_over(
        point, {.space = space, .kernel = kernel, .bandwidth = Bandwidth::absolute(2.0)});
    for (const double u : {0.0, 0.25, -0.5, 0.9}) {
      queries(0, 0) = 0.7 + 2.0 * u;
      EXPECT_NEAR(std::exp(scores_of(kde, queries)[0]),
                  kde_reference::kernel_value(kernel, std::abs(u)) /
                      (2.0 * kde_reference::kernel_integral(kernel, 1)),
                  1e-5)
          << rarefy::name_of(kernel) << " at " << u;
    }
  }
}

// Beyond the box errors grow with the distance, as r does inside; up to where the far tail
// takes over that is 9 bandwidths more.
TEST(KdeAccuracy, FeaturesOutsideTheBoxAreScoredLikeThoseInAWiderOne) {
  const FeatureSpace space{{0, 0}, {1, 1}};
  const Batch points = uniform_batch(777, space.lower, space.upper, 31);
  auto kde = estimate_over(points, {.space = space, .bandwidth = Bandwidth::absolute(0.25)});
  const FeatureSpace wider{{-2, -2}, {3, 3}};
  const Batch queries = uniform_batch(500, wider.lower, wider.upper, 32);
  const auto scores = scores_of(kde, queries);
  for (Index i = 0; i < queries.rows(); ++i) {
    EXPECT_NEAR(scores[static_cast<std::size_t>(i)],
                log_density(Kernel::gaussian, points, kde.bandwidths(), queries.row(i)),
                documented_error(wider, kde.bandwidths()));
  }
}

TEST(KdeAccuracy, SamplesOutsideTheBoxCountLikeAnyOther) {
  const FeatureSpace space{{0}, {1}};
  const FeatureSpace wider{{-5}, {6}};
  const Batch points = uniform_batch(300, wider.lower, wider.upper, 33);
  const Batch queries = uniform_batch(200, wider.lower, wider.upper, 34);
  for (const Kernel kernel : kKernels) {
    auto kde = estimate_over(
        points, {.space = space, .kernel = kernel, .bandwidth = Bandwidth::absolute(0.8)});
    const auto scores = scores_of(kde, queries);
    for (Index i = 0; i < queries.rows(); ++i) {
      EXPECT_NEAR(scores[static_cast<std::size_t>(i)],
                  log_density(kernel, points, kde.bandwidths(), queries.row(i)),
                  documented_error(wider, kde.bandwidths()));
    }
  }
}

TEST(Kde, IntegratesToOneInOneDimension) {
  const FeatureSpace space{{-1}, {2}};
  const Batch points = uniform_batch(37, space.lower, space.upper, 41);
  for (const Kernel kernel : kKernels) {
    auto kde = estimate_over(
        points, {.space = space, .kernel = kernel, .bandwidth = Bandwidth::absolute(0.2)});
    constexpr Index kSteps = 20'000;
    constexpr double kLow = -3.0, kHigh = 4.0, kStep = (kHigh - kLow) / kSteps;
    Batch queries(kSteps, 1);
    for (Index i = 0; i < kSteps; ++i)
      queries(i, 0) = kLow + (static_cast<double>(i) + 0.5) * kStep;
    double mass = 0.0;
    for (const double score : scores_of(kde, queries)) mass += std::exp(score) * kStep;
    // The midpoint rule is right to (step / h)^2 here, 3e-6; densities to 2e-6 (1 + r).
    EXPECT_NEAR(mass, 1.0, 3e-5) << rarefy::name_of(kernel);
  }
}

TEST(Kde, IntegratesToOneInTwoDimensionsWithABandwidthForEach) {
  const FeatureSpace space{{-1, 10}, {1, 14}};
  const Batch points = uniform_batch(11, space.lower, space.upper, 42);
  for (const Kernel kernel : kKernels) {
    auto kde = estimate_over(
        points, {.space = space, .kernel = kernel, .bandwidth = Bandwidth::normalised(0.1)});
    constexpr Index kSteps = 300;
    const double step = 4.0 / kSteps;  // of the first feature; the second is twice as wide
    Batch queries(kSteps * kSteps, 2);
    for (Index i = 0; i < kSteps; ++i) {
      for (Index j = 0; j < kSteps; ++j) {
        queries(i * kSteps + j, 0) = -2.0 + (static_cast<double>(i) + 0.5) * step;
        queries(i * kSteps + j, 1) = 8.0 + (static_cast<double>(j) + 0.5) * 2.0 * step;
      }
    }
    double mass = 0.0;
    for (const double score : scores_of(kde, queries)) mass += std::exp(score) * step * 2.0 * step;
    // The kinks of the bounded kernels cost (step / h)^2 / 4 at most: 15 steps a bandwidth.
    EXPECT_NEAR(mass, 1.0, 1.2e-3) << rarefy::name_of(kernel);
  }
}

class KdeFarTail : public testing::Test {
 protected:
  const FeatureSpace space_{{0, 0}, {1, 1}};
  const Batch points_ = uniform_batch(500, space_.lower, space_.upper, 51);
  KernelDensity kde_ =
      estimate_over(points_, {.space = space_, .bandwidth = Bandwidth::absolute(0.1)});
};

TEST_F(KdeFarTail, FallsStrictlyAndAgreesWithLogSumExpUpToAThousandBandwidths) {
  constexpr Index kSteps = 4000;
  Batch queries(kSteps, 2);
  for (Index i = 0; i < kSteps; ++i) {
    const double away = 0.025 * static_cast<double>(i) + 0.1;
    queries(i, 0) = 1.0 + 0.8 * away;
    queries(i, 1) = 1.0 + 0.6 * away;
  }
  const auto scores = scores_of(kde_, queries);
  for (Index i = 0; i < kSteps; ++i) {
    const auto at = static_cast<std::size_t>(i);
    ASSERT_TRUE(std::isfinite(scores[at]));
    if (i > 0) {
      ASSERT_LT(scores[at], scores[at - 1]) << "step " << i;
    }
    const double exact = log_density(Kernel::gaussian, points_, kde_.bandwidths(), queries.row(i));
    // Below 2^-60 of the peak of the nearest sample's kernel all is double precision.
    double nearest = 1e300;
    for (Index j = 0; j < points_.rows(); ++j) {
      nearest = std::min(nearest, distance(queries.row(i), points_.row(j), kde_.bandwidths()));
    }
    const bool far = 0.5 * nearest * nearest * std::numbers::log2e > 60.001;
    // Between the box and the tail, the box that counts is the one that holds the query.
    const FeatureSpace wider{{0, 0}, {2.0, 1.8}};
    const double error = far ? 1e-12 * std::abs(exact) : documented_error(wider, kde_.bandwidths());
    ASSERT_NEAR(scores[at], exact, error) << "step " << i << (far ? ", far" : "");
  }
  EXPECT_LT(scores.back(), -490'000.0);  // a thousand bandwidths out: exp of this is no double
}

// In single precision these would be the same place.
TEST_F(KdeFarTail, TellsNeighboursApart) {
  Batch queries(1000, 2);
  for (Index i = 0; i < queries.rows(); ++i) {
    queries(i, 0) = 6.0 + 1e-9 * static_cast<double>(i);
    queries(i, 1) = -3.0;
  }
  const auto scores = scores_of(kde_, queries);
  for (std::size_t i = 1; i < scores.size(); ++i) ASSERT_LT(scores[i], scores[i - 1]);
}

TEST_F(KdeFarTail, RanksAScatterOfFarCandidatesAsDoublePrecisionDoes) {
  const Batch queries = uniform_batch(400, 2, -60.0, 60.0, 52);
  const auto scores = scores_of(kde_, queries);
  std::vector<double> exact;
  for (Index i = 0; i < queries.rows(); ++i) {
    exact.push_back(log_density(Kernel::gaussian, points_, kde_.bandwidths(), queries.row(i)));
  }
  std::vector<std::size_t> ours(scores.size()), theirs(scores.size());
  std::iota(ours.begin(), ours.end(), std::size_t{0});
  theirs = ours;
  std::sort(ours.begin(), ours.end(), [&](auto a, auto b) { return scores[a] < scores[b]; });
  std::sort(theirs.begin(), theirs.end(), [&](auto a, auto b) { return exact[a] < exact[b]; });
  EXPECT_EQ(ours, theirs);
}

TEST(Kde, TheFarTailWorksInTenDimensionsToo) {
  const auto space = uneven_box(10);
  const Batch points = uniform_batch(300, space.lower, space.upper, 53);
  auto kde = estimate_over(points, {.space = space, .bandwidth = Bandwidth::normalised(0.01)});
  const Batch queries = uniform_batch(100, space.lower, space.upper, 54);
  const auto scores = scores_of(kde, queries);
  for (Index i = 0; i < queries.rows(); ++i) {
    const double exact = log_density(Kernel::gaussian, points, kde.bandwidths(), queries.row(i));
    EXPECT_NEAR(scores[static_cast<std::size_t>(i)], exact, 1e-12 * std::abs(exact));
  }
}

TEST(Kde, OutOfReachOfABoundedKernelTheFarthestComesFirst) {
  const FeatureSpace space{{-10, -5}, {10, 5}};
  const Batch points = uniform_batch(40, space.lower, space.upper, 61);
  const FeatureSpace wider{{-200, -100}, {200, 100}};
  const Batch queries = uniform_batch(500, wider.lower, wider.upper, 62);
  const Batch close = uniform_batch(500, space.lower, space.upper, 63);
  for (const Kernel kernel : {Kernel::triangular, Kernel::epanechnikov}) {
    auto kde = estimate_over(
        points, {.space = space, .kernel = kernel, .bandwidth = Bandwidth::normalised(0.05)});
    const auto far = scores_of(kde, queries);
    int out_of_reach = 0;
    for (Index i = 0; i < queries.rows(); ++i) {
      double nearest = 1e300;
      for (Index j = 0; j < points.rows(); ++j) {
        nearest = std::min(nearest, distance(queries.row(i), points.row(j), kde.bandwidths()));
      }
      if (nearest < 1.001) continue;
      ++out_of_reach;
      const double score = far[static_cast<std::size_t>(i)];
      EXPECT_LT(score, KernelDensity::kNoDensity);
      EXPECT_NEAR(score, KernelDensity::kNoDensity - nearest,
                  documented_error(wider, kde.bandwidths()));
    }
    EXPECT_GT(out_of_reach, 450);
    // Whoever has a sample in reach ranks behind all of them.
    for (const double score : scores_of(kde, close)) {
      EXPECT_TRUE(score > -50.0 || score < KernelDensity::kNoDensity) << score;
    }
  }
}

// Stretching one feature alone, with a bandwidth for each: the density only loses a factor.
TEST(Kde, EachFeatureHasItsOwnBandwidth) {
  const FeatureSpace space{{0, 0, 0}, {1, 1, 1}};
  const FeatureSpace stretched{{0, 0, 0}, {1, 1024, 1}};
  Batch points = uniform_batch(600, space.lower, space.upper, 71);
  Batch queries = uniform_batch(100, space.lower, space.upper, 72);
  for (const Kernel kernel : kKernels) {
    const rarefy::KdeOptions options{
        .space = space, .kernel = kernel, .bandwidth = Bandwidth::normalised(0.4)};
    auto kde = estimate_over(points, options);
    Batch points2 = points, queries2 = queries;
    for (Index i = 0; i < points2.rows(); ++i) points2(i, 1) *= 1024.0;
    for (Index i = 0; i < queries2.rows(); ++i) queries2(i, 1) *= 1024.0;
    auto kde2 = estimate_over(
        points2, {.space = stretched, .kernel = kernel, .bandwidth = Bandwidth::normalised(0.4)});
    EXPECT_EQ(kde2.bandwidths()[0], 0.4);
    EXPECT_EQ(kde2.bandwidths()[1], 0.4 * 1024.0);
    const auto scores = scores_of(kde, queries);
    const auto scores2 = scores_of(kde2, queries2);
    // A power of two stretches without rounding, so only the logarithms are rounded.
    for (std::size_t i = 0; i < scores.size(); ++i) {
      EXPECT_NEAR(scores2[i], scores[i] - std::log(1024.0), 1e-12) << rarefy::name_of(kernel);
    }
  }
}

// Features near a million, a unit apart: single precision alone would see sixteen places.
TEST(Kde, KeepsItsAccuracyFarFromTheOrigin) {
  for (const double offset : {1e6, -1e6, 1e9}) {
    const FeatureSpace space{{offset, offset}, {offset + 1, offset + 1}};
    const Batch points = uniform_batch(500, space.lower, space.upper, 81);
    const Batch queries = uniform_batch(100, space.lower, space.upper, 82);
    for (const Kernel kernel : kKernels) {
      const double h = kernel == Kernel::gaussian ? 0.05 : 0.5;
      auto kde = estimate_over(
          points, {.space = space, .kernel = kernel, .bandwidth = Bandwidth::absolute(h)});
      const auto scores = scores_of(kde, queries);
      for (Index i = 0; i < queries.rows(); ++i) {
        EXPECT_NEAR(scores[static_cast<std::size_t>(i)],
                    log_density(kernel, points, kde.bandwidths(), queries.row(i)),
                    documented_error(space, kde.bandwidths()))
            << rarefy::name_of(kernel) << " at " << offset;
      }
    }
  }
}

TEST(Kde, ScoresDependNeitherOnThreadsNorOnHowTheBatchIsCut) {
  const FeatureSpace space{{0, 0, 0}, {1, 1, 1}};
  const Batch points = uniform_batch(2000, space.lower, space.upper, 91);
  const FeatureSpace wider{{-1, -1, -1}, {2, 2, 2}};  // near, tail and far tail
  const Batch queries = uniform_batch(540, wider.lower, wider.upper, 92);
  rarefy::Workers two(2), eight(8);
  for (const Kernel kernel : kKernels) {
    auto kde = estimate_over(
        points, {.space = space, .kernel = kernel, .bandwidth = Bandwidth::absolute(0.15)});
    const auto scores = scores_of(kde, queries);
    EXPECT_EQ(scores_of(kde, queries, two), scores) << rarefy::name_of(kernel);
    EXPECT_EQ(scores_of(kde, queries, eight), scores) << rarefy::name_of(kernel);
    EXPECT_EQ(scores_of(kde, queries), scores) << "scoring must change nothing";
    for (const Index piece : {1, 7, 36, 100}) {
      std::vector<double> pieces;
      for (Index first = 0; first < queries.rows(); first += piece) {
        const Index count = std::min(piece, queries.rows() - first);
        const auto part = scores_of(kde, queries.view().rows(first, count), two);
        pieces.insert(pieces.end(), part.begin(), part.end());
      }
      EXPECT_EQ(pieces, scores) << rarefy::name_of(kernel) << " in pieces of " << piece;
    }
  }
}

TEST(Kde, StaysInStepWithItsBufferThroughThousandsOfReplacements) {
  const FeatureSpace space{{-1, -1}, {1, 1}};
  const Batch queries = uniform_batch(50, space.lower, space.upper, 101);
  for (const Kernel kernel : kKernels) {
    const rarefy::KdeOptions options{
        .space = space, .kernel = kernel, .bandwidth = Bandwidth::absolute(0.6)};
    KernelDensity kde(options, reservoir(2, 300));
    for (std::uint64_t step = 0; step < 3000; ++step) {
      // Batches drift, so that an outdated sample would be in the wrong place.
      const double at = 0.9 * std::sin(static_cast<double>(step) * 0.01);
      kde.observe({uniform_batch(19, 2, at - 0.1, at + 0.1, step)});
    }
    ASSERT_EQ(kde.buffer().contents().rows(), 300);
    const auto scores = scores_of(kde, queries);
    auto fresh = estimate_over(kde.buffer().contents(), options);
    EXPECT_EQ(scores, scores_of(fresh, queries)) << rarefy::name_of(kernel);
    for (Index i = 0; i < queries.rows(); ++i) {
      const double exact =
          log_density(kernel, kde.buffer().contents(), kde.bandwidths(), queries.row(i));
      if (std::isinf(exact)) continue;
      EXPECT_NEAR(scores[static_cast<std::size_t>(i)], exact,
                  documented_error(space, kde.bandwidths()));
    }
  }
}

TEST(Kde, WorksWhileTheBufferFillsAndWithoutALimit) {
  const FeatureSpace space{{0}, {1}};
  const Batch points = uniform_batch(3000, space.lower, space.upper, 111);
  const Batch queries = uniform_batch(9, space.lower, space.upper, 112);
  KernelDensity limited({.space = space}, reservoir(1, 5000));
  KernelDensity endless({.space = space, .bandwidth = Bandwidth::absolute(0.05)}, reservoir(1, 0));
  for (KernelDensity* kde : {&limited, &endless}) {
    EXPECT_FALSE(kde->informed());
    for (const auto& [first, count] :
         {std::pair<Index, Index>{0, 1}, {1, 2}, {3, 997}, {1000, 2000}}) {
      kde->observe({points.view().rows(first, count)});
      EXPECT_TRUE(kde->informed());
      const auto held = points.view().rows(0, first + count);
      const auto scores = scores_of(*kde, queries);
      for (Index i = 0; i < queries.rows(); ++i) {
        const double exact = log_density(Kernel::gaussian, held, kde->bandwidths(), queries.row(i));
        EXPECT_NEAR(scores[static_cast<std::size_t>(i)], exact,
                    std::max(documented_error(space, kde->bandwidths()), 1e-12 * std::abs(exact)));
      }
    }
  }
}

// Nobody ranks by them, but a number that is none has a way of spreading.
TEST(Kde, ScoresWithoutAnySampleAreNoNan) {
  const FeatureSpace space{{0, 0}, {1, 1}};
  const Batch queries = uniform_batch(5, 2, 0, 1, 113);
  for (const Kernel kernel : kKernels) {
    KernelDensity kde({.space = space, .kernel = kernel}, reservoir(2, 10));
    for (const double score : scores_of(kde, queries)) {
      EXPECT_FALSE(std::isnan(score)) << rarefy::name_of(kernel);
    }
  }
}

TEST(Kde, ALoadedOneScoresAndGoesOnLikeTheOneThatWasSaved) {
  const FeatureSpace space{{0, 0}, {1, 1}};
  const Batch queries = uniform_batch(40, 2, -1, 2, 121);
  for (const Index seen : {0, 60, 100, 1000}) {
    const rarefy::KdeOptions options{.space = space, .bandwidth = Bandwidth::absolute(0.1)};
    KernelDensity kde(options, reservoir(2, 100, 5));
    kde.observe({uniform_batch(seen, 2, 0, 1, 122)});
    rarefy::StateWriter out;
    kde.save(out);
    KernelDensity copy(options, reservoir(2, 100, 5));
    copy.observe({uniform_batch(400, 2, 0, 1, 123)});  // must all be forgotten
    rarefy::StateReader in(out.bytes());
    copy.load(in);
    EXPECT_TRUE(in.at_end());
    EXPECT_EQ(copy.informed(), seen > 0);
    for (std::uint64_t step = 0; step < 5; ++step) {
      if (kde.informed()) {
        EXPECT_EQ(scores_of(copy, queries), scores_of(kde, queries));
      }
      const Batch more = uniform_batch(50, 2, 0, 1, 124 + step);
      kde.observe({more});
      copy.observe({more});
    }
    EXPECT_EQ(scores_of(copy, queries), scores_of(kde, queries));
  }
}

TEST(Kde, ScoresMayBeDensitiesThatUnderflow) {
  const FeatureSpace space{{0, 0}, {1, 1}};
  const rarefy::KdeOptions logarithms = {.space = space, .bandwidth = Bandwidth::absolute(0.01)};
  rarefy::KdeOptions densities = logarithms;
  densities.log_scores = false;
  KernelDensity one(logarithms, reservoir(2, 100)), other(densities, reservoir(2, 100));
  const Batch features(std::vector<double>{0.1, 0.1, 0.12, 0.1, 0.1, 0.13}, 3, 2);
  one.observe({features});
  other.observe({features});
  const Batch queries(std::vector<double>{0.1, 0.1, 0.11, 0.12, 0.9, 0.9, 0.8, 0.9}, 4, 2);
  const auto logs = scores_of(one, queries), plain = scores_of(other, queries);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(std::log(plain[i]), logs[i], 1e-12);
  EXPECT_GT(logs[2], logs[3] - 1e6);
  EXPECT_NE(logs[2], logs[3]);
  EXPECT_EQ(plain[2], 0.0);
  EXPECT_EQ(plain[3], 0.0);
}

TEST(Kde, KernelsHaveNames) {
  for (const Kernel kernel : kKernels) {
    EXPECT_EQ(rarefy::named<rarefy::Kernel>(rarefy::name_of(kernel)), kernel);
  }
  EXPECT_EQ(rarefy::named<rarefy::Kernel>("triangular"), Kernel::triangular);
  try {
    (void)rarefy::named<rarefy::Kernel>("cosine");
    FAIL();
  } catch (const rarefy::Error& error) {
    EXPECT_EQ(error.kind(), rarefy::ErrorKind::parameter);
    EXPECT_NE(std::string(error.what()).find("'cosine'"), std::string::npos);
  }
}

TEST(Kde, AsksTheBandwidthRuleWithTheCapacityOfItsBuffer) {
  const FeatureSpace space{{0, 0}, {1, 2}};
  const KernelDensity kde({.space = space}, reservoir(2, 10'000));
  EXPECT_EQ(std::vector(kde.bandwidths().begin(), kde.bandwidths().end()),
            Bandwidth::scott().resolve(space, 10'000));
  EXPECT_EQ(kde.feature_dim(), 2);
  const KernelDensity unlimited({.space = space}, reservoir(2, 0));  // as with 10,000
  EXPECT_EQ(std::vector(unlimited.bandwidths().begin(), unlimited.bandwidths().end()),
            Bandwidth::scott().resolve(space, 10'000));
  EXPECT_THROW(KernelDensity({.space = {{0, 1}, {1, 1}}}, reservoir(2, 10)), rarefy::Error);
}

}  // namespace
