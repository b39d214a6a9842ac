#include "rarefy/emitters/linear_strategy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "rarefy/core/error.hpp"
#include "support/minimise.hpp"
#include "support/random_batches.hpp"
#include "support/sanitized.hpp"

namespace {

using minimise::evaluations;
using minimise::sampling_key;
using rarefy::Batch;
using rarefy::EvolutionStrategy;
using rarefy::Index;
using rarefy::LinearStrategyOptions;
using rarefy::LmMaEs;
using rarefy::SeparableCmaEs;

std::unique_ptr<EvolutionStrategy> make(const std::string& name,
                                        const LinearStrategyOptions& options) {
  if (name == "sep") return std::make_unique<SeparableCmaEs>(options);
  return std::make_unique<LmMaEs>(options);
}

std::vector<std::byte> state_of(const EvolutionStrategy& strategy) {
  rarefy::StateWriter out;
  strategy.save(out);
  return out.bytes();
}

// One axis, the diagonal, a hundred times as long as the others.
double diagonal_cigar(std::span<const double> x) {
  double along = 0.0;
  for (const double value : x) along += value;
  along *= along / static_cast<double>(x.size());
  return along + 1e4 * (minimise::sphere(x) - along);
}

/// Generations in which the ranking is by the first value.
void generations(EvolutionStrategy& strategy, int first, int count, Batch& solutions) {
  for (int i = first; i < first + count; ++i) {
    strategy.ask(sampling_key(5, static_cast<std::uint64_t>(i)), solutions);
    std::vector<double> values;
    for (Index row = 0; row < solutions.rows(); ++row) {
      values.push_back(minimise::sphere(solutions.row(row)) + 100 * solutions(row, 0));
    }
    strategy.tell(solutions, minimise::ranked(values), strategy.batch() / 2);
  }
}

class LinearStrategies : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Both, LinearStrategies, testing::Values("sep", "lm"));

TEST_P(LinearStrategies, BeginWithAStandardNormalDistribution) {
  const auto strategy = make(GetParam(), {.dimension = 50, .batch = 10, .sigma0 = 2.0});
  const std::vector<double> mean(50, 3.0);
  strategy->reset(mean);
  Batch solutions(10, 50), normals(10, 50);
  strategy->ask(sampling_key(1, 7), solutions);
  rarefy::fill_normals(sampling_key(1, 7), normals.values());
  for (Index i = 0; i < 10; ++i) {
    for (Index d = 0; d < 50; ++d) EXPECT_EQ(solutions(i, d), 3.0 + 2.0 * normals(i, d));
  }
}

TEST_P(LinearStrategies, MirrorPairs) {
  for (const Index batch : {9, 10}) {
    const auto strategy = make(GetParam(), {.dimension = 20, .batch = batch, .mirrored = true});
    Batch solutions(batch, 20);
    generations(*strategy, 0, 5, solutions);
    strategy->ask(sampling_key(1, 7), solutions);
    for (Index i = 0; i + 1 < batch; i += 2) {
      for (Index d = 0; d < 20; ++d) {
        const double centre = strategy->mean()[static_cast<std::size_t>(d)];
        EXPECT_NEAR(solutions(i, d) - centre, centre - solutions(i + 1, d), 1e-12);
      }
    }
  }
}

TEST_P(LinearStrategies, SolveTheSphereInAnyDimension) {
  for (const Index n : {Index{2}, Index{10}, Index{100}, Index{kSanitized ? 200 : 1000}}) {
    const auto strategy = make(GetParam(), {.dimension = n});
    const minimise::Problem problem = {
        .function = minimise::sphere,
        .start = std::vector<double>(static_cast<std::size_t>(n), 1.0),
        .target = 1e-9};
    EXPECT_TRUE(evaluations(*strategy, problem, 1)) << n;
  }
}

// Ten thousand values are no trouble: a few generations, in a moment.
TEST_P(LinearStrategies, TakeTenThousandDimensions) {
  const auto strategy = make(GetParam(), {.dimension = 10'000, .batch = 20});
  Batch solutions(20, 10'000);
  strategy->reset(std::vector<double>(10'000, 1.0));
  generations(*strategy, 0, 40, solutions);
  EXPECT_EQ(strategy->generation(), 40);
  EXPECT_LT(strategy->mean()[0], 1.0);  // what the ranking asks for
  EXPECT_LT(state_of(*strategy).size(), 40U * 10'000U * sizeof(double));
}

TEST_P(LinearStrategies, GoOnFromASavedStateToTheSameBits) {
  const LinearStrategyOptions options = {.dimension = 30, .batch = 12, .mirrored = true};
  const auto original = make(GetParam(), options);
  Batch solutions(12, 30);
  generations(*original, 0, 20, solutions);
  const auto bytes = state_of(*original);
  const auto copy = make(GetParam(), options);
  generations(*copy, 50, 3, solutions);  // must be forgotten
  rarefy::StateReader in(bytes);
  copy->load(in);
  generations(*original, 20, 10, solutions);
  generations(*copy, 20, 10, solutions);
  EXPECT_TRUE(state_of(*original) == state_of(*copy));
}

TEST_P(LinearStrategies, ForgetEverythingWhenReset) {
  const auto used = make(GetParam(), {.dimension = 30, .batch = 12});
  const auto fresh = make(GetParam(), {.dimension = 30, .batch = 12});
  Batch solutions(12, 30);
  generations(*used, 0, 20, solutions);
  const std::vector<double> mean(30, 0.5);
  used->reset(mean);
  fresh->reset(mean);
  EXPECT_TRUE(state_of(*used) == state_of(*fresh));
}

TEST_P(LinearStrategies, StayAsTheyAreWithoutParents) {
  const auto strategy = make(GetParam(), {.dimension = 10, .batch = 6});
  Batch solutions(6, 10);
  generations(*strategy, 0, 3, solutions);
  const std::vector<double> before(strategy->mean().begin(), strategy->mean().end());
  strategy->ask(sampling_key(1, 1), solutions);
  strategy->tell(solutions, std::vector<Index>{0, 1, 2, 3, 4, 5}, 0);
  EXPECT_TRUE(std::ranges::equal(before, strategy->mean()));
  EXPECT_EQ(strategy->generation(), 4);
}

TEST_P(LinearStrategies, KeepToTheirBounds) {
  const auto strategy =
      make(GetParam(), {.dimension = 10, .batch = 20, .bounds = {.lower = {-0.1}, .upper = {0.2}}});
  Batch solutions(20, 10);
  for (int i = 0; i < 20; ++i) {
    generations(*strategy, i, 1, solutions);
    for (const double value : solutions.values()) {
      ASSERT_GE(value, -0.1);
      ASSERT_LE(value, 0.2);
    }
  }
}

TEST_P(LinearStrategies, SayWhatSpeaksAgainstGoingOn) {
  const auto strategy = make(GetParam(), {.dimension = 10, .batch = 6, .sigma0 = 1e-3});
  EXPECT_EQ(strategy->stop({}, {}), rarefy::Stop::none);
  EXPECT_EQ(strategy->stop({}, {.step_size = 1e-2}), rarefy::Stop::step_size);
  EXPECT_EQ(strategy->stop(std::vector<double>{1.0, 1.0}, {}), rarefy::Stop::flat);
}

TEST_P(LinearStrategies, RefuseWhatDoesNotFit) {
  EXPECT_THROW(make(GetParam(), {.dimension = 0}), rarefy::Error);
  EXPECT_THROW(make(GetParam(), {.dimension = 3, .batch = 1}), rarefy::Error);
  EXPECT_THROW(make(GetParam(), {.dimension = 3, .sigma0 = 0.0}), rarefy::Error);
  const auto strategy = make(GetParam(), {.dimension = 3, .batch = 4});
  EXPECT_THROW(strategy->reset(std::vector<double>{1, 2}), rarefy::Error);
  Batch wrong(4, 2), right(4, 3);
  EXPECT_THROW(strategy->ask(sampling_key(1, 1), wrong), rarefy::Error);
  strategy->ask(sampling_key(1, 1), right);
  const std::vector<Index> order = {0, 1, 2, 3};
  EXPECT_THROW(strategy->tell(wrong, order, 2), rarefy::Error);
  EXPECT_THROW(strategy->tell(right, order, 5), rarefy::Error);
  auto bytes = state_of(*strategy);
  const auto other = make(GetParam(), {.dimension = 4, .batch = 4});
  rarefy::StateReader in(bytes);
  EXPECT_THROW(other->load(in), rarefy::Error);
}

// One generation, by the formulas of Ros and Hansen written out for each value.
TEST(SeparableCmaEs, FollowsItsEquations) {
  SeparableCmaEs strategy({.dimension = 5, .batch = 8, .sigma0 = 0.3});
  strategy.reset(std::vector<double>(5, 1.0));
  Batch solutions(8, 5);
  strategy.ask(sampling_key(3, 0), solutions);
  const std::vector<Index> order = {4, 2, 7, 1, 0, 3, 5, 6};
  strategy.tell(solutions, order, 4);
  const rarefy::CmaEsParameters p(5, 8);
  const double c1 = p.c1 * 7 / 3, cmu = p.cmu * 7 / 3;
  ASSERT_LT(c1 + cmu, 1.0);
  double length = 0.0;
  for (Index d = 0; d < 5; ++d) {
    double step = 0.0, spread = 0.0;
    for (std::size_t i = 0; i < 4; ++i) {
      const double y = (solutions(order[i], d) - 1.0) / 0.3;
      step += p.weights[i] * y;
      spread += p.weights[i] * y * y;
    }
    const auto at = static_cast<std::size_t>(d);
    EXPECT_NEAR(strategy.mean()[at], 1.0 + 0.3 * step, 1e-14);
    const double path = std::sqrt(p.csigma * (2 - p.csigma) * p.mueff) * step;
    length += path * path;
    const double path_c = std::sqrt(p.cc * (2 - p.cc) * p.mueff) * step;
    EXPECT_NEAR(strategy.variances()[at], 1 - c1 - cmu + c1 * path_c * path_c + cmu * spread,
                1e-13);
  }
  const double change = p.csigma / p.dsigma * (std::sqrt(length) / p.chi_n - 1);
  EXPECT_NEAR(strategy.sigma(), 0.3 * std::exp(change), 1e-14);
}

// What it is for: axes of different length, found n / 3 times as fast as by a full matrix.
TEST(SeparableCmaEs, IsFasterThanAFullMatrixWhereAxesAreThoseOfTheProblem) {
  const Index n = kSanitized ? 20 : 40;
  const minimise::Problem problem = {
      .function = minimise::ellipsoid,
      .start = std::vector<double>(static_cast<std::size_t>(n), 1.0)};
  SeparableCmaEs separable({.dimension = n});
  const auto few = evaluations(separable, problem, 1);
  const auto many = evaluations(rarefy::CmaEsOptions{.dimension = n}, problem, 1);
  ASSERT_TRUE(few && many);
  EXPECT_LT(2 * *few, *many);
}

// A generation from known directions, by the paper's loop with matrices written out.
TEST(LmMaEs, ShapesItsSamplesByTheDirectionsItHasLearnt) {
  const Index n = 12;
  LmMaEs strategy({.dimension = n, .batch = 10});
  Batch solutions(10, n);
  std::vector<double> path(12, 0.0);
  std::vector<std::vector<double>> directions(11, std::vector<double>(12, 0.0));
  ASSERT_EQ(strategy.directions(), 4 + 7);
  const rarefy::CmaEsParameters p(n, 10);
  double sigma = strategy.sigma();
  std::vector<double> mean(12, 0.0);
  for (int generation = 0; generation < 15; ++generation) {
    const auto key = sampling_key(9, static_cast<std::uint64_t>(generation));
    strategy.ask(key, solutions);
    Batch z(10, n);
    rarefy::fill_normals(key, z.values());
    std::vector<Index> order;
    for (Index i = 0; i < 10; ++i) order.push_back((i * 3 + generation) % 10);
    std::vector<double> z_mean(12, 0.0), d_mean(12, 0.0);
    for (Index i = 0; i < 10; ++i) {
      const Index row = order[static_cast<std::size_t>(i)];
      std::vector<double> d(z.row(row).begin(), z.row(row).end());
      for (int j = 0; j < std::min(generation, 11); ++j) {
        const double c = 1.0 / (std::pow(1.5, j) * 12.0);
        const auto& m = directions[static_cast<std::size_t>(j)];
        double along = 0.0;
        for (std::size_t k = 0; k < 12; ++k) along += m[k] * d[k];
        for (std::size_t k = 0; k < 12; ++k) d[k] = (1 - c) * d[k] + c * m[k] * along;
      }
      for (std::size_t k = 0; k < 12; ++k) {
        ASSERT_NEAR(solutions(row, static_cast<Index>(k)), mean[k] + sigma * d[k], 1e-9);
        if (i >= 5) continue;
        z_mean[k] += p.weights[static_cast<std::size_t>(i)] * z(row, static_cast<Index>(k));
        d_mean[k] += p.weights[static_cast<std::size_t>(i)] * d[k];
      }
    }
    strategy.tell(solutions, order, 5);
    const double cs = std::min(1.0, 20.0 / 12.0);
    double length = 0.0;
    for (std::size_t k = 0; k < 12; ++k) {
      mean[k] += sigma * d_mean[k];
      path[k] = (1 - cs) * path[k] + std::sqrt(p.mueff * cs * (2 - cs)) * z_mean[k];
      length += path[k] * path[k];
      for (std::size_t j = 0; j < 11; ++j) {
        const double c = std::min(1.0, 10.0 / (std::pow(4.0, static_cast<double>(j)) * 12.0));
        directions[j][k] =
            (1 - c) * directions[j][k] + std::sqrt(p.mueff * c * (2 - c)) * z_mean[k];
      }
    }
    sigma *= std::exp(std::min(1.0, cs / 2 * (length / 12.0 - 1)));
    ASSERT_NEAR(strategy.sigma(), sigma, 1e-9 * sigma);
  }
}

// What the directions are for: a long axis that is not one of the coordinates'. (35,715 and 83,286
// evaluations were measured for n = 40 and 128.)
TEST(LmMaEs, LearnsALongAxis) {
  const Index n = kSanitized ? 40 : 128;
  const minimise::Problem problem = {.function = diagonal_cigar,
                                     .start = std::vector<double>(static_cast<std::size_t>(n), 1.0),
                                     .target = 1e-9,
                                     .most_evaluations = 150'000};
  LmMaEs strategy({.dimension = n});
  SeparableCmaEs separable({.dimension = n});
  EXPECT_TRUE(evaluations(strategy, problem, 1));
  EXPECT_FALSE(evaluations(separable, problem, 1));  // has no such axes
}

}  // namespace
