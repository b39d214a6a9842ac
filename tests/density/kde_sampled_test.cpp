// Kernel density estimation by samples: how far scores are off, and what is never sampled.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "density/kde_reference.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/random.hpp"
#include "rarefy/density/kde.hpp"
#include "rarefy/density/reservoir.hpp"
#include "support/critical_values.hpp"
#include "support/every_instruction_set.hpp"
#include "support/random_batches.hpp"
#include "support/sanitized.hpp"

namespace {

using kde_reference::buffer_of;
using kde_reference::log_density;
using kde_reference::scores_of;
using rarefy::Bandwidth;
using rarefy::Batch;
using rarefy::BatchView;
using rarefy::FeatureSpace;
using rarefy::Index;
using rarefy::KdeMethod;
using rarefy::KdeOptions;
using rarefy::Kernel;
using rarefy::KernelDensity;

constexpr Index kHeld = kSanitized ? 11'000 : 40'000;
constexpr Index kBatch = 36;  // candidates of an emitter
constexpr double kError = 0.02;

FeatureSpace box(Index dims) {
  const auto count = static_cast<std::size_t>(dims);
  return {std::vector<double>(count, 100.0), std::vector<double>(count, 102.0)};
}

KdeOptions sampled(Index dims, double h0) {
  return {.space = box(dims), .bandwidth = Bandwidth::normalised(h0), .method = KdeMethod::sampled};
}

// Normal numbers around the middle of the box, `spread` of a width.
Batch crowd(Index rows, Index dims, double spread, std::uint64_t seed) {
  Batch batch(rows, dims);
  rarefy::fill_normals({.seed = seed}, batch.values());
  for (double& value : batch.values()) value = 101.0 + 2.0 * spread * value;
  return batch;
}

// So many emitters, each with candidates around a place of its own, `step` of a width.
Batch emitters(Index count, Index dims, double spread, double step, std::uint64_t seed) {
  const Batch places = crowd(count, dims, spread, seed);
  Batch batch = crowd(count * kBatch, dims, step, seed + 1'000);
  for (Index i = 0; i < batch.rows(); ++i) {
    for (Index d = 0; d < dims; ++d) batch(i, d) += places(i / kBatch, d) - 101.0;
  }
  return batch;
}

std::vector<double> exact_scores(KernelDensity& kde, BatchView samples, BatchView queries) {
  std::vector<double> scores;
  for (Index i = 0; i < queries.rows(); ++i) {
    scores.push_back(log_density(Kernel::gaussian, samples, kde.bandwidths(), queries.row(i)));
  }
  return scores;
}

// With every instruction set and number of features, in the crowd and at its rim, by narrow kernels
// and wide ones: the estimate, to five of the standard errors that are promised.
TEST(KdeSampled, GivesTheEstimateToItsError) {
  for (const auto set : instruction_sets_for_parts()) {
    const PinnedInstructionSet pinned(set);
    for (const Index dims : {1, 3, 6, 10}) {
      const Batch samples = crowd(kHeld, dims, 0.15, 5);
      for (const double h0 : {0.05, 0.3}) {
        KernelDensity kde(sampled(dims, h0), buffer_of(samples));
        const Batch queries = emitters(3, dims, 0.2, h0 / 3, 7);
        const auto exact = exact_scores(kde, samples, queries);
        const auto scores = scores_of(kde, queries);
        for (std::size_t i = 0; i < exact.size(); ++i) {
          ASSERT_NEAR(scores[i], exact[i], 5 * kError) << dims << " features, " << h0;
        }
      }
    }
  }
}

// The means of emitters' errors: independent of each other, since each emitter draws anew, and 0 on
// average. They are as large as is promised at most, and not all 0, or nothing would be tested.
TEST(KdeSampled, IsRightOnAverage) {
  constexpr Index kDims = 3, kEmitters = kSanitized ? 20 : 150;
  const Batch samples = crowd(kHeld, kDims, 0.15, 6);
  KernelDensity kde(sampled(kDims, 0.2), buffer_of(samples));
  KernelDensity direct(
      {.space = box(kDims), .bandwidth = Bandwidth::normalised(0.2), .method = KdeMethod::direct},
      buffer_of(samples));
  const Batch queries = emitters(kEmitters, kDims, 0.1, 0.05, 8);
  const auto scores = scores_of(kde, queries);
  const auto all = scores_of(direct, queries);
  double sum = 0, squares = 0;
  for (Index e = 0; e < kEmitters; ++e) {
    double error = 0;
    for (Index i = e * kBatch; i < (e + 1) * kBatch; ++i) {
      const auto row = static_cast<std::size_t>(i);
      error += std::expm1(scores[row] - all[row]) / static_cast<double>(kBatch);
    }
    sum += error;
    squares += error * error;
  }
  const double deviation = std::sqrt(squares / static_cast<double>(kEmitters));
  EXPECT_LT(deviation, kError);
  EXPECT_GT(deviation, 1e-4);
  EXPECT_LT(std::abs(sum), kNormalLimit * deviation * std::sqrt(static_cast<double>(kEmitters)));
}

// What moves all of an emitter's candidates alike does not change their order.
TEST(KdeSampled, RanksNearlyAsAllFeaturesDo) {
  constexpr Index kDims = 10, kEmitters = kSanitized ? 3 : 15;
  const Batch samples = crowd(kHeld, kDims, 0.15, 9);
  KernelDensity kde(sampled(kDims, 0.15), buffer_of(samples));
  const Batch queries = emitters(kEmitters, kDims, 0.2, 0.05, 10);
  const auto exact = exact_scores(kde, samples, queries);
  const auto scores = scores_of(kde, queries);
  double agree = 0, pairs = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    for (std::size_t j = i / kBatch * kBatch; j < i; ++j) {
      agree += (scores[i] < scores[j]) == (exact[i] < exact[j]) ? 1 : -1;
      ++pairs;
    }
  }
  EXPECT_GT(agree / pairs, 0.99);  // Kendall's tau
}

// Scattered over the box, candidates have no features in common; a sample would be a bad one.
TEST(KdeSampled, SumsOverAllWhereCandidatesAreScattered) {
  constexpr Index kDims = 4;
  const Batch samples = crowd(kHeld, kDims, 0.15, 11);
  KernelDensity kde(sampled(kDims, 0.02), buffer_of(samples));
  const auto space = box(kDims);
  const Batch queries = uniform_batch(2 * kBatch, space.lower, space.upper, 12);
  const auto exact = exact_scores(kde, samples, queries);
  const auto scores = scores_of(kde, queries);
  const double rounding = kde_reference::documented_error(space, kde.bandwidths());
  for (std::size_t i = 0; i < exact.size(); ++i) {
    EXPECT_NEAR(scores[i], exact[i], std::max(rounding, 1e-11 * std::abs(exact[i]))) << i;
  }
}

// A candidate beside a feature that no other one is near: whoever asks the others which features
// matter does not hear of that one, and takes the candidate for very rare.
TEST(KdeSampled, DoesNotPassOverAFeatureThatMattersToOneCandidateAlone) {
  constexpr Index kDims = 3;
  constexpr double kWidth = 0.1;  // of a kernel, in the units of features
  Batch samples = crowd(kHeld, kDims, 0.01, 13);
  for (Index away = 1; away <= 12; ++away) {
    const double place = 101.0 + 0.3 + 0.5 * kWidth * static_cast<double>(away);
    samples(away, 0) = place;
    KernelDensity kde(sampled(kDims, kWidth / 2), buffer_of(samples));
    Batch queries = emitters(1, kDims, 0.0, 0.01, 14);
    queries(5, 0) = place;
    const auto exact = exact_scores(kde, samples, queries.view().rows(5, 1));
    EXPECT_NEAR(scores_of(kde, queries)[5], exact[0], 5 * kError) << away;
  }
}

TEST(KdeSampled, IsForScoresAlone) {
  constexpr Index kDims = 5;
  const Batch samples = crowd(kHeld, kDims, 0.15, 15);
  KernelDensity kde(sampled(kDims, 0.2), buffer_of(samples));
  auto options = sampled(kDims, 0.2);
  options.method = KdeMethod::direct;
  KernelDensity direct(options, buffer_of(samples));
  const Batch queries = emitters(2, kDims, 0.2, 0.05, 16);
  rarefy::Workers alone(1);
  std::vector<double> densities(static_cast<std::size_t>(queries.rows()));
  kde.log_density(queries, densities, alone);
  EXPECT_EQ(densities, scores_of(direct, queries));
  EXPECT_NE(scores_of(kde, queries), densities);
}

TEST(KdeSampled, SumsOverAllOfASmallBuffer) {
  constexpr Index kDims = 3;
  const Batch samples = crowd(9'999, kDims, 0.15, 17);
  KernelDensity kde(sampled(kDims, 0.2), buffer_of(samples));
  auto options = sampled(kDims, 0.2);
  options.method = KdeMethod::direct;
  KernelDensity direct(options, buffer_of(samples));
  const Batch queries = emitters(2, kDims, 0.2, 0.05, 18);
  EXPECT_EQ(scores_of(kde, queries), scores_of(direct, queries));
}

// Also where emitters are not of 36, and where the batch ends in the middle of a group.
TEST(KdeSampled, ScoresTheSameOnAnyNumberOfThreads) {
  constexpr Index kDims = 6;
  const Batch samples = crowd(kHeld, kDims, 0.15, 19);
  KernelDensity kde(sampled(kDims, 0.2), buffer_of(samples));
  const Batch all = emitters(10, kDims, 0.2, 0.05, 20);
  for (const Index rows : {360, 350, 37, 1}) {
    const BatchView queries = all.view().rows(0, rows);
    const auto alone = scores_of(kde, queries);
    for (const Index threads : {2, 3, 7}) {
      rarefy::Workers team(threads);
      EXPECT_EQ(scores_of(kde, queries, team), alone) << rows << " rows, " << threads;
    }
  }
}

TEST(KdeSampled, StaysFiniteAndInOrderHoweverFarCandidatesAre) {
  constexpr Index kDims = 3;
  const Batch samples = crowd(kHeld, kDims, 0.15, 21);
  KernelDensity kde(sampled(kDims, 0.1), buffer_of(samples));
  Batch queries(0, kDims);
  for (Index i = 0; i < kBatch; ++i) {
    const double x = 101.0 + std::pow(10.0, 0.5 * static_cast<double>(i));
    queries.append(std::vector{x, 101.0, 101.0});
  }
  const auto scores = scores_of(kde, queries);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    EXPECT_TRUE(std::isfinite(scores[i]));
    if (i > 0) {
      EXPECT_LT(scores[i], scores[i - 1]);
    }
  }
}

TEST(KdeSampled, GoesOnToTheSameBitsFromASavedState) {
  constexpr Index kDims = 4;
  const auto make = [&] {
    return std::make_unique<KernelDensity>(
        sampled(kDims, 0.2), std::make_unique<rarefy::Reservoir>(rarefy::ReservoirOptions{
                                 .feature_dim = kDims, .capacity = 12'000, .seed = 1}));
  };
  auto kde = make();
  kde->observe({crowd(20'000, kDims, 0.15, 22)});
  rarefy::StateWriter out;
  kde->save(out);
  auto other = make();
  rarefy::StateReader in(out.bytes());
  other->load(in);
  EXPECT_TRUE(in.at_end());
  for (std::uint64_t i = 0; i < 3; ++i) {
    const Batch batch = emitters(5, kDims, 0.2, 0.05, 30 + i);
    EXPECT_EQ(scores_of(*other, batch), scores_of(*kde, batch));
    other->observe({batch});
    kde->observe({batch});
  }
}

TEST(KdeSampled, IsChosenToRankByWhereItIsFaster) {
  const auto method = [](Index dims, Index capacity) {
    return KernelDensity::method_to_rank({.space = box(dims)}, capacity);
  };
  const auto with = [](KdeOptions options) {
    return KernelDensity::method_to_rank(options, 100'000);
  };
  EXPECT_EQ(method(3, 50'000), KdeMethod::sampled);
  EXPECT_EQ(method(10, 1'000'000), KdeMethod::sampled);
  EXPECT_EQ(method(3, 0), KdeMethod::sampled);
  EXPECT_EQ(method(3, 10'000), KdeMethod::blocks);
  EXPECT_EQ(method(10, 10'000), KdeMethod::direct);
  EXPECT_EQ(method(2, 100'000), KdeMethod::panels);
  EXPECT_EQ(with({.space = box(3), .kernel = Kernel::triangular}), KdeMethod::direct);
  EXPECT_EQ(with({.space = box(3), .bandwidth = Bandwidth::local()}), KdeMethod::direct);
  EXPECT_EQ(with({.space = box(3), .method = KdeMethod::blocks}), KdeMethod::blocks);
  // Others than scores may be wanted of it there.
  EXPECT_NE(KernelDensity::method_for({.space = box(3)}, 100'000), KdeMethod::sampled);
  const auto refused = [&](KdeOptions options) {
    options.method = KdeMethod::sampled;
    EXPECT_THROW((void)KernelDensity::method_for(options, 100'000), rarefy::Error);
  };
  refused({.space = box(3), .kernel = Kernel::epanechnikov});
  refused({.space = box(3), .bandwidth = Bandwidth::local()});
  const KernelDensity kde(sampled(3, 0.1), buffer_of(crowd(100, 3, 0.1, 1)));
  EXPECT_THAT(kde.description(), testing::HasSubstr("samples of 6,000"));
}

}  // namespace
