// Kernel density estimation by blocks: that it is the same estimate, to what it promises.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "density/kde_reference.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/random.hpp"
#include "rarefy/density/kde.hpp"
#include "rarefy/density/reservoir.hpp"
#include "support/every_instruction_set.hpp"
#include "support/random_batches.hpp"
#include "support/sanitized.hpp"
#include "support/small_search.hpp"

namespace {

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

constexpr double kPromised = 1e-3;
constexpr Index kHeld = kSanitized ? 300 : 3000;

FeatureSpace box(Index dims) {
  const auto count = static_cast<std::size_t>(dims);
  return {std::vector<double>(count, 100.0), std::vector<double>(count, 102.0)};
}

KdeOptions by_blocks(const FeatureSpace& space, Bandwidth bandwidth = Bandwidth::scott()) {
  return {.space = space, .bandwidth = bandwidth, .method = KdeMethod::blocks};
}

std::unique_ptr<rarefy::Reservoir> reservoir(Index dims, Index capacity) {
  return std::make_unique<rarefy::Reservoir>(
      rarefy::ReservoirOptions{.feature_dim = dims, .capacity = capacity, .seed = 1});
}

// A crowd in the middle of the box, with a few that are far from it: `spread` of a width.
Batch crowd(Index rows, const FeatureSpace& space, double spread, std::uint64_t seed) {
  Batch batch(rows, space.dim());
  rarefy::fill_normals({.seed = seed}, batch.values());
  for (Index i = 0; i < rows; ++i) {
    const double far = i % 50 == 0 ? 4.0 : 1.0;
    for (Index d = 0; d < space.dim(); ++d) {
      batch(i, d) = space.lower[static_cast<std::size_t>(d)] +
                    space.width(d) * (0.5 + far * spread * batch(i, d));
    }
  }
  return batch;
}

// So many times the same feature.
Batch repeated(Index rows, Index dims, double value) {
  return {std::vector<double>(static_cast<std::size_t>(rows * dims), value), rows, dims};
}

void expect_estimate_of(BatchView samples, KernelDensity& kde, BatchView queries) {
  const auto scores = scores_of(kde, queries);
  const double rounding = kde_reference::documented_error(box(queries.cols()), kde.bandwidths());
  for (Index i = 0; i < queries.rows(); ++i) {
    ASSERT_NEAR(scores[static_cast<std::size_t>(i)],
                log_density(Kernel::gaussian, samples, kde.bandwidths(), queries.row(i)),
                kPromised + rounding)
        << i;
  }
}

// With every instruction set, number of features and width: while the buffer fills, while features
// are replaced, after new blocks; in the crowd and outside it.
TEST(KdeBlocks, GiveTheEstimateOfTheBufferAsItChanges) {
  for (const auto set : instruction_sets_for_parts()) {
    const PinnedInstructionSet pinned(set);
    for (const Index dims : {1, 2, 3, 4, 6, 10, 17}) {
      for (const double h0 : {0.02, 0.1, 0.3}) {
        const auto space = box(dims);
        KernelDensity kde(by_blocks(space, Bandwidth::normalised(h0)), reservoir(dims, kHeld));
        for (std::uint64_t i = 0; i < 9; ++i) {
          kde.observe({crowd(540, space, 0.1, i)});
          expect_estimate_of(kde.samples(), kde, crowd(5, space, 0.1, 90 + i));
          expect_estimate_of(kde.samples(), kde,
                             uniform_batch(5, space.lower, space.upper, 190 + i));
        }
      }
    }
  }
}

TEST(KdeBlocks, AreExactInTheFarTail) {
  const auto space = box(4);
  KernelDensity kde(by_blocks(space, Bandwidth::normalised(0.02)), reservoir(4, 500));
  kde.observe({crowd(500, space, 0.02, 5)});
  Batch queries(0, 4);
  for (const double x : {100.1, 101.9, 103.0, 300.0}) {
    queries.append(std::vector{x, 202.0 - x, x, 100.0});
  }
  const auto scores = scores_of(kde, queries);
  for (Index i = 0; i < queries.rows(); ++i) {
    const double exact =
        log_density(Kernel::gaussian, kde.samples(), kde.bandwidths(), queries.row(i));
    EXPECT_NEAR(scores[static_cast<std::size_t>(i)], exact, 1e-11 * std::abs(exact));
  }
}

TEST(KdeBlocks, HoldFeaturesThatAreAllTheSame) {
  const auto space = box(3);
  KernelDensity kde(by_blocks(space), reservoir(3, 1000));
  const Batch same = repeated(2000, 3, 100.7);
  kde.observe({same});
  kde.observe({same});
  expect_estimate_of(kde.samples(), kde, uniform_batch(50, space.lower, space.upper, 3));
  expect_estimate_of(kde.samples(), kde, repeated(1, 3, 100.7));
}

TEST(KdeBlocks, StayFiniteAndInOrderHoweverFarFeaturesAre) {
  const auto space = box(3);
  KernelDensity kde(by_blocks(space), reservoir(3, 500));
  kde.observe({uniform_batch(100, space.lower, space.upper, 5)});
  for (const double far : {1e20, 1e300, -1e300}) kde.observe({repeated(1, 3, far)});
  for (int i = 0; i < 30; ++i) kde.observe({repeated(10, 3, 100.5)});  // until all are in blocks
  Batch queries(0, 3);
  for (const double x : {101.0, 110.0, 1e4, 1e10, 1e16}) {
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

TEST(KdeBlocks, ScoreACandidateTheSameInAnyCompanyAndOnAnyNumberOfThreads) {
  const auto space = box(4);
  KernelDensity kde(by_blocks(space), reservoir(4, kHeld));
  for (std::uint64_t i = 0; i < 8; ++i) kde.observe({crowd(540, space, 0.1, i)});
  const Batch queries = crowd(200, space, 0.2, 77);
  const auto alone = scores_of(kde, queries);
  rarefy::Workers three(3);
  EXPECT_EQ(scores_of(kde, queries, three), alone);
  for (Index i = 0; i < queries.rows(); i += 7) {
    EXPECT_EQ(scores_of(kde, queries.view().rows(i, 1))[0], alone[static_cast<std::size_t>(i)]);
  }
}

// Wherever it is interrupted, between one making of blocks and the next.
TEST(KdeBlocks, GoOnToTheSameBitsFromASavedState) {
  const auto space = box(3);
  const auto make = [&] {
    return std::make_unique<KernelDensity>(by_blocks(space), reservoir(3, 1000));
  };
  auto kde = make();
  for (std::uint64_t i = 0; i < 25; ++i) {
    rarefy::StateWriter out;
    kde->save(out);
    auto other = make();
    rarefy::StateReader in(out.bytes());
    other->load(in);
    EXPECT_TRUE(in.at_end());
    for (std::uint64_t k = 0; k < 3; ++k) {
      const Batch batch = crowd(100, space, 0.1, 10 * i + k);
      EXPECT_EQ(scores_of(*other, batch), scores_of(*kde, batch));
      other->observe({batch});
      kde->observe({batch});
    }
    rarefy::StateWriter one, two;
    kde->save(one);
    other->save(two);
    EXPECT_EQ(one.bytes(), two.bytes());
  }
}

TEST(KdeBlocks, RefuseAStateInWhichFeaturesShareAPlaceOrLeaveGaps) {
  const auto space = box(3);
  const Batch features = crowd(64, space, 0.1, 1);
  const auto load = [&](std::vector<Index> places) {
    KernelDensity kde(by_blocks(space), reservoir(3, 64));
    auto buffer = reservoir(3, 64);
    std::vector<Index> ignored;
    buffer->add(features, ignored);
    rarefy::StateWriter out;
    buffer->save(out);
    out.integer("blocks.count", 1);
    out.integer("blocks.spent", 0);
    out.real("blocks.longest", 1.0);
    out.integers("blocks.places", places);
    rarefy::StateReader in(out.bytes());
    kde.load(in);
    expect_estimate_of(features, kde, crowd(10, space, 0.1, 2));
  };
  std::vector<Index> places(64);
  for (Index i = 0; i < 64; ++i) places[static_cast<std::size_t>(i)] = i < 32 ? i : 31 - i;
  EXPECT_NO_THROW(load(places));
  const auto with = [&](std::size_t slot, Index place) {
    auto changed = places;
    changed[slot] = place;
    return changed;
  };
  EXPECT_THROW(load(with(3, 4)), rarefy::Error);
  EXPECT_THROW(load(with(3, 32)), rarefy::Error);
  EXPECT_THROW(load(with(40, -1)), rarefy::Error);
  EXPECT_THROW(load(with(40, -33)), rarefy::Error);
  EXPECT_THROW(load(with(40, std::numeric_limits<Index>::min())), rarefy::Error);
}

TEST(KdeBlocks, AreChosenWhereTheyAreFaster) {
  const auto method = [](Index dims, Index capacity, Kernel kernel = Kernel::gaussian) {
    return KernelDensity::method_for({.space = box(dims), .kernel = kernel}, capacity);
  };
  EXPECT_EQ(method(3, 10'000), KdeMethod::blocks);
  EXPECT_EQ(method(4, 100'000), KdeMethod::blocks);
  EXPECT_EQ(method(3, 0), KdeMethod::blocks);
  EXPECT_EQ(method(3, 1'000), KdeMethod::direct);
  EXPECT_EQ(method(3, 100'000, Kernel::triangular), KdeMethod::direct);
  EXPECT_EQ(method(6, 10'000), KdeMethod::direct);
  EXPECT_EQ(method(6, 100'000), KdeMethod::blocks);
  EXPECT_EQ(method(10, 1'000'000), KdeMethod::direct);
  // So many bandwidths that there would be too many panels.
  EXPECT_EQ(KernelDensity::method_for({.space = box(2), .bandwidth = Bandwidth::normalised(1e-4)},
                                      100'000),
            KdeMethod::blocks);
  EXPECT_THROW(
      (void)KernelDensity::method_for(
          {.space = box(3), .kernel = Kernel::epanechnikov, .method = KdeMethod::blocks}, 100),
      rarefy::Error);
  const KernelDensity kde(by_blocks(box(3)), reservoir(3, 100));
  EXPECT_EQ(kde.method(), KdeMethod::blocks);
  EXPECT_THAT(kde.description(), testing::HasSubstr("blocks"));
}

}  // namespace
