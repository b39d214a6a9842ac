// What counts on a fine grid add to scores.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numbers>
#include <vector>

#include "density/kde/fine_counts.hpp"
#include "density/kde_reference.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/state.hpp"
#include "rarefy/density/endless_buffer.hpp"
#include "rarefy/density/kde.hpp"
#include "rarefy/density/reservoir.hpp"
#include "support/random_batches.hpp"

namespace rarefy {
namespace {

const FeatureSpace kBox = {{-1, 10}, {3, 12}};

// The quadratic B-spline around 0, by its definition: three boxes of width 1, one after the other.
double spline(double x) {
  const double far = std::abs(x);
  if (far < 0.5) return 0.75 - far * far;
  if (far < 1.5) return 0.5 * (1.5 - far) * (1.5 - far);
  return 0.0;
}

// Every point to every node, every node to the place.
double share_by_definition(BatchView points, const FeatureSpace& space,
                           const std::vector<int>& intervals, std::span<const double> place) {
  double sum = 0.0;
  for (Index i = 0; i < points.rows(); ++i) {
    double weight = 1.0;
    for (std::size_t d = 0; d < intervals.size(); ++d) {
      const double spacing = space.width(static_cast<Index>(d)) / intervals[d];
      double along = 0.0;
      for (int node = -1; node <= intervals[d] + 1; ++node) {
        const double at = space.lower[d] + node * spacing;
        along += spline((points.row(i)[d] - at) / spacing) * spline((place[d] - at) / spacing);
      }
      weight *= along;
    }
    sum += weight;
  }
  // A Gaussian of the same variance, 1/2 of a spacing squared, has this volume in cells.
  const double volume =
      std::pow(std::sqrt(std::numbers::pi), static_cast<double>(intervals.size()));
  return sum / static_cast<double>(points.rows()) * volume;
}

TEST(FineCounts, AreSplinesOfAllThatCame) {
  const Batch points = uniform_batch(300, kBox.lower, kBox.upper, 1);
  const Batch places = uniform_batch(200, kBox.lower, kBox.upper, 2);
  const double deviations[] = {4 / (20 * std::numbers::sqrt2), 2 / (13 * std::numbers::sqrt2)};
  FineCounts counts(kBox, deviations);
  EXPECT_EQ(FineCounts::nodes_of(kBox, deviations), 23 * 16);
  EXPECT_EQ(counts.share(places.row(0)), 0.0);
  counts.add(points.view().rows(0, 100));
  counts.add(points.view().rows(100, 200));
  EXPECT_EQ(counts.total(), 300.0);
  EXPECT_NEAR(counts.volume(), 2 * std::numbers::pi * deviations[0] * deviations[1], 1e-15);
  for (Index i = 0; i < places.rows(); ++i) {
    EXPECT_NEAR(counts.share(places.row(i)),
                share_by_definition(points, kBox, {20, 13}, places.row(i)), 1e-14);
  }
}

TEST(FineCounts, OfOneFeature) {
  const FeatureSpace line = {{2}, {5}};
  const Batch points = uniform_batch(50, line.lower, line.upper, 3);
  const double deviation[] = {3 / (30 * std::numbers::sqrt2)};
  FineCounts counts(line, deviation);
  counts.add(points);
  for (const double place : {2.0, 2.01, 3.3, 4.99, 5.0}) {
    EXPECT_NEAR(counts.share(std::span(&place, 1)),
                share_by_definition(points, line, {30}, std::span(&place, 1)), 1e-14);
  }
}

TEST(FineCounts, TakeWhatIsOutsideForTheBorder) {
  const double deviations[] = {0.1, 0.1};
  FineCounts inside(kBox, deviations), outside(kBox, deviations);
  inside.add(Batch({-1, 12, 3, 10}, 2, 2));
  outside.add(Batch({-7, 12.5, 1e300, 9}, 2, 2));
  const double places[][2] = {{-1, 12}, {-0.9, 11.9}, {3, 10}};
  for (const auto& place : places) {
    EXPECT_GT(inside.share(place), 0.0);
    EXPECT_EQ(inside.share(place), outside.share(place));
  }
}

TEST(FineCounts, HaveALimitToTheirSize) {
  const double tiny[] = {1e-9, 1e-9}, huge[] = {1e9, 1e9};
  EXPECT_EQ(FineCounts::nodes_of(kBox, tiny), 515 * 515);
  EXPECT_EQ(FineCounts::nodes_of(kBox, huge), 4 * 4);
}

TEST(FineCounts, RefuseStatesThatAreNone) {
  const double deviations[] = {0.5, 0.5};
  FineCounts counts(kBox, deviations);
  StateWriter out;
  std::vector<double> nodes(static_cast<std::size_t>(FineCounts::nodes_of(kBox, deviations)), 1.0);
  nodes[3] = -1.0;
  out.real("fine_counts.total", 5.0);
  out.reals("fine_counts.nodes", nodes);
  StateReader in(out.bytes());
  EXPECT_THROW(counts.load(in), Error);
}

KernelDensity density(double detail, Index capacity = 400, const FeatureSpace& space = kBox) {
  return {{.space = space, .bandwidth = Bandwidth::normalised(0.1), .detail = detail},
          std::make_unique<Reservoir>(
              ReservoirOptions{.feature_dim = space.dim(), .capacity = capacity, .seed = 1})};
}

std::vector<double> scores_at(KernelDensity& kde, BatchView places) {
  Workers workers(1);
  std::vector<double> scores(static_cast<std::size_t>(places.rows()));
  kde.score({.features = places}, scores, workers);
  return scores;
}

void show(KernelDensity& kde, BatchView features) {
  Workers workers(1);
  kde.observe({.features = features}, workers);
}

TEST(KdeDetail, IsWhatItsDefinitionSays) {
  const Batch points = uniform_batch(1000, kBox.lower, kBox.upper, 4);
  const Batch places = uniform_batch(50, kBox.lower, kBox.upper, 5);
  auto plain = density(0), with = density(0.3);
  show(plain, points);
  show(with, points);
  std::vector<double> deviations;
  for (const double h : with.bandwidths()) deviations.push_back(KernelDensity::kDetailScale * h);
  FineCounts counts(kBox, deviations);
  counts.add(points);
  const auto without = scores_at(plain, places), scores = scores_at(with, places);
  Workers workers(1);
  std::vector<double> log_densities(scores.size());
  with.log_density(places, log_densities, workers);
  EXPECT_EQ(log_densities, without) << "the density itself has no detail";
  for (Index i = 0; i < places.rows(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double counted = 400 * counts.share(places.row(i));
    const double expected = 400 * std::exp(without[at]) * counts.volume();
    EXPECT_NEAR(scores[at], without[at] + 0.3 * std::log((1 + counted) / (1 + expected)), 1e-12);
  }
}

// A strip of nothing, a third of a bandwidth wide, in a crowd that the kernel takes for even.
TEST(KdeDetail, SeesAGapThatTheKernelDoesNot) {
  Batch points = uniform_batch(20'000, kBox.lower, kBox.upper, 6);
  const double h = 0.1 * kBox.width(0);
  for (Index i = 0; i < points.rows(); ++i) {
    double& x = points(i, 0);
    if (std::abs(x - 1) < h / 6) x += x < 1 ? -h / 3 : h / 3;
  }
  const Batch places({1.0, 11.0, 1.0 + h / 2, 11.0}, 2, 2);  // in the gap, and beside it
  auto plain = density(0, 20'000), with = density(0.07, 20'000);
  show(plain, points);
  show(with, points);
  const auto without = scores_at(plain, places), scores = scores_at(with, places);
  EXPECT_LT(scores[0], scores[1] - 0.05);
  EXPECT_NEAR(without[0], without[1], 0.05);
}

TEST(KdeDetail, IsForUpToTwoFeatures) {
  const FeatureSpace cube = {{0, 0, 0}, {1, 1, 1}};
  const Batch points = uniform_batch(200, cube.lower, cube.upper, 7);
  auto plain = density(0, 100, cube), with = density(0.5, 100, cube);
  show(plain, points);
  show(with, points);
  EXPECT_EQ(scores_at(plain, points), scores_at(with, points));
}

TEST(KdeDetail, IsPartOfTheState) {
  const Batch points = uniform_batch(500, kBox.lower, kBox.upper, 8);
  const Batch later = uniform_batch(100, kBox.lower, kBox.upper, 9);
  auto one = density(0.2), other = density(0.2);
  show(one, points);
  StateWriter out;
  one.save(out);
  StateReader in(out.bytes());
  other.load(in);
  EXPECT_TRUE(in.at_end());
  show(one, later);
  show(other, later);
  EXPECT_EQ(scores_at(one, points), scores_at(other, points));
}

TEST(KdeDetail, GoesWithABufferWithoutALimit) {
  const Batch points = uniform_batch(3000, kBox.lower, kBox.upper, 10);
  KernelDensity kde({.space = kBox, .detail = 0.1}, std::make_unique<EndlessBuffer>(2, 1));
  show(kde, points);
  for (const double score : scores_at(kde, points)) EXPECT_TRUE(std::isfinite(score));
}

TEST(KdeDetail, IsANumberOfAtLeastZero) {
  EXPECT_THROW(density(-0.1), Error);
  EXPECT_THROW(density(std::nan("")), Error);
}

}  // namespace
}  // namespace rarefy
