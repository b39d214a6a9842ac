// A mixture of Gaussians that is learned as the search goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <vector>

#include "density/mixture/gaussian_mixture.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/random.hpp"
#include "rarefy/density/mixture.hpp"
#include "rarefy/density/reservoir.hpp"
#include "support/random_batches.hpp"

namespace {

using rarefy::Batch;
using rarefy::BatchView;
using rarefy::FeatureSpace;
using rarefy::GaussianMixture;
using rarefy::Index;
using rarefy::MixtureDensity;
using rarefy::MixtureOptions;

FeatureSpace box(Index dims) {
  const auto count = static_cast<std::size_t>(dims);
  return {std::vector<double>(count, -10.0), std::vector<double>(count, 30.0)};
}

std::unique_ptr<rarefy::Reservoir> reservoir(Index dims, Index capacity = 2000) {
  return std::make_unique<rarefy::Reservoir>(
      rarefy::ReservoirOptions{.feature_dim = dims, .capacity = capacity, .seed = 1});
}

// Two crowds, of which the first has three quarters.
Batch two_crowds(Index rows, Index dims, std::uint64_t seed) {
  Batch batch(rows, dims);
  rarefy::fill_normals({.seed = seed}, batch.values());
  for (Index i = 0; i < rows; ++i) {
    for (Index d = 0; d < dims; ++d) {
      batch(i, d) = i % 4 == 0 ? 22.0 + 1.5 * batch(i, d) : 2.0 + 3.0 * batch(i, d);
    }
  }
  return batch;
}

double normal_density(double x, double mean, double deviation) {
  const double z = (x - mean) / deviation;
  return std::exp(-0.5 * z * z) / (deviation * std::sqrt(2.0 * std::numbers::pi));
}

std::vector<double> log_densities(MixtureDensity& density, BatchView at, Index threads = 1) {
  rarefy::Workers workers(threads);
  std::vector<double> out(static_cast<std::size_t>(at.rows()), -7.0);
  density.log_density(at, out, workers);
  return out;
}

// After many steps on two Gaussians it has their density, also where all components began on the
// same one. Errors are those of the samples (2,000: some 3 percent of a deviation), of the steps'
// noise, and of what the background takes.
TEST(Mixture, LearnsTheDensityOfTwoCrowds) {
  for (const Index dims : {1, 2, 5}) {
    MixtureDensity density({.space = box(dims), .components = 4, .smoothing = 1e-3, .seed = 3},
                           reservoir(dims));
    EXPECT_FALSE(density.informed());
    for (std::uint64_t i = 0; i < 400; ++i) density.observe({two_crowds(40, dims, i)});
    EXPECT_TRUE(density.informed());
    for (const double x : {-1.0, 2.0, 5.0, 21.0, 22.0, 24.0}) {
      const Batch at(std::vector<double>(static_cast<std::size_t>(dims), x), 1, dims);
      const auto power = static_cast<double>(dims);
      const double exact = std::log(0.75 * std::pow(normal_density(x, 2.0, 3.0), power) +
                                    0.25 * std::pow(normal_density(x, 22.0, 1.5), power));
      EXPECT_NEAR(log_densities(density, at)[0], exact, 0.1 + 0.1 * power) << dims << ", " << x;
    }
  }
}

TEST(Mixture, IntegratesToOne) {
  MixtureDensity density({.space = box(1), .components = 7, .seed = 1}, reservoir(1));
  for (std::uint64_t i = 0; i < 30; ++i) density.observe({two_crowds(100, 1, i)});
  constexpr Index kPoints = 20'000;
  Batch at(kPoints, 1);
  const double step = 800.0 / kPoints;
  for (Index i = 0; i < kPoints; ++i) at(i, 0) = -390.0 + step * (static_cast<double>(i) + 0.5);
  double sum = 0.0;
  for (const double value : log_densities(density, at)) sum += std::exp(value) * step;
  EXPECT_NEAR(sum, 1.0, 1e-6);
}

// One step of EM on all samples with rate 1 is the M step of batch EM: means and covariances by
// their definition, with responsibilities by theirs.
TEST(Mixture, TakesTheStepOfBatchEmAtRateOne) {
  constexpr Index kDims = 2;
  const MixtureOptions options{.space = box(kDims), .components = 3, .smoothing = 0.05};
  GaussianMixture mixture(kDims, options);
  const Batch places = uniform_batch(3, kDims, -0.4, 0.4, 1);
  mixture.place(places);
  const Batch samples = uniform_batch(200, kDims, -0.5, 0.5, 2);
  // Before: components with deviation 0.15, widened by the smoothing; equal weights.
  const double variance = 0.15 * 0.15 + 0.05 * 0.05;
  std::vector<double> count(3), mean(6);
  for (Index i = 0; i < samples.rows(); ++i) {
    std::vector<double> terms;
    double all = 0.0;
    for (Index k = 0; k < 4; ++k) {
      const double v = k < 3 ? variance : 1.0;
      double square = 0.0;
      for (Index d = 0; d < kDims; ++d) {
        square += std::pow(samples(i, d) - (k < 3 ? places(k, d) : 0.0), 2.0);
      }
      const double weight = k < 3 ? 0.99 / 3.0 : 0.01;
      terms.push_back(weight * std::exp(-0.5 * square / v) / (2.0 * std::numbers::pi * v));
      all += terms.back();
    }
    for (std::size_t k = 0; k < 3; ++k) {
      count[k] += terms[k] / all;
      for (std::size_t d = 0; d < 2; ++d) {
        mean[2 * k + d] += terms[k] / all * samples(i, static_cast<Index>(d));
      }
    }
  }
  rarefy::Workers alone(1);
  mixture.learn(samples, 1.0, alone);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(mixture.weight(static_cast<Index>(k)), count[k] / (count[0] + count[1] + count[2]),
                1e-12);
    for (std::size_t d = 0; d < 2; ++d) {
      EXPECT_NEAR(mixture.mean(static_cast<Index>(k))[d], mean[2 * k + d] / count[k], 1e-12);
    }
  }
}

TEST(Mixture, BeginsDeadComponentsAnewWhereSamplesAreExplainedWorst) {
  const MixtureOptions options{.space = box(1), .components = 2, .smoothing = 0.01};
  GaussianMixture mixture(1, options);
  Batch places(2, 1);
  places(0, 0) = 0.0;
  places(1, 0) = 3.0;  // where there is nothing
  mixture.place(places);
  Batch samples = uniform_batch(100, 1, -0.1, 0.1, 5);
  samples(17, 0) = -1.5;
  rarefy::Workers alone(1);
  for (int i = 0; i < 200 && mixture.reseeded() == 0; ++i) mixture.learn(samples, 0.1, alone);
  EXPECT_EQ(mixture.reseeded(), 1);
  EXPECT_NEAR(mixture.mean(1)[0], -1.5, 1e-9);
}

TEST(Mixture, TellsTheFartherFromTheLessFarAnywhere) {
  MixtureDensity density({.space = box(3), .seed = 1}, reservoir(3));
  for (std::uint64_t i = 0; i < 10; ++i) density.observe({two_crowds(100, 3, i)});
  density.observe({Batch(std::vector<double>{1e300, -1e300, 1e20}, 1, 3)});
  Batch at(0, 3);
  for (const double x : {40.0, 100.0, 1e4, 1e50, 1e90}) at.append(std::vector{x, x, 10.0});
  const auto values = log_densities(density, at);
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_TRUE(std::isfinite(values[i]));
    if (i > 0) {
      EXPECT_LT(values[i], values[i - 1]);
    }
  }
}

TEST(Mixture, LearnsFromFeaturesThatAreAllTheSame) {
  MixtureDensity density({.space = box(2), .components = 4, .seed = 1}, reservoir(2));
  for (int i = 0; i < 100; ++i) density.observe({Batch(std::vector<double>(20, 5.0), 10, 2)});
  const auto values = log_densities(density, two_crowds(50, 2, 1));
  EXPECT_THAT(values, testing::Each(testing::Truly([](double v) { return std::isfinite(v); })));
}

TEST(Mixture, IsTheSameOnAnyNumberOfThreadsAndAfterASavedState) {
  const MixtureOptions options{.space = box(3), .components = 6, .batch = 200, .seed = 9};
  MixtureDensity one(options, reservoir(3)), two(options, reservoir(3));
  rarefy::Workers alone(1), three(3);
  const Batch queries = two_crowds(100, 3, 1000);
  for (std::uint64_t i = 0; i < 30; ++i) {
    const Batch batch = two_crowds(100, 3, i);
    one.observe({batch}, alone);
    two.observe({batch}, three);
    EXPECT_EQ(log_densities(one, queries), log_densities(two, queries, 3));
    rarefy::StateWriter out;
    one.save(out);
    MixtureDensity loaded(options, reservoir(3));
    rarefy::StateReader in(out.bytes());
    loaded.load(in);
    EXPECT_TRUE(in.at_end());
    EXPECT_EQ(log_densities(loaded, queries), log_densities(one, queries));
    const Batch next = two_crowds(100, 3, 500 + i);
    loaded.observe({next}, three);
    one.observe({next}, alone);
    two.observe({next}, alone);
    EXPECT_EQ(log_densities(loaded, queries), log_densities(one, queries));
  }
}

TEST(Mixture, RefusesOptionsThatMakeNoSense) {
  const auto make = [](const MixtureOptions& options) {
    return MixtureDensity(options, reservoir(2)).feature_dim();
  };
  EXPECT_EQ(make({.space = box(2)}), 2);
  EXPECT_THROW(make({.space = box(2), .components = 0}), rarefy::Error);
  EXPECT_THROW(make({.space = box(2), .batch = 0}), rarefy::Error);
  EXPECT_THROW(make({.space = box(2), .rate = 0.0}), rarefy::Error);
  EXPECT_THROW(make({.space = box(2), .rate = 1.0}), rarefy::Error);
  EXPECT_THROW(make({.space = box(2), .smoothing = 0.0}), rarefy::Error);
  EXPECT_THROW(make({.space = box(2), .background = std::numeric_limits<double>::quiet_NaN()}),
               rarefy::Error);
}

TEST(Mixture, RefusesAStateOfComponentsWithoutWeight) {
  const MixtureOptions options{.space = box(1), .components = 1};
  GaussianMixture mixture(1, options);
  rarefy::StateWriter out;
  out.integer("mixture.reseeded", 0);
  out.reals("mixture.count", std::vector{0.0});
  out.reals("mixture.sum", std::vector{0.0});
  out.reals("mixture.square", std::vector{0.0});
  rarefy::StateReader in(out.bytes());
  EXPECT_THROW(mixture.load(in), rarefy::Error);
}

}  // namespace
