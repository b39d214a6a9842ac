// What SeparableCmaEs and LmMaEs have in common.
#include "rarefy/emitters/linear_strategy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "rarefy/core/error.hpp"
#include "rarefy/emitters/lm_ma_es.hpp"
#include "rarefy/emitters/separable_cma_es.hpp"
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
  const LinearStrategyOptions options = {
      .dimension = 30, .batch = 12, .sigma0 = 0.5, .mirrored = true};
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

}  // namespace
