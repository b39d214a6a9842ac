// Searches that begin with a probe of step sizes (restarts/step_probe.hpp).
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "rarefy/archives/metrics.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/domains/function_domain.hpp"
#include "rarefy/evaluators/evaluator.hpp"
#include "rarefy/experiment/domain_table.hpp"
#include "rarefy/experiment/make_search.hpp"
#include "support/small_config.hpp"

namespace {

using rarefy::Batch;
using rarefy::Config;
using rarefy::Index;
using rarefy::Search;

Config probing_config(const std::string& algorithm = "dds-kde") {
  auto config = rarefy::default_config("lp", algorithm);
  config.problem.n = 10;
  config.emitters.count = 4;
  config.emitters.batch = 10;  // three iterations of 40 rows for 110
  config.density.buffer = 200;
  config.density.flow.network.layers = {8};
  config.archive.intervals = 20;
  return config;
}

/// Evaluates solutions that are `unit` times those of the domain.
class Loop {
 public:
  explicit Loop(const Config& config, double unit = 1, Index threads = 1)
      : domain_(rarefy::make_domain(config)),
        unit_(unit),
        search(rarefy::make_search(config, domain_->info(), threads)) {}

  void tell(Index emitter = -1) {
    const auto asked = emitter < 0 ? search->ask() : search->ask_emitter(emitter);
    Batch x(asked.rows(), asked.cols()), features(asked.rows(), search->feature_dim());
    for (std::size_t i = 0; i < x.values().size(); ++i) x.values()[i] = asked.values()[i] / unit_;
    std::vector<double> objectives(static_cast<std::size_t>(asked.rows()));
    domain_->evaluate(x, features, objectives);
    if (emitter < 0) {
      search->tell(features, objectives);
    } else {
      search->tell_emitter(emitter, features, objectives);
    }
  }
  void steps(int count) {
    for (int i = 0; i < count; ++i) tell();
  }

 private:
  std::unique_ptr<rarefy::Domain> domain_;
  double unit_;

 public:
  std::unique_ptr<Search> search;
};

TEST(ProbedSearch, EveryDefaultProfileHasAProbe) {
  for (const auto& algorithm : rarefy::algorithms()) {
    SCOPED_TRACE(algorithm.name);
    Loop loop(probing_config(std::string(algorithm.name)));
    ASSERT_NE(loop.search->probe(), nullptr);
    EXPECT_TRUE(loop.search->probe()->probes(0));
    loop.steps(9);
    EXPECT_FALSE(loop.search->probe()->probes(0));
    EXPECT_EQ(loop.search->evaluations(), 9 * 40) << "what it tries counts";
    const auto left_out = loop.search->left_out();
    EXPECT_GT(left_out, 0) << "steps of 10 are too large";
    EXPECT_LT(left_out, 9 * 40 / 2);
    EXPECT_EQ(loop.search->archive().total_visits(), 9 * 40 - left_out);
  }
}

// The same candidates tell both probes the same; what is made of it is another matter.
TEST(ProbedSearch, DensityDescentBeginsWithSmallerStepsWhereThereAreManyFeatures) {
  const auto least_of = [](const std::string& algorithm, Index features) {
    auto config = rarefy::default_config("multi-lp", algorithm);
    config.problem.m = features;
    config.problem.n = 4 * features;
    config.density.buffer = 200;
    config.archive.cvt.cells = 30;
    config.archive.cvt.samples = 300;
    Loop loop(config);
    while (loop.search->probe()->probes(0)) loop.tell();
    return loop.search->probe()->range().least;
  };
  EXPECT_EQ(least_of("dds-kde", 2), least_of("cma-mae", 2));
  for (const Index features : {3, 10}) {
    const double ratio = least_of("dds-kde", features) / least_of("cma-mae", features);
    EXPECT_NEAR(ratio, 0.25 / 0.5, 0.15) << features;  // a little more, as spreads bend
  }
}

TEST(ProbedSearch, AStepThatIsGivenNeedsNone) {
  auto config = probing_config();
  config.emitters.sigma0 = 1.0;
  EXPECT_EQ(Loop(config).search->probe(), nullptr);
  config.emitters.sigma0.reset();
  config.algorithm = "map-elites-line";
  config.emitters.iso_sigma = 0.1;
  EXPECT_EQ(Loop(config).search->probe(), nullptr);
}

// At every iteration, those of the probe and the first ones after it.
TEST(ProbedSearch, GoesOnToTheSameBits) {
  for (const char* algorithm : {"dds-kde", "map-elites-line"}) {
    const auto config = probing_config(algorithm);
    for (int stop = 0; stop < 14; stop += 1) {
      SCOPED_TRACE(stop);
      Loop whole(config, 1e4), first(config, 1e4), second(config, 1e4);
      whole.steps(30);
      first.steps(stop);
      rarefy::StateWriter out;
      first.search->save(out);
      rarefy::StateReader in(out.bytes());
      second.search->load(in);
      second.steps(30 - stop);
      EXPECT_TRUE(state_of(*second.search) == state_of(*whole.search));
    }
  }
}

TEST(ProbedSearch, TheNumberOfThreadsChangesNoBit) {
  Loop one(probing_config(), 1, 1), three(probing_config(), 1, 3);
  one.steps(30);
  three.steps(30);
  EXPECT_TRUE(state_of(*one.search) == state_of(*three.search));
}

TEST(ProbedSearch, EmittersThatDoNotWaitBeginWithWhatIsKnown) {
  Loop loop(probing_config());
  int alone = 0;
  for (; loop.search->probe()->probes(2) && alone < 40; ++alone) loop.tell(2);
  EXPECT_GE(alone, 11) << "110 rows of one ladder";
  EXPECT_LE(alone, 11 + 5) << "and 45 of another, if that is needed";
  EXPECT_TRUE(loop.search->probe()->probes(1));
  for (const Index emitter : {0, 3, 1}) loop.tell(emitter);
  for (Index e = 0; e < 4; ++e) EXPECT_FALSE(loop.search->probe()->probes(e));
}

TEST(ProbedSearch, AStateOfASearchWithoutAProbeIsRefused) {
  auto config = probing_config();
  Loop probing(config);
  config.emitters.sigma0 = 1.0;
  Loop given(config);
  rarefy::StateWriter out;
  given.search->save(out);
  rarefy::StateReader in(out.bytes());
  try {
    probing.search->load(in);
    FAIL();
  } catch (const rarefy::Error& error) {
    EXPECT_NE(std::string(error.what()).find("search.steps"), std::string::npos) << error.what();
  }
}

// With few rows told, hardly anything is known, and that must not cost the rows.
TEST(ProbedSearch, KeepsMostOfASmallFirstBatch) {
  auto config = probing_config();
  config.emitters.count = 2;
  Loop loop(config);
  loop.tell();
  EXPECT_GE(loop.search->archive().total_visits(), 15) << "of 20, 3 of 22 rungs are above 1";
}

// A simulator that was made for values near 1 may well fail at 30; that must not end the run.
TEST(ProbedSearch, WhatCannotBeEvaluatedWhileItProbesHasFailed) {
  const auto config = probing_config();
  Loop loop(config);
  auto& search = *loop.search;
  const auto solutions = search.ask();
  Batch features(solutions.rows(), 2);
  std::vector<double> objectives(static_cast<std::size_t>(solutions.rows()), 1.0);
  Index far = 0;
  for (Index i = 0; i < solutions.rows(); ++i) {
    const bool fails = std::abs(solutions(i, 0)) > 1;
    features(i, 0) = fails ? std::nan("") : solutions(i, 0);
    features(i, 1) = fails ? INFINITY : solutions(i, 1);
    far += fails ? 1 : 0;
  }
  search.tell(features, objectives);
  EXPECT_GT(far, 0);
  EXPECT_EQ(search.failed(), far);
  loop.steps(9);
  (void)search.ask();
  EXPECT_THROW(search.tell(features, objectives), rarefy::Error) << "but not later";
}

// Solutions in units of 10^k: coverage of two runs differs by chance (their steps fall on other
// rungs), here by less than five points of a hundred in all of them; with a step of 1.5 the units
// of 1e-3 and 1e3 cover 0.5 and 4 %.
TEST(SlowProbedSearch, CoversAsMuchInAnyUnit) {
  auto config = rarefy::default_config("lp");
  config.problem.n = 20;
  config.archive.intervals = 50;
  std::vector<double> covered;
  for (const double unit : {1e-3, 1.0, 1e3}) {
    Loop loop(config, unit);
    loop.steps(400);
    covered.push_back(100 * rarefy::coverage(loop.search->archive()));
  }
  EXPECT_GT(covered[1], 80);
  EXPECT_NEAR(covered[0], covered[1], 5);
  EXPECT_NEAR(covered[2], covered[1], 5);
}

}  // namespace
