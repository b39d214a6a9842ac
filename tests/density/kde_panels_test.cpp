// Kernel density estimation by panels: that it is the same estimate.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "density/kde_reference.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/density/endless_buffer.hpp"
#include "rarefy/density/kde.hpp"
#include "rarefy/density/reservoir.hpp"
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

constexpr Index kHeld = kSanitized ? 300 : 2500;

FeatureSpace box(Index dims) {
  FeatureSpace space{{-3.0, 10.0}, {5.0, 500.0}};
  space.lower.resize(static_cast<std::size_t>(dims));
  space.upper.resize(static_cast<std::size_t>(dims));
  return space;
}

KdeOptions by_panels(const FeatureSpace& space, Bandwidth bandwidth = Bandwidth::scott()) {
  return {.space = space, .bandwidth = bandwidth, .method = KdeMethod::panels};
}

std::unique_ptr<rarefy::Reservoir> reservoir(Index dims, Index capacity) {
  return std::make_unique<rarefy::Reservoir>(
      rarefy::ReservoirOptions{.feature_dim = dims, .capacity = capacity, .seed = 1});
}

std::unique_ptr<KernelDensity> filled(const KdeOptions& options, Index capacity, int batches) {
  auto kde = std::make_unique<KernelDensity>(options, reservoir(options.space.dim(), capacity));
  for (int i = 0; i < batches; ++i) {
    kde->observe({uniform_batch(540, options.space.lower, options.space.upper,
                                static_cast<std::uint64_t>(i))});
  }
  return kde;
}

void expect_estimate_of(BatchView samples, KernelDensity& kde, BatchView queries) {
  const auto scores = scores_of(kde, queries);
  for (Index i = 0; i < queries.rows(); ++i) {
    ASSERT_NEAR(scores[static_cast<std::size_t>(i)],
                log_density(Kernel::gaussian, samples, kde.bandwidths(), queries.row(i)), 1e-5)
        << i;
  }
}

TEST(KdePanels, GiveTheEstimateOfTheBufferAsItChanges) {
  for (const Index dims : {1, 2}) {
    for (const double h0 : {0.03, 0.062, 0.4}) {
      const auto space = box(dims);
      KernelDensity kde(by_panels(space, Bandwidth::normalised(h0)), reservoir(dims, kHeld));
      EXPECT_FALSE(kde.informed());
      for (std::uint64_t i = 0; i < 12; ++i) {
        kde.observe({uniform_batch(540, space.lower, space.upper, i)});
        expect_estimate_of(kde.samples(), kde, uniform_batch(20, space.lower, space.upper, 90 + i));
      }
      EXPECT_TRUE(kde.informed());
    }
  }
}

// Far from every feature and outside the box: to the last digit but a few.
TEST(KdePanels, AreExactInTheFarTail) {
  const FeatureSpace space{{0.0, 0.0}, {1.0, 1.0}};
  KernelDensity kde(by_panels(space, Bandwidth::normalised(0.02)), reservoir(2, 500));
  kde.observe({uniform_batch(500, 2, 0.0, 0.1, 5)});
  Batch queries(0, 2);
  for (const double x : {0.5, 0.9, 0.99, 1.5, 30.0}) queries.append(std::vector{x, 1.0 - 0.5 * x});
  const auto scores = scores_of(kde, queries);
  for (Index i = 0; i < queries.rows(); ++i) {
    const double exact =
        log_density(Kernel::gaussian, kde.samples(), kde.bandwidths(), queries.row(i));
    EXPECT_NEAR(scores[static_cast<std::size_t>(i)], exact, 1e-11 * std::abs(exact));
  }
}

TEST(KdePanels, StayFiniteAndInOrderHoweverFarFeaturesAre) {
  const FeatureSpace space{{0.0, 0.0}, {1.0, 1.0}};
  for (const bool endless : {false, true}) {
    std::unique_ptr<rarefy::FeatureBuffer> buffer = reservoir(2, 500);
    if (endless) buffer = std::make_unique<rarefy::EndlessBuffer>(2, 1);
    KernelDensity kde(by_panels(space), std::move(buffer));
    kde.observe({uniform_batch(100, 2, 0.0, 1.0, 5)});
    Batch far(0, 2);
    far.append(std::vector{1e300, -1e300});
    kde.observe({far});
    Batch queries(0, 2);
    for (const double x : {0.5, 3.0, 1e3, 1e30, 1e100}) queries.append(std::vector{x, 0.5});
    const auto scores = scores_of(kde, queries);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      EXPECT_TRUE(std::isfinite(scores[i]));
      if (i > 0) {
        EXPECT_LT(scores[i], scores[i - 1]);
      }
    }
  }
}

// Nothing is forgotten: the estimate of an unlimited buffer is that of all that was ever seen.
TEST(KdePanels, RememberEverythingWithoutALimit) {
  const auto space = box(2);
  KernelDensity kde(by_panels(space), std::make_unique<rarefy::EndlessBuffer>(2, 1));
  Batch all(0, 2);
  for (std::uint64_t i = 0; i < 8; ++i) {
    const Batch batch = uniform_batch(kSanitized ? 200 : 2000, space.lower, space.upper, i);
    kde.observe({batch});
    for (Index row = 0; row < batch.rows(); ++row) all.append(batch.row(row));
  }
  EXPECT_EQ(kde.buffer().count(), all.rows());
  EXPECT_LE(kde.samples().rows(), rarefy::EndlessBuffer::kSample);
  expect_estimate_of(all, kde, uniform_batch(30, space.lower, space.upper, 99));
}

// What counts is the order: in a real search it is that of a sum in double precision, except
// where two densities are equal to 1e-5.
TEST(KdePanels, RankTheBatchesOfARealSearchAsAnExactSumDoes) {
  small::Options options;
  options.n = 100;
  options.emitters = 5;
  options.batch = 36;
  options.buffer = kHeld;
  small::Loop loop(options);
  auto& kde = dynamic_cast<KernelDensity&>(loop.search.density());
  ASSERT_EQ(kde.method(), kSanitized ? KdeMethod::direct : KdeMethod::panels);
  int swapped = 0;
  for (int i = 0; i < (kSanitized ? 12 : 150); ++i) {
    loop.evaluate();
    if (i > 0 && i % 5 == 0) {
      const auto scores = scores_of(kde, loop.features);
      std::vector<double> exact;
      for (Index row = 0; row < loop.features.rows(); ++row) {
        exact.push_back(
            log_density(Kernel::gaussian, kde.samples(), kde.bandwidths(), loop.features.row(row)));
      }
      std::vector<std::size_t> order(exact.size());
      std::iota(order.begin(), order.end(), 0U);
      std::sort(order.begin(), order.end(),
                [&](std::size_t a, std::size_t b) { return scores[a] < scores[b]; });
      for (std::size_t k = 1; k < order.size(); ++k) {
        const double behind = exact[order[k - 1]] - exact[order[k]];
        ASSERT_LE(behind, 1e-5) << "iteration " << i << ", rank " << k;
        if (behind > 0) ++swapped;
      }
    }
    loop.search.tell(loop.features, loop.objectives);
  }
  EXPECT_LE(swapped, 20);  // of about 5,200 neighbours
}

TEST(KdePanels, GoOnFromASavedStateToTheSameBits) {
  const auto space = box(2);
  for (const Index capacity : {Index{0}, kHeld}) {
    auto original = filled(by_panels(space), capacity, 9);
    rarefy::StateWriter out;
    original->save(out);
    KernelDensity copy(by_panels(space), reservoir(2, capacity));
    copy.observe({uniform_batch(100, space.lower, space.upper, 77)});  // must be forgotten
    rarefy::StateReader in(out.bytes());
    copy.load(in);
    for (std::uint64_t i = 100; i < 110; ++i) {
      const Batch queries = uniform_batch(40, space.lower, space.upper, i);
      ASSERT_EQ(scores_of(*original, queries), scores_of(copy, queries));
      original->observe({queries});
      copy.observe({queries});
    }
  }
}

TEST(KdePanels, RefuseAStateWhoseBufferHoldsAnotherNumberOfFeatures) {
  const auto space = box(2);
  const auto kde = filled(by_panels(space), 5000, 1);
  const auto other = filled(by_panels(space), 5000, 2);
  rarefy::StateWriter whole, buffer, out;
  kde->save(whole);
  // The panels of one with the buffer of the other.
  other->buffer().save(out);
  kde->buffer().save(buffer);
  auto bytes = out.bytes();
  bytes.insert(bytes.end(), whole.bytes().begin() + static_cast<Index>(buffer.bytes().size()),
               whole.bytes().end());
  KernelDensity copy(by_panels(space), reservoir(2, 5000));
  rarefy::StateReader in(bytes);
  EXPECT_THROW(copy.load(in), rarefy::Error);
}

TEST(KdeMethod, IsChosenByDimensionKernelBandwidthAndBuffer) {
  const auto method = [](const FeatureSpace& space, Index capacity,
                         Kernel kernel = Kernel::gaussian,
                         Bandwidth bandwidth = Bandwidth::scott()) {
    return KernelDensity::method_for({.space = space, .kernel = kernel, .bandwidth = bandwidth},
                                     capacity);
  };
  const FeatureSpace cube{{0, 0, 0}, {1, 1, 1}};
  EXPECT_EQ(method(box(1), 10'000), KdeMethod::panels);
  EXPECT_EQ(method(box(2), 10'000), KdeMethod::panels);
  EXPECT_EQ(method(box(2), 10'000'000), KdeMethod::panels);
  EXPECT_EQ(method(box(2), 0), KdeMethod::panels);
  EXPECT_EQ(method(box(2), 500), KdeMethod::direct);  // a few terms are soon added up
  EXPECT_EQ(method(cube, 10'000), KdeMethod::blocks);
  EXPECT_EQ(method(cube, 1'000), KdeMethod::direct);
  EXPECT_EQ(method(box(2), 10'000, Kernel::triangular), KdeMethod::direct);
  EXPECT_EQ(method(box(2), 10'000, Kernel::gaussian, Bandwidth::normalised(0.01)),
            KdeMethod::panels);
  EXPECT_EQ(method(box(2), 10'000, Kernel::gaussian, Bandwidth::normalised(0.001)),
            KdeMethod::blocks);
}

TEST(KdeMethod, SaysWhyPanelsCannotServe) {
  const auto trouble = [](KdeOptions options) {
    options.method = KdeMethod::panels;
    try {
      (void)KernelDensity::method_for(options, 10'000);
    } catch (const rarefy::Error& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  const FeatureSpace cube{{0, 0, 0}, {1, 1, 1}};
  EXPECT_EQ(trouble({.space = box(2)}), "none");
  EXPECT_THAT(trouble({.space = cube}), testing::HasSubstr("3 features"));
  EXPECT_THAT(trouble({.space = box(2), .kernel = Kernel::epanechnikov}),
              testing::HasSubstr("epanechnikov"));
  EXPECT_THAT(trouble({.space = box(2), .bandwidth = Bandwidth::normalised(0.001)}),
              testing::HasSubstr("1000 x 1000 bandwidths"));
  EXPECT_THROW((void)rarefy::named<rarefy::KdeMethod>("panel"), rarefy::Error);
}

TEST(KdeMethod, IsToldInWords) {
  EXPECT_EQ(filled({.space = box(2)}, 10'000, 0)->description(), "panels, 6 x 6");
  EXPECT_EQ(filled({.space = box(2)}, 100, 0)->description(), "direct sums");
}

}  // namespace
