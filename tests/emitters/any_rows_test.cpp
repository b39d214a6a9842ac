// Strategies that are asked for another number of rows than their batch has.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "rarefy/core/error.hpp"
#include "rarefy/emitters/cma_es.hpp"
#include "rarefy/emitters/lm_ma_es.hpp"
#include "rarefy/emitters/separable_cma_es.hpp"
#include "support/minimise.hpp"

namespace {

using minimise::sampling_key;
using rarefy::Batch;
using rarefy::Bounds;
using rarefy::EvolutionStrategy;
using rarefy::Index;

std::unique_ptr<EvolutionStrategy> made(const std::string& name, Index batch,
                                        const Bounds& bounds = {}) {
  constexpr Index kN = 5;
  if (name == "cma") {
    return std::make_unique<rarefy::CmaEs>(
        rarefy::CmaEsOptions{.dimension = kN, .batch = batch, .sigma0 = 0.5, .bounds = bounds});
  }
  const rarefy::LinearStrategyOptions linear{
      .dimension = kN, .batch = batch, .sigma0 = 0.5, .bounds = bounds};
  if (name == "sep") return std::make_unique<rarefy::SeparableCmaEs>(linear);
  return std::make_unique<rarefy::LmMaEs>(linear);
}

std::vector<Index> counted(Index rows) {
  std::vector<Index> order(static_cast<std::size_t>(rows));
  std::iota(order.rbegin(), order.rend(), Index{0});
  return order;
}

class AnyRows : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Strategies, AnyRows, testing::Values("cma", "sep", "lm"));

// The rows of a smaller sample are the first of a larger one.
TEST_P(AnyRows, AreTheFirstOfMore) {
  const auto strategy = made(GetParam(), 6);
  Batch many(17, 5), batch(6, 5), one(1, 5);
  strategy->ask(sampling_key(3, 0), many);
  strategy->ask(sampling_key(3, 0), batch);
  strategy->ask(sampling_key(3, 0), one);
  EXPECT_TRUE(std::equal(batch.values().begin(), batch.values().end(), many.values().begin()));
  EXPECT_TRUE(std::equal(one.values().begin(), one.values().end(), many.values().begin()));
  Batch none(0, 5);
  EXPECT_THROW(strategy->ask(sampling_key(3, 0), none), rarefy::Error);
}

// All of what was sampled may be parents, however small the batch; the mean is then theirs.
TEST_P(AnyRows, MayAllBeParents) {
  for (const Index rows : {1, 2, 5, 6, 17}) {
    const auto strategy = made(GetParam(), 6);
    for (std::uint64_t generation = 0; generation < 4; ++generation) {
      Batch sample(rows, 5);
      strategy->ask(sampling_key(4, generation), sample);
      strategy->tell(sample, counted(rows), rows);
      const auto last = sample.view().row(rows - 1);  // the best
      if (rows == 1) {
        for (std::size_t d = 0; d < 5; ++d) EXPECT_NEAR(strategy->mean()[d], last[d], 1e-12);
      }
      for (std::size_t d = 0; d < 5; ++d) {
        double low = last[d], high = last[d];
        for (Index i = 0; i < rows; ++i) {
          low = std::min(low, sample.view().row(i)[d]);
          high = std::max(high, sample.view().row(i)[d]);
        }
        EXPECT_GE(strategy->mean()[d], low - 1e-12) << rows;
        EXPECT_LE(strategy->mean()[d], high + 1e-12) << rows;
      }
    }
    EXPECT_EQ(strategy->generation(), 4);
  }
}

TEST_P(AnyRows, AreToldAsTheyWereAsked) {
  const auto strategy = made(GetParam(), 6);
  Batch few(3, 5), batch(6, 5);
  strategy->ask(sampling_key(5, 0), few);
  EXPECT_THROW(strategy->tell(batch, counted(6), 3), rarefy::Error);
  EXPECT_THROW(strategy->tell(few, counted(6), 3), rarefy::Error);
  EXPECT_THROW(strategy->tell(few, counted(3), 4), rarefy::Error);
  EXPECT_EQ(strategy->generation(), 0);
  strategy->tell(few, counted(3), 3);
  strategy->ask(sampling_key(5, 1), batch);
  strategy->tell(batch, counted(6), 3);
  EXPECT_EQ(strategy->generation(), 2);
}

TEST_P(AnyRows, SayHowManyWereForcedInside) {
  const auto forced = [&](double high, Index resamples, Index rows) {
    const auto strategy = made(
        GetParam(), 6,
        {.lower = {-1e3}, .upper = {high}, .resamples = resamples, .repair = rarefy::Repair::clip});
    Batch sample(rows, 5);
    strategy->ask(sampling_key(6, 0), sample);
    Index at_the_wall = 0;
    for (Index i = 0; i < rows; ++i) {
      const auto row = sample.view().row(i);
      at_the_wall += std::count(row.begin(), row.end(), high) > 0 ? 1 : 0;
    }
    EXPECT_EQ(strategy->forced(), at_the_wall);
    return strategy->forced();
  };
  EXPECT_EQ(forced(100.0, 10, 9), 0);
  EXPECT_EQ(forced(-100.0, 10, 9), 9);  // never reached
  EXPECT_GT(forced(0.0, 0, 30), 20);    // all but one in 32 lie outside
  EXPECT_EQ(forced(0.0, 1000, 30), 0);
}

TEST(LmMaEsDirections, AreAsManyAsAskedFor) {
  EXPECT_EQ(rarefy::LmMaEs({.dimension = 12, .batch = 10}).directions(), 11);
  EXPECT_EQ(rarefy::LmMaEs({.dimension = 12, .batch = 10}, 3).directions(), 3);
  EXPECT_THROW(rarefy::LmMaEs({.dimension = 12, .batch = 10}, -1), rarefy::Error);
}

}  // namespace
