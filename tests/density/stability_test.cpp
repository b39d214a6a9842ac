// The theorem "kde_stability" again, exchange by exchange: by exact sums, which may not be off by
// more than rounding, and by direct sums and panels, which may be off by their stated errors.
// (experiments/stability.cpp measures the same in real runs.)
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "density/kde_reference.hpp"
#include "rarefy/density/kde.hpp"
#include "rarefy/density/novelty.hpp"
#include "rarefy/density/reservoir.hpp"
#include "support/random_batches.hpp"

namespace {

using rarefy::Batch;
using rarefy::BatchView;
using rarefy::Index;
using rarefy::KdeMethod;
using rarefy::KernelDensity;

// Means of kernels, h times the paper's D.
std::vector<double> exact(BatchView buffer, BatchView places, std::span<const double> h) {
  std::vector<double> means;
  for (Index i = 0; i < places.rows(); ++i) {
    double sum = 0.0;
    for (Index j = 0; j < buffer.rows(); ++j) {
      sum += kde_reference::kernel_value(rarefy::Kernel::gaussian,
                                         kde_reference::distance(places.row(i), buffer.row(j), h));
    }
    means.push_back(sum / static_cast<double>(buffer.rows()));
  }
  return means;
}

std::vector<double> estimated(KernelDensity& kde, BatchView places) {
  auto means = kde_reference::scores_of(kde, places);
  double factor = kde_reference::kernel_integral(rarefy::Kernel::gaussian, places.cols());
  for (const double h : kde.bandwidths()) factor *= h;
  for (double& value : means) value = std::exp(value) * factor;
  return means;
}

struct Case {
  KdeMethod method;
  Index dims;
  double h;
};

class Stability : public testing::TestWithParam<Case> {};

TEST_P(Stability, NoSingleExchangeMovesTheEstimateByMoreThanTheBound) {
  const auto [method, dims, h] = GetParam();
  constexpr Index kSize = 60;
  const std::vector<double> low(static_cast<std::size_t>(dims), 0.0);
  const std::vector<double> high(static_cast<std::size_t>(dims), 1.0);
  const rarefy::FeatureSpace space{low, high};
  KernelDensity kde({.space = space, .bandwidth = rarefy::Bandwidth::absolute(h), .method = method},
                    std::make_unique<rarefy::Reservoir>(rarefy::ReservoirOptions{
                        .feature_dim = dims, .capacity = kSize, .seed = 5}));
  ASSERT_EQ(kde.method(), method);
  kde.observe({uniform_batch(kSize, dims, 0, 1, 61)});
  const double bound = 1.0 / static_cast<double>(kSize);
  const double stated =
      method == KdeMethod::panels ? 1e-5 : kde_reference::documented_error(space, kde.bandwidths());
  int exchanges = 0;
  double greatest = 0.0;
  for (std::uint64_t step = 0; step < 300; ++step) {
    const Batch item = uniform_batch(1, dims, 0, 1, 2000 + step);
    const auto contents = kde.buffer().contents();
    const Batch before(std::vector<double>(contents.values().begin(), contents.values().end()),
                       contents.rows(), dims);
    Batch places = uniform_batch(40, dims, 0, 1, 7000 + step);
    for (Index i = 0; i < before.rows(); ++i) places.append(before.row(i));
    places.append(item.row(0));
    const auto then = estimated(kde, places);
    kde.observe({item});
    const auto now = estimated(kde, places);
    const auto exactly_then = exact(before, places, kde.bandwidths());
    const auto exactly_now = exact(kde.buffer().contents(), places, kde.bandwidths());
    bool moved = false;
    for (std::size_t i = 0; i < now.size(); ++i) {
      const double exact_change = std::abs(exactly_now[i] - exactly_then[i]);
      ASSERT_LE(exact_change, bound + 1e-14);
      const double error = stated * (now[i] + then[i]);
      ASSERT_LE(std::abs(now[i] - then[i]), bound + error);
      ASSERT_LE(std::abs(std::abs(now[i] - then[i]) - exact_change), error + 1e-14);
      greatest = std::max(greatest, exact_change);
      moved = moved || exact_change > 0.0;
    }
    exchanges += moved ? 1 : 0;
  }
  EXPECT_GT(exchanges, 50);
  EXPECT_GT(greatest, 0.9 * bound) << "the places missed where it matters";
}

INSTANTIATE_TEST_SUITE_P(
    Of, Stability,
    testing::Values(Case{KdeMethod::direct, 1, 0.05}, Case{KdeMethod::direct, 2, 0.1},
                    Case{KdeMethod::direct, 10, 0.3}, Case{KdeMethod::panels, 1, 0.05},
                    Case{KdeMethod::panels, 2, 0.1}, Case{KdeMethod::panels, 2, 0.25}),
    [](const auto& test) {
      return std::string(rarefy::name_of(test.param.method)) + "_" +
             std::to_string(test.param.dims) + "_" +
             std::to_string(std::lround(100 * test.param.h));
    });

// Several at once are several single exchanges: r of them move the estimate by r times the bound.
TEST(StabilityOfBatches, GrowsWithTheExchangesAtMost) {
  for (const auto method : {KdeMethod::direct, KdeMethod::panels}) {
    constexpr Index kSize = 200;
    KernelDensity kde({.space = {{0, 0}, {1, 1}},
                       .bandwidth = rarefy::Bandwidth::absolute(0.1),
                       .method = method},
                      std::make_unique<rarefy::Reservoir>(rarefy::ReservoirOptions{
                          .feature_dim = 2, .capacity = kSize, .seed = 5}));
    kde.observe({uniform_batch(kSize, 2, 0, 0.3, 71)});
    const Batch places = uniform_batch(500, 2, 0, 1, 72);
    for (std::uint64_t step = 0; step < 20; ++step) {
      const auto contents = kde.buffer().contents();
      const std::vector<double> before(contents.values().begin(), contents.values().end());
      const auto then = estimated(kde, places);
      kde.observe({uniform_batch(60, 2, 0.6, 1, 100 + step)});
      const auto now = estimated(kde, places);
      Index exchanged = 0;
      for (Index i = 0; i < kSize; ++i) {
        const auto row = kde.buffer().contents().row(i);
        exchanged += std::equal(row.begin(), row.end(), before.begin() + 2 * i) ? 0 : 1;
      }
      for (std::size_t i = 0; i < now.size(); ++i) {
        ASSERT_LE(std::abs(now[i] - then[i]),
                  static_cast<double>(exchanged) / kSize + 2e-5 * (now[i] + then[i]));
      }
    }
  }
}

// Theorem "ns_stability" for a members that enter at once: a times W / k.
TEST(StabilityOfBatches, NoveltyFallsByNoMoreThanItsBoundForEachThatEnters) {
  constexpr Index kNeighbours = 10;
  const double diameter = std::sqrt(2.0);
  rarefy::NoveltyDensity novelty(
      {.space = {{0, 0}, {1, 1}}, .neighbours = kNeighbours, .threshold = 0.02});
  novelty.observe({uniform_batch(40, 2, 0, 0.3, 81)});
  const Batch places = uniform_batch(500, 2, 0, 1, 82);
  double greatest = 0.0;
  for (std::uint64_t step = 0; step < 20; ++step) {
    const Index members = novelty.members();
    const auto then = kde_reference::scores_of(novelty, places);
    novelty.observe({uniform_batch(5, 2, 0, 1, 300 + step)});
    const auto entered = static_cast<double>(novelty.members() - members);
    const auto now = kde_reference::scores_of(novelty, places);
    for (std::size_t i = 0; i < now.size(); ++i) {
      ASSERT_GE(now[i], then[i] - 1e-13) << "scores are negated novelty: it only falls";
      ASSERT_LE(now[i] - then[i], entered * diameter / kNeighbours + 1e-13);
      greatest = std::max(greatest, (now[i] - then[i]) / (entered * diameter / kNeighbours));
    }
  }
  EXPECT_GT(greatest, 0.2);
}

}  // namespace
