// Emitters that restart share what they have learned of the shape of steps.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "rarefy/core/error.hpp"
#include "rarefy/experiment/algorithm_table.hpp"
#include "rarefy/experiment/domain_table.hpp"
#include "rarefy/experiment/make_search.hpp"
#include "support/small_search.hpp"

namespace rarefy {
namespace {

// The features of the linear projection are sums of the halves of a solution: their directions are
// (1, ..., 1, 0, ..., 0) and (0, ..., 0, 1, ..., 1). The variance along both, on average, where a
// sphere has 1.
double variance_along_features(std::span<const double> shape, Index n) {
  double sum = 0;
  for (Index i = 0; i < n; ++i) {
    for (Index j = i; j < n; ++j) {
      const bool same_half = (i < n / 2) == (j < n / 2);
      const double value = shape[static_cast<std::size_t>(i * n + j)];
      if (same_half) sum += i == j ? value : 2 * value;
    }
  }
  return sum / static_cast<double>(n);
}

TEST(SearchShape, FindsOutWhichDirectionsMatter) {
  small::Loop loop({.shape_rate = 0.5});
  loop.steps(1'000);
  ASSERT_GT(loop.search.restarts(), 100);
  // Seeds 1 to 20 gave 7.7 to 8.9, where 10 is all there is; the first life alone 1.1 to 1.6.
  EXPECT_GT(variance_along_features(loop.search.common_shape()->values(), 20), 5);
}

TEST(SearchShape, IsASphereWhereNobodyAsksForMore) {
  small::Loop without, with({.shape_rate = 0.5});
  EXPECT_EQ(without.search.common_shape(), nullptr);
  // Until the first restart, that makes no difference.
  while (without.search.restarts() == 0) {
    ASSERT_TRUE(std::ranges::equal(without.search.ask().values(), with.search.ask().values()));
    without.step();
    with.step();
  }
  EXPECT_EQ(with.search.restarts(), without.search.restarts());
  EXPECT_FALSE(std::ranges::equal(without.search.ask().values(), with.search.ask().values()));
}

TEST(SearchShape, StatesWithAndWithoutAreToldApart) {
  small::Loop without, with({.shape_rate = 0.5}), slower({.shape_rate = 0.25});
  for (auto* loop : {&without, &with, &slower}) loop->steps(5);
  const auto objection = [](small::Loop& loop, const std::vector<std::byte>& state) {
    try {
      loop.load(state);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(objection(without, with.state()).find("'search.shape': got 'common'"),
            std::string::npos);
  EXPECT_NE(objection(with, without.state()).find("'search.shape': got 'round'"),
            std::string::npos);
  EXPECT_NE(objection(with, slower.state()).find("'common_shape.rate': got 0.25"),
            std::string::npos);
}

TEST(SearchShape, IsADefaultOfWhatItServes) {
  for (const auto& algorithm : algorithms()) {
    SCOPED_TRACE(algorithm.name);
    auto config = default_config("lp", algorithm.name);
    config.problem.n = 6;
    config.density.flow.network.layers = {4};
    const auto domain = make_domain(config);
    const bool shares = algorithm.name.starts_with("dds-") || algorithm.name == "cma-mae" ||
                        algorithm.name == "dms";
    EXPECT_EQ(make_search(config, domain->info(), 1)->common_shape() != nullptr, shares);
    for (const auto profile : {Profile::published, Profile::text}) {
      auto other = default_config("lp", algorithm.name, profile);
      EXPECT_EQ(other.restarts.shape_rate, 0);
    }
  }
}

TEST(SearchShape, NeedsAStrategyThatHasOne) {
  auto config = default_config("lp");
  config.problem.n = 6;
  const auto domain = make_domain(config);
  for (const auto strategy : {Strategy::cma_es, Strategy::sep_cma_es, Strategy::lm_ma_es}) {
    config.emitters.strategy = strategy;
    const auto search = make_search(config, domain->info(), 1);
    EXPECT_EQ(search->common_shape() != nullptr, strategy != Strategy::lm_ma_es);
  }
}

}  // namespace
}  // namespace rarefy
