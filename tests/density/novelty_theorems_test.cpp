// What the paper proves about novelty.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "density/kde_reference.hpp"
#include "density/novelty_cases.hpp"
#include "rarefy/density/kde.hpp"
#include "rarefy/density/novelty.hpp"
#include "support/random_batches.hpp"

namespace {

using novelty_cases::at;
using novelty_cases::box;
using novelty_cases::column;
using novelty_cases::distance;
using novelty_cases::joined;
using novelty_cases::scores_of;
using novelty_cases::with_archive;
using rarefy::Batch;
using rarefy::Index;

}  // namespace

// Theorem "ns_stability": novelty is W/k-uniformly stable. Exchange one member for another at
// distance W, and it changes nowhere by more than W / k. (The paper has W the diameter of feature
// space, which bounds that distance.)
TEST(NoveltyStability, ExchangingOneMemberMovesItByAtMostItsMoveOverK) {
  double greatest = 0.0;
  for (const Index dims : {1, 2, 10}) {
    for (const Index size : {30, 400}) {
      const Batch members = uniform_batch(size, dims, -5.0, 5.0, 501);
      const Batch newcomers = uniform_batch(6, dims, -5.0, 5.0, 502);
      for (const Index k : {1, 10, 30}) {
        auto before = with_archive(members, {.neighbours = k});
        for (Index n = 0; n < newcomers.rows(); ++n) {
          const Index slot = 5 * n;
          Batch changed = members;
          std::copy(newcomers.row(n).begin(), newcomers.row(n).end(), changed.row(slot).begin());
          auto after = with_archive(changed, {.neighbours = k});
          // All over the space, at the members, and at both exchanged points.
          const Batch probes = joined(joined(uniform_batch(100, dims, -6.0, 6.0, 503), members),
                                      newcomers.view().rows(n, 1));
          const auto a = scores_of(*before, probes);
          const auto b = scores_of(*after, probes);
          const auto moved = static_cast<double>(distance(members.row(slot), newcomers.row(n)));
          const double bound = moved / static_cast<double>(k);
          for (std::size_t i = 0; i < a.size(); ++i) {
            ASSERT_LE(std::abs(a[i] - b[i]), bound + 1e-13)
                << dims << " features, " << size << " members, k " << k;
            greatest = std::max(greatest, std::abs(a[i] - b[i]) / bound);
          }
        }
      }
    }
  }
  EXPECT_GT(greatest, 0.9) << "the probes missed where it matters";
}

// The paper's proof adds one: then it is the k-th neighbour that gives way.
TEST(NoveltyStability, AddingOneMemberMovesItByAtMostTheDiameterOverK) {
  for (const Index dims : {1, 2, 10}) {
    const double diameter = 10.0 * std::sqrt(static_cast<double>(dims));
    const Batch members = uniform_batch(200, dims, -5.0, 5.0, 511);
    const Batch newcomers = uniform_batch(6, dims, -5.0, 5.0, 512);
    for (const Index k : {1, 10, 200}) {
      auto before = with_archive(members, {.neighbours = k});
      for (Index n = 0; n < newcomers.rows(); ++n) {
        auto after = with_archive(joined(members, newcomers.view().rows(n, 1)), {.neighbours = k});
        const Batch probes = joined(uniform_batch(200, dims, -5.0, 5.0, 513), newcomers);
        const auto a = scores_of(*before, probes);
        const auto b = scores_of(*after, probes);
        for (std::size_t i = 0; i < a.size(); ++i) {
          EXPECT_LE(std::abs(a[i] - b[i]), diameter / static_cast<double>(k) + 1e-13);
          EXPECT_GE(b[i], a[i] - 1e-13) << "a member more makes nothing more novel";
        }
      }
    }
  }
}

TEST(NoveltyStability, TheBoundIsAttained) {
  // All members are neighbours, and one moves straight away from the probe.
  auto before = with_archive(column({1, 2, 3, 4}), {.neighbours = 4});
  auto after = with_archive(column({1, 2, 3, 12}), {.neighbours = 4});
  const Batch probe = column({0});
  EXPECT_EQ(scores_of(*before, probe)[0] - scores_of(*after, probe)[0], 8.0 / 4.0);
}

// Theorem "ns=kde": with k = |B| novelty ranks exactly as a kernel density of B does whose
// triangular kernel reaches across the whole space. Moreover, h^m c p = 1 - rho / h.
TEST(NoveltyAsKernelDensity, WithAllNeighboursItRanksAsATriangularKernelDoes) {
  for (const Index dims : {1, 2, 10}) {
    const auto space = box(dims);
    const Batch points = uniform_batch(300, dims, -5.0, 5.0, 521);
    const Batch queries = uniform_batch(150, dims, -5.0, 5.0, 522);
    const double reach = 10.0 * std::sqrt(static_cast<double>(dims));
    auto kde =
        kde_reference::estimate_over(points, {.space = space,
                                              .kernel = rarefy::Kernel::triangular,
                                              .bandwidth = rarefy::Bandwidth::absolute(reach)});
    const auto log_density = kde_reference::scores_of(kde, queries);
    const double error = kde_reference::documented_error(space, kde.bandwidths());
    const double log_constant =
        std::log(kde_reference::kernel_integral(rarefy::Kernel::triangular, dims)) +
        static_cast<double>(dims) * std::log(reach);
    for (const Index k : {300, 1'000'000}) {
      auto density = with_archive(points, {.neighbours = k});
      const auto novelty = scores_of(*density, queries);
      int compared = 0;
      for (std::size_t i = 0; i < novelty.size(); ++i) {
        const double share = 1.0 + novelty[i] / reach;
        EXPECT_NEAR(log_density[i] + log_constant, std::log(share), error);
        for (std::size_t j = 0; j < i; ++j) {
          // Closer in log-density than twice its error, the kernel density cannot tell them apart.
          const double other = 1.0 + novelty[j] / reach;
          if (std::abs(std::log(share / other)) <= 2.0 * error) continue;
          ++compared;
          EXPECT_EQ(log_density[i] < log_density[j], novelty[i] < novelty[j]);
        }
      }
      EXPECT_GT(compared, 11'000);  // of 11,175 pairs
    }
  }
}
