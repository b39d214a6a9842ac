// Kernel density estimation with a bandwidth that follows the data.
#include <gtest/gtest.h>

#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "density/kde_reference.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/random.hpp"
#include "rarefy/density/kde.hpp"
#include "rarefy/density/reservoir.hpp"

namespace {

using kde_reference::log_density;
using kde_reference::scores_of;
using rarefy::Bandwidth;
using rarefy::Batch;
using rarefy::FeatureSpace;
using rarefy::Index;
using rarefy::KdeMethod;
using rarefy::KdeOptions;
using rarefy::Kernel;
using rarefy::KernelDensity;

constexpr Index kCapacity = 2500;

FeatureSpace box(Index dims) {
  const auto count = static_cast<std::size_t>(dims);
  return {std::vector<double>(count, -1.0), std::vector<double>(count, 1.0)};
}

std::unique_ptr<KernelDensity> estimate(Index dims, KdeMethod method = KdeMethod::automatic,
                                        Bandwidth rule = Bandwidth::spread()) {
  return std::make_unique<KernelDensity>(
      KdeOptions{.space = box(dims), .bandwidth = rule, .method = method},
      std::make_unique<rarefy::Reservoir>(
          rarefy::ReservoirOptions{.feature_dim = dims, .capacity = kCapacity, .seed = 1}));
}

// Crowds that grow from one iteration to the next.
Batch crowd(Index dims, std::uint64_t iteration) {
  Batch batch(300, dims);
  rarefy::fill_normals({.seed = 5, .iteration = iteration}, batch.values());
  for (double& value : batch.values()) value *= 0.05 + 0.01 * static_cast<double>(iteration);
  return batch;
}

// By every method: panels in one and two dimensions, direct sums and blocks beyond.
TEST(KdeSpread, IsTheEstimateWithTheBandwidthsThatItSays) {
  for (const auto& [dims, method, error] :
       {std::tuple{1, KdeMethod::panels, 1e-5}, std::tuple{2, KdeMethod::panels, 1e-5},
        std::tuple{2, KdeMethod::direct, 1e-4}, std::tuple{3, KdeMethod::blocks, 1.1e-3}}) {
    const auto kde = estimate(dims, method);
    double before = kde->bandwidths()[0];
    int fits = 0;
    for (std::uint64_t i = 0; i < 30; ++i) {
      kde->observe({crowd(dims, i)});
      if (kde->bandwidths()[0] != before) ++fits;
      before = kde->bandwidths()[0];
      const Batch queries = crowd(dims, 100 + i);
      const auto few = queries.view().rows(0, 3);
      const auto scores = scores_of(*kde, few);
      for (Index k = 0; k < few.rows(); ++k) {
        ASSERT_NEAR(scores[static_cast<std::size_t>(k)],
                    log_density(Kernel::gaussian, kde->samples(), kde->bandwidths(), few.row(k)),
                    error);
      }
    }
    // 300 seen, then half as many more each time, up to 9,000: 300, 600, 1200, 2100, 3300, 5100,
    // 7800.
    EXPECT_EQ(fits, 7);
  }
}

TEST(KdeSpread, GoesOnToTheSameBitsFromASavedState) {
  for (const auto& [dims, method, rule] :
       {std::tuple{2, KdeMethod::panels, Bandwidth::spread()},
        std::tuple{2, KdeMethod::panels, Bandwidth::likelihood()},
        std::tuple{2, KdeMethod::direct, Bandwidth::spread()},
        std::tuple{3, KdeMethod::blocks, Bandwidth::spread()}}) {
    const auto kde = estimate(dims, method, rule);
    for (std::uint64_t i = 0; i < 6; ++i) {
      rarefy::StateWriter out;
      kde->save(out);
      const auto other = estimate(dims, method, rule);
      rarefy::StateReader in(out.bytes());
      other->load(in);
      EXPECT_TRUE(in.at_end());
      for (std::uint64_t k = 0; k < 2; ++k) {
        const Batch batch = crowd(dims, i);
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
}

TEST(KdeSpread, CannotHavePanelsThatKeepNoFeatures) {
  const auto method = [](KdeMethod wanted) {
    return KernelDensity::method_for(
        {.space = box(2), .bandwidth = Bandwidth::spread(), .method = wanted}, 0);
  };
  EXPECT_EQ(method(KdeMethod::automatic), KdeMethod::blocks);
  EXPECT_THROW((void)method(KdeMethod::panels), rarefy::Error);
}

}  // namespace
