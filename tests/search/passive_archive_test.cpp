// Searches with a passive archive propose the same candidates whatever its cells are.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rarefy/core/state.hpp"
#include "rarefy/experiment/domain_table.hpp"
#include "rarefy/experiment/make_search.hpp"

namespace rarefy {
namespace {

Config config_of(const std::string& algorithm, Index intervals) {
  auto config = default_config("lp", algorithm);
  config.problem.n = 8;
  config.emitters.count = 4;
  config.emitters.batch = 12;
  config.density.buffer = 300;
  config.density.flow.network.layers = {8};
  config.density.flow.training.batch = 16;
  config.restarts.stagnation = {.patience = 3, .patience_rate = 0};
  config.archive.intervals = intervals;
  return config;
}

void go(Search& search, Domain& domain, int iterations) {
  Batch features(search.candidates(), search.feature_dim());
  std::vector<double> objectives(static_cast<std::size_t>(search.candidates()));
  for (int i = 0; i < iterations; ++i) {
    domain.evaluate(search.ask(), features, objectives);
    search.tell(features, objectives);
  }
}

std::vector<double> candidates_after(const Config& config, int iterations) {
  const auto domain = make_domain(config);
  const auto search = make_search(config, domain->info(), 1);
  go(*search, *domain, iterations);
  EXPECT_GT(search->restarts(), 10);
  const auto values = search->ask().values();
  return {values.begin(), values.end()};
}

TEST(PassiveArchive, DecidesNothing) {
  for (const auto* algorithm : {"dds-kde", "dds-cnf", "dds-gmm", "ns"}) {
    SCOPED_TRACE(algorithm);
    const auto candidates = candidates_after(config_of(algorithm, 40), 40);
    EXPECT_EQ(candidates, candidates_after(config_of(algorithm, 7), 40));
  }
}

TEST(PassiveArchive, IsReadWhereThatIsAskedFor) {
  auto fine = config_of("dds-kde", 40), coarse = config_of("dds-kde", 7);
  fine.restarts.from = coarse.restarts.from = RestartFrom::archive;
  EXPECT_NE(candidates_after(fine, 40), candidates_after(coarse, 40));
}

TEST(PassiveArchive, MemoryIsSaved) {
  const auto config = config_of("dds-kde", 20);
  const auto domain = make_domain(config);
  const auto search = make_search(config, domain->info(), 1);
  go(*search, *domain, 20);
  StateWriter out;
  search->save(out);
  const auto again = make_search(config, domain->info(), 1);
  StateReader in(out.bytes());
  again->load(in);
  EXPECT_EQ(again->restart_source().visits().size(), 16'384U);
  EXPECT_EQ(again->restart_source().total_visits(), search->archive().total_visits());
  go(*search, *domain, 20);
  go(*again, *domain, 20);
  const auto expected = search->ask().values(), found = again->ask().values();
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), found.begin(), found.end()));
  // Nor does a state of a search without one fit.
  auto other = config;
  other.restarts.from = RestartFrom::archive;
  StateReader once_more(out.bytes());
  EXPECT_THROW(make_search(other, domain->info(), 1)->load(once_more), Error);
}

TEST(PassiveArchive, RivalsWhoseArchiveIsTheirTessellationNeedNoMemory) {
  for (const auto* algorithm : {"cma-mae", "cma-me", "dms", "map-elites", "map-elites-line"}) {
    const auto config = config_of(algorithm, 20);
    const auto search = make_search(config, make_domain(config)->info(), 1);
    EXPECT_EQ(&search->restart_source(), &search->archive()) << algorithm;
  }
}

TEST(Strategy, IsLinearInNWhereNIsLarge) {
  EXPECT_EQ(strategy_for(Strategy::automatic, 499), Strategy::cma_es);
  EXPECT_EQ(strategy_for(Strategy::automatic, 500), Strategy::lm_ma_es);
  EXPECT_EQ(strategy_for(Strategy::cma_es, 500), Strategy::cma_es);
  auto config = config_of("dds-kde", 20);
  config.problem.n = 500;
  auto named = config;
  named.emitters.strategy = Strategy::lm_ma_es;
  const auto candidates = [](const Config& given) {
    const auto domain = make_domain(given);
    const auto search = make_search(given, domain->info(), 1);
    go(*search, *domain, 8);
    const auto values = search->ask().values();
    return std::vector<double>(values.begin(), values.end());
  };
  EXPECT_EQ(candidates(config), candidates(named));
}

}  // namespace
}  // namespace rarefy
