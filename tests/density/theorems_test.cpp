// What the paper proves about kernel density estimates, tried on ours.
//
// The paper's equation for the estimate is
//   D_h(y; B) = 1 / (|B| h) sum over y' in B of K(|y - y'| / h),   0 <= K <= 1.
// Ours divides by |B| c h^m (see kde.hpp), so D_h = p c h^(m-1) when all features share one h.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "density/kde_reference.hpp"
#include "rarefy/density/kde.hpp"
#include "rarefy/density/reservoir.hpp"
#include "support/random_batches.hpp"

namespace {

using kde_reference::documented_error;
using kde_reference::estimate_over;
using kde_reference::kernel_integral;
using kde_reference::kKernels;
using kde_reference::radius;
using kde_reference::scores_of;
using rarefy::Bandwidth;
using rarefy::Batch;
using rarefy::BatchView;
using rarefy::FeatureSpace;
using rarefy::Index;
using rarefy::Kernel;
using rarefy::KernelDensity;

FeatureSpace cube(Index dims, double low, double high) {
  const auto count = static_cast<std::size_t>(dims);
  return {std::vector<double>(count, low), std::vector<double>(count, high)};
}

std::vector<double> papers_density(KernelDensity& kde, Kernel kernel, BatchView probes) {
  auto values = scores_of(kde, probes);
  const double h = kde.bandwidths()[0];
  const double factor =
      kernel_integral(kernel, probes.cols()) * std::pow(h, static_cast<double>(probes.cols() - 1));
  // exp(kNoDensity) is 0, as it should be.
  for (double& value : values) value = std::exp(value) * factor;
  return values;
}

/// The greatest difference over all probes, and how much of it may be rounding.
struct Change {
  double greatest = 0.0;
  double rounding = 0.0;
};

Change change(const std::vector<double>& before, const std::vector<double>& after, double error) {
  Change result;
  for (std::size_t i = 0; i < before.size(); ++i) {
    result.greatest = std::max(result.greatest, std::abs(before[i] - after[i]));
    result.rounding = std::max(result.rounding, error * (before[i] + after[i]));
  }
  return result;
}

void append(Batch& batch, BatchView more) {
  for (Index i = 0; i < more.rows(); ++i) batch.append(more.row(i));
}

// Theorem "kde_stability": exchange one element, and D_h changes nowhere by more than
// 1 / (|B| h). Probed all over the space, near both exchanged points and at them.
TEST(UniformStability, ExchangingOneFeatureMovesTheEstimateByAtMostOneOverBufferSizeTimesH) {
  for (const Kernel kernel : kKernels) {
    for (const Index dims : {1, 2, 10}) {
      for (const double h : {0.05, 0.5, 3.0}) {
        for (const Index size : {1, 20, 200}) {
          const auto space = cube(dims, 0, 1);
          Batch points = uniform_batch(size, space.lower, space.upper, 7);
          const Batch newcomers = uniform_batch(4, dims, -0.5, 1.5, 8);
          const rarefy::KdeOptions options{
              .space = space, .kernel = kernel, .bandwidth = Bandwidth::absolute(h)};
          auto before = estimate_over(points, options);
          const double bound = 1.0 / (static_cast<double>(size) * h);
          for (Index n = 0; n < newcomers.rows(); ++n) {
            const Index slot = (7 * n) % size;
            Batch changed = points;
            std::copy(newcomers.row(n).begin(), newcomers.row(n).end(), changed.row(slot).begin());
            auto after = estimate_over(changed, options);
            Batch probes = uniform_batch(200, dims, -1.0, 2.0, 9);
            append(probes, points);
            append(probes, changed);
            for (const double step : {1e-3, -0.1, 0.5}) {
              for (const auto centre : {points.view().row(slot), newcomers.row(n)}) {
                std::vector<double> probe(centre.begin(), centre.end());
                for (double& value : probe) value += step * h;
                probes.append(probe);
              }
            }
            // Probes lie up to a width outside the box: its error with three times the r.
            const double error = 2e-6 * (1.0 + 3.0 * radius(space, before.bandwidths()));
            const auto moved = change(papers_density(before, kernel, probes),
                                      papers_density(after, kernel, probes), error);
            EXPECT_LE(moved.greatest, bound + moved.rounding)
                << rarefy::name_of(kernel) << ", " << dims << " features, h " << h << ", |B| "
                << size;
            EXPECT_LT(moved.rounding, 0.05 * static_cast<double>(size) * bound)
                << "too coarse to tell";
          }
        }
      }
    }
  }
}

// The bound cannot be improved: a feature that moves out of reach takes all of it along.
TEST(UniformStability, TheBoundIsAttained) {
  for (const Kernel kernel : kKernels) {
    for (const Index dims : {1, 2, 10}) {
      constexpr Index kSize = 50;
      const double h = 0.7;
      const auto space = cube(dims, 0, 30);
      Batch points = uniform_batch(kSize, dims, 25.0, 30.0, 17);
      Batch changed = points;
      for (double& value : points.row(3)) value = 1.0;    // alone in one corner, ...
      for (double& value : changed.row(3)) value = 13.0;  // ... then alone in the middle
      const rarefy::KdeOptions options{
          .space = space, .kernel = kernel, .bandwidth = Bandwidth::absolute(h)};
      auto before = estimate_over(points, options);
      auto after = estimate_over(changed, options);
      Batch probe(0, dims);
      probe.append(points.row(3));
      const auto moved =
          change(papers_density(before, kernel, probe), papers_density(after, kernel, probe), 0.0);
      const double bound = 1.0 / (static_cast<double>(kSize) * h);
      const double error = documented_error(space, before.bandwidths());
      EXPECT_GT(moved.greatest, bound * (1.0 - 2.0 * error)) << rarefy::name_of(kernel);
      EXPECT_LE(moved.greatest, bound * (1.0 + 2.0 * error)) << rarefy::name_of(kernel);
    }
  }
}

// "Managed with reservoir sampling, such that features are exchanged one at a time": item by
// item through our own reservoir, once it is full.
TEST(UniformStability, HoldsForEveryExchangeTheReservoirMakes) {
  constexpr Index kSize = 40;
  const double h = 0.3;
  const auto space = cube(2, 0, 1);
  const double bound = 1.0 / (static_cast<double>(kSize) * h);
  for (const Kernel kernel : kKernels) {
    KernelDensity kde({.space = space, .kernel = kernel, .bandwidth = Bandwidth::absolute(h)},
                      std::make_unique<rarefy::Reservoir>(rarefy::ReservoirOptions{
                          .feature_dim = 2, .capacity = kSize, .seed = 3}));
    kde.observe({uniform_batch(kSize, 2, 0, 1, 18)});
    int exchanges = 0;
    double greatest = 0.0;
    for (std::uint64_t step = 0; step < 400; ++step) {
      const Batch item = uniform_batch(1, 2, 0, 1, 1000 + step);
      Batch probes = uniform_batch(30, 2, -0.5, 1.5, 5000 + step);
      append(probes, item);
      append(probes, kde.buffer().contents());
      const auto before = papers_density(kde, kernel, probes);
      kde.observe({item});
      const auto moved = change(before, papers_density(kde, kernel, probes),
                                2.0 * documented_error(space, kde.bandwidths()));
      EXPECT_LE(moved.greatest, bound + moved.rounding);
      greatest = std::max(greatest, moved.greatest);
      exchanges += moved.greatest > 0.0 ? 1 : 0;
    }
    EXPECT_GT(exchanges, 50);
    EXPECT_LT(exchanges, 400);
    EXPECT_GT(greatest, 0.8 * bound) << "the probes missed where it matters";
  }
}

// Theorem "bandwidth_selection": Y = aX + b with bandwidth ah is the same estimate. As a
// density it loses the factor a^m, in the paper's normalisation the factor a; rankings stay.
TEST(AffineBandwidth, StretchingFeaturesAndBandwidthShiftsLogDensitiesByMLogA) {
  for (const Kernel kernel : kKernels) {
    for (const Index dims : {1, 2, 5, 10}) {
      const auto space = cube(dims, -1, 1);
      const Batch points = uniform_batch(400, space.lower, space.upper, 27);
      const Batch queries = uniform_batch(120, dims, -3.0, 3.0, 28);
      // In features that are a times as large; two rules follow the width of the space.
      using BandwidthFor = Bandwidth (*)(double a);
      for (const BandwidthFor bandwidth_for :
           {BandwidthFor([](double a) { return Bandwidth::absolute(0.9 * a); }),
            BandwidthFor([](double) { return Bandwidth::normalised(0.45); }),
            BandwidthFor([](double) { return Bandwidth::scott(); })}) {
        const auto bandwidth = bandwidth_for(1.0);
        auto kde =
            estimate_over(points, {.space = space, .kernel = kernel, .bandwidth = bandwidth});
        const auto scores = scores_of(kde, queries);
        for (const double a : {0.25, 8.0, 1024.0}) {
          // Powers of two multiply without rounding: nothing may differ but the logarithm.
          Batch points2 = points, queries2 = queries;
          for (double& value : points2.values()) value *= a;
          for (double& value : queries2.values()) value *= a;
          auto kde2 = estimate_over(
              points2,
              {.space = cube(dims, -a, a), .kernel = kernel, .bandwidth = bandwidth_for(a)});
          const auto scores2 = scores_of(kde2, queries2);
          for (std::size_t i = 0; i < scores.size(); ++i) {
            // Out of reach there is no density to shift, only a distance in bandwidths.
            const double shift = scores[i] <= KernelDensity::kNoDensity
                                     ? 0.0
                                     : static_cast<double>(dims) * std::log(a);
            ASSERT_NEAR(scores2[i], scores[i] - shift, 1e-13 * std::abs(scores[i]) + 1e-12)
                << rarefy::name_of(kernel) << ", " << dims << " features, a " << a << ", "
                << bandwidth.text();
          }
        }
      }
    }
  }
}

TEST(AffineBandwidth, HoldsForAnyFactorAndShiftAndLeavesRankingsAlone) {
  for (const Index dims : {1, 2, 10}) {
    const auto space = cube(dims, 0, 1);
    const Batch points = uniform_batch(400, space.lower, space.upper, 37);
    const Batch queries = uniform_batch(100, dims, -1.0, 2.0, 38);
    auto kde = estimate_over(points, {.space = space});
    const auto scores = scores_of(kde, queries);
    for (const auto& [a, b] : {std::pair{3.7, 100.0}, {0.013, -20.0}, {512.3, 1.0}}) {
      const auto moved = [a = a, b = b](double x) { return a * x + b; };
      Batch points2 = points, queries2 = queries;
      for (double& value : points2.values()) value = moved(value);
      for (double& value : queries2.values()) value = moved(value);
      auto kde2 = estimate_over(points2, {.space = cube(dims, moved(0.0), moved(1.0))});
      const auto scores2 = scores_of(kde2, queries2);
      const double shift = static_cast<double>(dims) * std::log(a);
      // Queries lie up to a width outside; each side makes its own error.
      const double error = 4e-6 * (1.0 + 3.0 * radius(space, kde.bandwidths()));
      for (std::size_t i = 0; i < scores.size(); ++i) {
        EXPECT_NEAR(scores2[i], scores[i] - shift, error + 1e-9 * std::abs(scores[i]));
        for (std::size_t j = 0; j < i; ++j) {
          if (std::abs(scores[i] - scores[j]) <= 2.0 * error + 1e-9 * std::abs(scores[i])) continue;
          EXPECT_EQ(scores[i] < scores[j], scores2[i] < scores2[j]);
        }
      }
    }
  }
}

// Theorem "ns=kde": with a triangular kernel that reaches across the whole space, the density
// ranks like the mean distance to all features, turned around.
TEST(NoveltyEquivalence, AWideTriangularKernelRanksLikeTheMeanDistance) {
  for (const Index dims : {1, 2, 10}) {
    const auto space = cube(dims, 0, 1);
    const double diameter = std::sqrt(static_cast<double>(dims));
    const Batch points = uniform_batch(300, space.lower, space.upper, 47);
    const Batch queries = uniform_batch(150, space.lower, space.upper, 48);
    auto kde = estimate_over(
        points,
        {.space = space, .kernel = Kernel::triangular, .bandwidth = Bandwidth::absolute(diameter)});
    const auto scores = scores_of(kde, queries);
    const std::vector<double> ones(static_cast<std::size_t>(dims), 1.0);
    std::vector<double> novelty;
    for (Index i = 0; i < queries.rows(); ++i) {
      double sum = 0.0;
      for (Index j = 0; j < points.rows(); ++j) {
        sum += kde_reference::distance(queries.row(i), points.row(j), ones);
      }
      novelty.push_back(sum / static_cast<double>(points.rows()));
    }
    int compared = 0;
    for (std::size_t i = 0; i < novelty.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        // |d ln D| >= |d novelty| / diameter, as D <= 1: closer than the errors is a tie.
        if (std::abs(novelty[i] - novelty[j]) / diameter <=
            2.0 * documented_error(space, kde.bandwidths())) {
          continue;
        }
        ++compared;
        EXPECT_EQ(scores[i]<scores[j], novelty[i]> novelty[j]);
      }
    }
    EXPECT_GT(compared, 11'000);  // of 11,175 pairs
  }
}

}  // namespace
