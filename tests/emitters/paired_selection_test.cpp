// Of two mirrored samples only the better becomes a parent.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "rarefy/core/random.hpp"
#include "rarefy/emitters/cma_es.hpp"
#include "rarefy/emitters/evolution_strategy_emitter.hpp"
#include "rarefy/tessellations/grid.hpp"

namespace rarefy {
namespace {

constexpr Index kBatch = 36;

EvolutionStrategyEmitter emitter_of(Index n, Selection selection, std::uint32_t index = 0) {
  return {std::make_unique<CmaEs>(
              CmaEsOptions{.dimension = n, .batch = kBatch, .sigma0 = 1.0, .mirrored = true}),
          1, index, StopTests{}, selection};
}

double sigma_of(const EvolutionStrategyEmitter& emitter) {
  return dynamic_cast<const CmaEs&>(emitter.optimizer()).sigma();
}

const Archive& no_archive() {
  static const Archive archive(
      std::make_shared<Grid>(FeatureSpace{{0}, {1}}, std::vector<Index>{1}), 1);
  return archive;
}

// Tells it of its batch in that order; the first `ranked` could be evaluated.
void tell(EvolutionStrategyEmitter& emitter, const Batch& solutions,
          const std::vector<Index>& order, Index ranked) {
  const Batch features(kBatch, 1);
  const std::vector<double> objectives(kBatch, 1.0), scores(kBatch, 0.0);
  const std::vector<Outcome> outcomes(kBatch, Outcome::new_cell);
  (void)emitter.tell({.solutions = solutions,
                      .features = features,
                      .objectives = objectives,
                      .scores = scores,
                      .order = order,
                      .outcomes = outcomes,
                      .ranked = ranked,
                      .accepted = ranked,
                      .informed = false});
}

std::vector<Index> shuffled(std::uint32_t index, std::uint64_t iteration) {
  std::vector<Index> order(kBatch);
  std::iota(order.begin(), order.end(), Index{0});
  RandomStream random(
      {.seed = 5, .purpose = Purpose::user, .index = index, .iteration = iteration});
  for (std::size_t i = order.size() - 1; i > 0; --i) {
    std::swap(order[i], order[static_cast<std::size_t>(random.below(i + 1))]);
  }
  return order;
}

// What a strategy does that is told of these parents and no others.
double mean_after(const Batch& solutions, const std::vector<Index>& parents) {
  CmaEs naive({.dimension = 3, .batch = kBatch, .sigma0 = 1.0, .mirrored = true});
  Batch again(kBatch, 3);
  naive.ask({.seed = 1, .purpose = Purpose::sampling, .index = 0, .iteration = 0}, again);
  auto order = parents;
  for (Index row = 0; row < kBatch; ++row) {
    if (std::find(parents.begin(), parents.end(), row) == parents.end()) order.push_back(row);
  }
  naive.tell(solutions, order, static_cast<Index>(parents.size()));
  return naive.mean()[0];
}

TEST(PairedSelection, TakesTheBetterOfEachPair) {
  for (const Index ranked : {kBatch, kBatch - 5, Index{7}, Index{1}}) {
    auto emitter = emitter_of(3, Selection::paired);
    Batch solutions(kBatch, 3);
    emitter.ask(no_archive(), 0, solutions);
    const auto order = shuffled(0, static_cast<std::uint64_t>(ranked));
    std::vector<Index> parents;
    for (Index place = 0; place < ranked; ++place) {
      const Index row = order[static_cast<std::size_t>(place)];
      const bool mirrored_is_better = std::any_of(
          parents.begin(), parents.end(), [&](Index other) { return other / 2 == row / 2; });
      if (!mirrored_is_better) parents.push_back(row);
    }
    ASSERT_LE(parents.size(), static_cast<std::size_t>(kBatch / 2));
    tell(emitter, solutions, order, ranked);
    const auto& optimizer = dynamic_cast<const CmaEs&>(emitter.optimizer());
    EXPECT_EQ(optimizer.mean()[0], mean_after(solutions, parents)) << ranked;
  }
}

// Under a random ranking. With `mu` the squared length of the step-size path is 0.74 of what it
// should be (docs/reproduction.md), so that the step shrinks by 1.4 % a generation.
double drift_under_random_ranking(Selection selection) {
  constexpr std::uint32_t kEmitters = 12;
  constexpr std::uint64_t kGenerations = 250, kWarm = 50;
  double sum = 0;
  for (std::uint32_t e = 0; e < kEmitters; ++e) {
    auto emitter = emitter_of(100, selection, e);
    Batch solutions(kBatch, 100);
    double begin = 0;
    for (std::uint64_t g = 0; g < kGenerations; ++g) {
      if (g == kWarm) begin = std::log(sigma_of(emitter));
      emitter.ask(no_archive(), g, solutions);
      tell(emitter, solutions, shuffled(e, g), kBatch);
    }
    sum += (std::log(sigma_of(emitter)) - begin) / static_cast<double>(kGenerations - kWarm);
  }
  return sum / kEmitters;
}

// Ln sigma of one emitter deviates by about 0.07 after 200 generations, so that the mean drift of
// twelve has a deviation near 1e-4: the bounds are ten of them away.
TEST(PairedSelection, LeavesTheStepSizeAsItIsUnderARandomRanking) {
  EXPECT_LT(drift_under_random_ranking(Selection::mu), -0.012);
  EXPECT_NEAR(drift_under_random_ranking(Selection::paired), 0.0, 0.0015);
}

}  // namespace
}  // namespace rarefy
