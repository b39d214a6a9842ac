#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numbers>
#include <vector>

#include "rarefy/compat/published.hpp"
#include "rarefy/core/state.hpp"
#include "rarefy/core/workers.hpp"
#include "rarefy/density/kde.hpp"
#include "support/random_batches.hpp"

namespace {

using rarefy::Bandwidth;
using rarefy::Batch;
using rarefy::BatchView;
using rarefy::FeatureSpace;
using rarefy::Index;
using rarefy::KernelDensity;
using rarefy::compat::PublishedBuffer;
using rarefy::compat::PublishedDensity;

FeatureSpace cube(Index dims, double low, double high) {
  const auto count = static_cast<std::size_t>(dims);
  return {std::vector<double>(count, low), std::vector<double>(count, high)};
}

struct Estimate {
  const PublishedBuffer* buffer;
  std::unique_ptr<PublishedDensity> density;
};

Estimate make(Index dims, Index capacity, double h, double reach) {
  auto buffer = std::make_unique<PublishedBuffer>(
      rarefy::compat::PublishedBufferOptions{.feature_dim = dims, .capacity = capacity, .seed = 7});
  const PublishedBuffer* held = buffer.get();
  return {held, std::make_unique<PublishedDensity>(std::make_unique<KernelDensity>(
                    rarefy::KdeOptions{.space = cube(dims, -reach, reach),
                                       .bandwidth = Bandwidth::absolute(h)},
                    std::move(buffer)))};
}

std::vector<double> scores_of(PublishedDensity& density, BatchView queries) {
  rarefy::Workers alone(1);
  std::vector<double> scores(static_cast<std::size_t>(queries.rows()));
  density.score({queries}, scores, alone);
  return scores;
}

// D(y) = 1 / (N h sqrt(2 pi)) sum_i exp(-|y - b_i|^2 / (2 h^2)), in every dimension.
double direct(BatchView points, double h, std::span<const double> query) {
  double sum = 0.0;
  for (Index i = 0; i < points.rows(); ++i) {
    double squared = 0.0;
    for (std::size_t d = 0; d < query.size(); ++d) {
      squared += std::pow(query[d] - points.row(i)[d], 2.0);
    }
    sum += std::exp(-squared / (2.0 * h * h));
  }
  return sum / (static_cast<double>(points.rows()) * h * std::sqrt(2.0 * std::numbers::pi));
}

TEST(PublishedDensity, FollowsTheFormulaInEveryDimension) {
  for (const Index dims : {1, 2, 3, 10}) {
    for (const double h : {2.56, 10.0, 25.6}) {
      const double reach = 50.0;
      auto [buffer, density] = make(dims, 1000, h, reach);
      density->observe({uniform_batch(700, dims, -reach, reach, 3)});  // 300 slots unfilled
      density->observe({uniform_batch(500, dims, -reach, reach, 4)});
      const Batch queries = uniform_batch(60, dims, -reach, reach, 5);
      const auto scores = scores_of(*density, queries);
      const double radius = reach * std::sqrt(static_cast<double>(dims)) / h;
      for (Index i = 0; i < queries.rows(); ++i) {
        const double expected = direct(buffer->contents(), h, queries.row(i));
        // The error of a log-density, kde.hpp, is the relative error of a density.
        EXPECT_NEAR(scores[static_cast<std::size_t>(i)], expected,
                    2.1e-6 * (1.0 + radius) * expected)
            << dims << " features, h " << h;
      }
    }
  }
}

TEST(PublishedDensity, UnfilledSlotsSitAtTheOriginAndCount) {
  auto [buffer, density] = make(2, 100, 10.0, 50.0);
  EXPECT_TRUE(density->informed()) << "there are samples from the start";
  Batch origin(1, 2);
  const double peak = 1.0 / (10.0 * std::sqrt(2.0 * std::numbers::pi));
  EXPECT_NEAR(scores_of(*density, origin)[0], peak, 1e-5 * peak);
  Batch far(40, 2);
  for (double& value : far.values()) value = 45.0;
  density->observe({far});
  EXPECT_NEAR(scores_of(*density, origin)[0], 0.6 * peak, 1e-4 * peak);
}

// Far from everything a density is exactly what a double makes of it, in the end 0, so that
// the flat test finds it flat.
TEST(PublishedDensity, UnderflowsWhereADoubleDoes) {
  auto [buffer, density] = make(2, 50, 1.0, 10.0);
  density->observe({uniform_batch(50, 2, -1, 1, 6)});
  Batch queries(4, 2);
  const double distances[] = {5.0, 20.0, 35.0, 60.0};
  for (Index i = 0; i < 4; ++i) queries(i, 0) = distances[i];
  const auto scores = scores_of(*density, queries);
  for (Index i = 0; i < 3; ++i) {
    const double expected = direct(buffer->contents(), 1.0, queries.row(i));
    EXPECT_NEAR(scores[static_cast<std::size_t>(i)] / expected, 1.0, 1e-4) << distances[i];
  }
  EXPECT_EQ(scores[3], 0.0);
  EXPECT_EQ(direct(buffer->contents(), 1.0, queries.row(3)), 0.0);
}

TEST(PublishedDensity, ALoadedOneScoresAndGoesOnTheSame) {
  auto [buffer, density] = make(2, 200, 5.0, 50.0);
  for (std::uint64_t step = 0; step < 20; ++step) {
    density->observe({uniform_batch(54, 2, -50, 50, step)});
  }
  rarefy::StateWriter out;
  density->save(out);
  auto [buffer2, copy] = make(2, 200, 5.0, 50.0);
  copy->observe({uniform_batch(540, 2, -50, 50, 99)});
  rarefy::StateReader in(out.bytes());
  copy->load(in);
  EXPECT_TRUE(in.at_end());
  const Batch queries = uniform_batch(50, 2, -50, 50, 7);
  EXPECT_EQ(scores_of(*copy, queries), scores_of(*density, queries));
  const Batch more = uniform_batch(540, 2, -50, 50, 8);
  density->observe({more});
  copy->observe({more});
  EXPECT_EQ(scores_of(*copy, queries), scores_of(*density, queries));
}

TEST(PublishedDensity, TellsWhoItIs) {
  auto [buffer, density] = make(3, 10, 1.0, 1.0);
  EXPECT_EQ(density->name(), "kde");
  EXPECT_EQ(density->feature_dim(), 3);
}

}  // namespace
