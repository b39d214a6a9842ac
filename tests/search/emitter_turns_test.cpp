// Emitters that are asked and told one by one, in any order.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "rarefy/core/error.hpp"
#include "support/small_config.hpp"

namespace rarefy {
namespace {

struct OneByOneLoop {
  explicit OneByOneLoop(Config given, Index threads = 1)
      : config(std::move(given)),
        domain(make_domain(config)),
        search(make_search(config, domain->info(), threads)) {}

  void evaluate(Index emitter) {
    const auto solutions = search->ask_emitter(emitter);
    Evaluation out(solutions.rows(), search->feature_dim());
    domain->evaluate(solutions, out.features, out.objectives);
    search->tell_emitter(emitter, out.features, out.objectives);
  }
  /// Some emitters are asked, one of those is told, again and again, as the random numbers say.
  void go(int turns, std::mt19937& random) {
    for (int i = 0; i < turns; ++i) {
      (void)search->ask_emitter(static_cast<Index>(random() % 3));
      evaluate(static_cast<Index>(random() % 3));
    }
  }

  Config config;
  std::unique_ptr<const Domain> domain;
  std::unique_ptr<Search> search;
};

std::vector<double> copy_of(BatchView rows) { return {rows.values().begin(), rows.values().end()}; }

Config config_of(const std::string& algorithm) {
  Config config = small_config();
  const Config theirs = default_config("lp", algorithm);
  Config result = theirs;
  result.problem = config.problem;
  result.emitters.count = config.emitters.count;
  result.emitters.batch = config.emitters.batch;
  result.density.buffer = config.density.buffer;
  result.density.flow.network.layers = {8};
  result.density.flow.training.steps = 2;
  result.archive = config.archive;
  result.restarts.stagnation = config.restarts.stagnation;
  return result;
}

struct EveryAlgorithm : testing::TestWithParam<std::string> {};

TEST_P(EveryAlgorithm, AStateInTheMiddleGoesOnToTheSameBits) {
  OneByOneLoop whole(config_of(GetParam()));
  std::mt19937 random(3);  // NOLINT(*-msc51-cpp): the same every time
  whole.go(100, random);
  (void)whole.search->ask_emitter(1);
  const auto under_way = copy_of(whole.search->ask_emitter(1));
  const auto state = state_of(*whole.search);

  OneByOneLoop again(config_of(GetParam()), 2);
  StateReader in(state);
  again.search->load(in);
  EXPECT_TRUE(in.at_end());
  for (Index e = 0; e < 3; ++e) {
    EXPECT_EQ(again.search->awaits(e), whole.search->awaits(e));
    EXPECT_EQ(again.search->generation(e), whole.search->generation(e));
  }
  EXPECT_EQ(copy_of(again.search->ask_emitter(1)), under_way);
  auto random_again = random;
  whole.go(60, random);
  again.go(60, random_again);
  EXPECT_TRUE(state_of(*again.search) == state_of(*whole.search));
}

INSTANTIATE_TEST_SUITE_P(Algorithms, EveryAlgorithm,
                         testing::Values("dds-kde", "dds-cnf", "dds-qd", "ns", "cma-mae", "dms",
                                         "cma-me", "map-elites-line", "map-elites"),
                         [](const auto& given) {
                           auto name = given.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(EmitterTurns, AloneItIsTheLoopOfAll) {
  auto config = small_config();
  config.emitters.count = 1;
  OneByOneLoop one(config);
  OneByOneLoop all(config);
  for (int i = 0; i < 50; ++i) {
    one.evaluate(0);
    const auto solutions = all.search->ask();
    Evaluation out(solutions.rows(), 2);
    all.domain->evaluate(solutions, out.features, out.objectives);
    all.search->tell(out.features, out.objectives);
  }
  EXPECT_GT(one.search->restarts(), 0);
  EXPECT_TRUE(state_of(*one.search) == state_of(*all.search));
}

TEST(EmitterTurns, EachCountsForItself) {
  OneByOneLoop loop(small_config());
  auto& search = *loop.search;
  EXPECT_FALSE(search.awaits(2));
  (void)search.ask_emitter(2);
  EXPECT_TRUE(search.awaits(2));
  EXPECT_FALSE(search.awaits(0));
  for (int i = 0; i < 4; ++i) loop.evaluate(2);
  EXPECT_FALSE(search.awaits(2));
  EXPECT_EQ(search.generation(2), 4);
  EXPECT_EQ(search.generation(0), 0);
  EXPECT_EQ(search.evaluations(), 4 * 8);
  EXPECT_EQ(search.iteration(), 1) << "as many rows as a batch of 24 has, and 8 more";
  EXPECT_EQ(search.archive().total_visits(), 4 * 8);
  EXPECT_EQ(search.scores().size(), 8U);
  EXPECT_EQ(search.rows_of(2).first, 16);
  EXPECT_EQ(search.emitter_of_row(15), 1);
  EXPECT_EQ(search.emitter_of_row(16), 2);
}

TEST(EmitterTurns, AllTogetherAfterwards) {
  OneByOneLoop loop(small_config());
  auto& search = *loop.search;
  loop.evaluate(1);
  const auto first = copy_of(search.ask_emitter(1));
  const auto all = search.ask();
  EXPECT_EQ(copy_of(all.rows(8, 8)), first) << "what was asked for stays";
  Evaluation out(all.rows(), 2);
  loop.domain->evaluate(all, out.features, out.objectives);
  search.tell(out.features, out.objectives);
  EXPECT_EQ(search.evaluations(), 8 + 24);
  EXPECT_EQ(search.generation(1), 2);
}

TEST(EmitterTurns, WhoeverHoldsABatchKeepsItAsItIs) {
  OneByOneLoop loop(small_config());
  auto& search = *loop.search;
  const auto held = search.ask_shared();
  const auto before = copy_of(*held);
  const auto others = copy_of(search.ask_emitter(0));
  loop.evaluate(1);
  const auto next = copy_of(search.ask_emitter(1));
  EXPECT_EQ(copy_of(*held), before);
  EXPECT_NE(next, copy_of(held->view().rows(8, 8)));
  EXPECT_EQ(copy_of(search.ask_emitter(0)), others) << "those under way have moved along";
}

TEST(EmitterTurns, GivenSolutionsAreEvaluatedOnceEach) {
  auto config = small_config();
  const auto domain = make_domain(config);
  Batch given(40, 6);  // one iteration and two thirds
  for (Index i = 0; i < 40; ++i) given(i, 0) = 1000.0 + static_cast<double>(i);
  auto team = std::make_shared<Workers>(1);
  const auto search =
      make_search(config, domain->info(), team, make_tessellation(config, domain->info(), *team),
                  std::move(given));
  std::map<double, int> seen;
  std::mt19937 random(5);  // NOLINT(*-msc51-cpp): the same every time
  for (int i = 0; i < 60; ++i) {
    const auto emitter = static_cast<Index>(random() % 3);
    const auto solutions = search->ask_emitter(emitter);
    for (Index row = 0; row < solutions.rows(); ++row) {
      if (solutions(row, 1) == 0.0) ++seen[solutions(row, 0)];
    }
    Evaluation out(solutions.rows(), 2);
    domain->evaluate(solutions, out.features, out.objectives);
    search->tell_emitter(emitter, out.features, out.objectives);
  }
  EXPECT_EQ(seen.size(), 40U);
  for (const auto& [value, times] : seen) EXPECT_EQ(times, 1) << value;
}

TEST(EmitterTurns, MistakesAreNamed) {
  OneByOneLoop loop(small_config());
  auto& search = *loop.search;
  const auto message = [](auto call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing";
  };
  Evaluation out(8, 2);
  EXPECT_EQ(message([&] { (void)search.ask_emitter(3); }),
            "search: emitter: got 3, expected 0 to 2");
  EXPECT_EQ(message([&] { search.tell_emitter(0, out.features); }),
            "search: tell() without candidates; call ask() first");
  (void)search.ask_emitter(0);
  EXPECT_EQ(message([&] { search.tell_emitter(0, out.features.view().rows(0, 7)); }),
            "features: got 7 x 2, expected 8 x 2, a row for each candidate");
  Evaluation all(24, 2);
  EXPECT_EQ(message([&] { search.tell(all.features); }),
            "search: tell() without candidates; call ask() first");
  EXPECT_EQ(search.evaluations(), 0);
  search.tell_emitter(0, out.features);
  EXPECT_EQ(search.evaluations(), 8);
}

}  // namespace
}  // namespace rarefy
