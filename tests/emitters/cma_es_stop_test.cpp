// When a CMA-ES says that it cannot go on; how it is saved and continued.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "rarefy/archives/archive.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/state.hpp"
#include "rarefy/emitters/cma_es.hpp"
#include "rarefy/emitters/evolution_strategy_emitter.hpp"
#include "rarefy/tessellations/grid.hpp"
#include "support/minimise.hpp"
#include "support/naive_matrix.hpp"

namespace rarefy {
namespace {

using minimise::sampling_key;
using naive::Vector;

constexpr Factor kFactors[] = {Factor::cholesky, Factor::eigen};

CmaEsOptions options_of(Index n, Index batch, Factor factor) {
  return {.dimension = n,
          .batch = batch,
          .sigma0 = 0.5,
          .factor = factor,
          .decompose_every = 1,
          .bounds = {}};
}

void generation(CmaEs& optimizer, minimise::Function function, std::uint64_t seed,
                std::uint64_t iteration) {
  const Index batch = optimizer.options().batch;
  Batch solutions(batch, optimizer.options().dimension);
  optimizer.ask(sampling_key(seed, iteration), solutions);
  std::vector<double> values;
  for (Index i = 0; i < batch; ++i) values.push_back(function(solutions.view().row(i)));
  optimizer.tell(solutions, minimise::ranked(values));
}

TEST(CmaEsStop, AHealthyRunIsLeftAlone) {
  for (const auto factor : kFactors) {
    CmaEs optimizer(options_of(5, 8, factor));
    optimizer.reset(Vector(5, 3.0));
    const std::vector<double> scores = {1, 2, 3, 4, 5, 6, 7, 8};
    EXPECT_EQ(optimizer.stop(scores), Stop::none);
    for (std::uint64_t g = 0; g < 100; ++g) {
      generation(optimizer, minimise::ellipsoid, 1, g);
      ASSERT_EQ(optimizer.stop(scores), Stop::none) << g;
      ASSERT_EQ(optimizer.stop({}), Stop::none) << g;
    }
  }
}

// The thresholds are put just above and just below what a slow reference says of the matrix
// the samples were drawn with. For the triangular factor the header promises the extremes of its
// diagonal only.
TEST(CmaEsStop, ConditionAndStepSizeFireAtTheirThresholdsAndNotBefore) {
  for (const auto factor : kFactors) {
    SCOPED_TRACE(factor == Factor::eigen ? "eigen" : "cholesky");
    CmaEs optimizer(options_of(5, 8, factor));
    optimizer.reset(Vector(5, 3.0));
    naive::Matrix drawn_with = naive::identity(5);
    for (std::uint64_t g = 0; g < 80; ++g) {
      drawn_with = naive::from(optimizer.covariance());
      generation(optimizer, minimise::ellipsoid, 2, g);
    }
    Vector squared;
    if (factor == Factor::eigen) {
      squared = naive::eigen(drawn_with).values;
    } else {
      const auto l = naive::cholesky(drawn_with);
      for (std::size_t i = 0; i < 5; ++i) squared.push_back(l[i][i] * l[i][i]);
    }
    const auto [least, most] = std::minmax_element(squared.begin(), squared.end());
    const double condition = *most / *least;
    const double axis = optimizer.sigma() * std::sqrt(*most);
    ASSERT_GT(condition, 100);
    EXPECT_EQ(optimizer.stop({}, {.condition = condition * 1.0001}), Stop::none);
    EXPECT_EQ(optimizer.stop({}, {.condition = condition * 0.9999}), Stop::condition);
    EXPECT_EQ(optimizer.stop({}, {.step_size = axis * 0.9999}), Stop::none);
    EXPECT_EQ(optimizer.stop({}, {.step_size = axis * 1.0001}), Stop::step_size);
    EXPECT_EQ(optimizer.stop({}, {.largest = axis * 1.0001}), Stop::none);
    EXPECT_EQ(optimizer.stop({}, {.largest = axis * 0.9999}), Stop::step_size);
  }
}

TEST(CmaEsStop, FlatMeansARangeBelowTheThreshold) {
  const CmaEs optimizer(options_of(3, 6, Factor::cholesky));
  const auto stop = [&](std::vector<double> scores) { return optimizer.stop(scores); };
  EXPECT_EQ(stop({2, 2, 2, 2, 2, 2}), Stop::flat);
  EXPECT_EQ(stop({0, 5e-13, 0, 0, 9e-13, 1e-13}), Stop::flat);
  EXPECT_EQ(stop({0, 5e-13, 0, 0, 2e-12, 1e-13}), Stop::none);
  EXPECT_EQ(stop({-1, 1, 0}), Stop::none);
  EXPECT_EQ(stop({4}), Stop::none);
  EXPECT_EQ(stop({}), Stop::none);
  const std::vector<double> apart = {1, 1.5};
  EXPECT_EQ(optimizer.stop(apart, {.flat = 0.6}), Stop::flat);
  EXPECT_EQ(optimizer.stop(apart, {.flat = 0.4}), Stop::none);
}

TEST(CmaEsStop, ConvergenceEndsAsStepSize) {
  for (const auto factor : kFactors) {
    CmaEs optimizer(options_of(4, 8, factor));
    optimizer.reset(Vector(4, 1.0));
    std::uint64_t g = 0;
    while (optimizer.stop({}) == Stop::none && g < 3000) {
      generation(optimizer, minimise::sphere, 4, g++);
    }
    EXPECT_EQ(optimizer.stop({}), Stop::step_size);
    EXPECT_LT(
        optimizer.sigma() * std::sqrt(naive::largest_entry(naive::from(optimizer.covariance()))),
        1e-10);
    EXPECT_LT(minimise::sphere(optimizer.mean()), 1e-18);
  }
}

TEST(CmaEsStop, DivergenceEndsAsStepSize) {
  for (const auto factor : kFactors) {
    CmaEs optimizer(options_of(4, 8, factor));
    std::uint64_t g = 0;
    const auto slope = [](std::span<const double> x) { return x[0] + x[1] + x[2] + x[3]; };
    // A slope has no end: the step grows and grows.
    const StopTests tests = {.largest = 1e6};
    while (optimizer.stop({}, tests) == Stop::none && g < 2000) {
      generation(optimizer, slope, 4, g++);
    }
    EXPECT_EQ(optimizer.stop({}, tests), Stop::step_size);
    EXPECT_GT(optimizer.sigma(), 1e4);
  }
}

// All steps along one line, all forward so that the step size does not shrink as well: the other
// axes lose a share c1 + cmu in every generation.
TEST(CmaEsStop, ACollapsedMatrixEndsAsConditionAndSamplesStayFinite) {
  for (const auto factor : kFactors) {
    for (const bool reports_by_condition : {true, false}) {
      SCOPED_TRACE(std::string(factor == Factor::eigen ? "eigen" : "cholesky") +
                   (reports_by_condition ? ", condition" : ", positive definiteness"));
      constexpr Index kN = 8, kBatch = 10;
      CmaEs optimizer(options_of(kN, kBatch, factor));
      // Where the condition may be anything, only the failed decomposition is left to report.
      const StopTests tests = {
          .condition = reports_by_condition ? 1e14 : std::numeric_limits<double>::infinity(),
          .largest = std::numeric_limits<double>::infinity()};
      Batch solutions(kBatch, kN);
      std::vector<Index> order(kBatch);
      int stopped_at = -1;
      for (int g = 0; g < 3000; ++g) {
        optimizer.ask(sampling_key(5, static_cast<std::uint64_t>(g)), solutions);
        ASSERT_TRUE(std::ranges::all_of(solutions.values(), [](double x) {
          return std::isfinite(x);
        })) << g;
        if (optimizer.stop({}, tests) == Stop::condition) {
          stopped_at = g;
          break;
        }
        for (Index i = 0; i < kBatch; ++i) {
          order[static_cast<std::size_t>(i)] = i;
          const double along = 1 + 0.1 * static_cast<double>(i);
          for (Index d = 0; d < kN; ++d) {
            solutions(i, d) = optimizer.mean()[static_cast<std::size_t>(d)] +
                              optimizer.sigma() * along * (0.3 + 0.17 * static_cast<double>(d));
          }
        }
        optimizer.tell(solutions, order);
        // Only the shape is of interest here, not where the step size goes.
        ASSERT_TRUE(std::isfinite(optimizer.sigma()));
        ASSERT_GT(optimizer.sigma(), 0);
      }
      ASSERT_GT(stopped_at, 100);
      // It is still usable, with the last good factor, until somebody restarts it.
      optimizer.ask(sampling_key(5, 9999), solutions);
      EXPECT_TRUE(
          std::ranges::all_of(solutions.values(), [](double x) { return std::isfinite(x); }));
      optimizer.reset(Vector(kN, 0.0));
      EXPECT_EQ(optimizer.stop({}, tests), Stop::none);
    }
  }
}

TEST(CmaEsStop, ReasonsHaveNames) {
  EXPECT_EQ(name_of(Stop::none), "none");
  EXPECT_EQ(name_of(Stop::condition), "condition");
  EXPECT_EQ(name_of(Stop::step_size), "step size");
  EXPECT_EQ(name_of(Stop::flat), "flat");
}

std::vector<std::byte> state_of(const rarefy::EvolutionStrategy& optimizer) {
  StateWriter out;
  optimizer.save(out);
  return out.bytes();
}

// Saved in every generation, also between two refreshes of the factor; a second object that
// loads it goes on to the same bits.
TEST(CmaEsState, ALoadedStateGoesOnToTheSameBits) {
  for (const auto factor : kFactors) {
    for (const Index every : {1, 3}) {
      CmaEsOptions options = options_of(6, 9, factor);
      options.decompose_every = every;
      options.mirrored = true;
      CmaEs original(options);
      original.reset(Vector(6, 1.0));
      std::vector<std::vector<std::byte>> states;
      for (std::uint64_t g = 0; g < 30; ++g) {
        states.push_back(state_of(original));
        generation(original, minimise::rosenbrock, 3, g);
      }
      const auto last = state_of(original);
      for (std::uint64_t from = 0; from < 30; ++from) {
        CmaEs other(options);
        StateReader in(states[from]);
        other.load(in);
        EXPECT_TRUE(in.at_end());
        EXPECT_TRUE(state_of(other) == states[from]) << from;
        for (std::uint64_t g = from; g < 30; ++g) generation(other, minimise::rosenbrock, 3, g);
        ASSERT_TRUE(state_of(other) == last) << from;
      }
    }
  }
}

TEST(CmaEsState, TheStopTestsSurviveSaving) {
  for (const auto factor : kFactors) {
    CmaEs original(options_of(5, 8, factor));
    original.reset(Vector(5, 1.0));
    for (std::uint64_t g = 0; g < 60; ++g) generation(original, minimise::ellipsoid, 3, g);
    CmaEs other(options_of(5, 8, factor));
    const auto state = state_of(original);
    StateReader in(state);
    other.load(in);
    for (double threshold = 1; threshold < 1e10; threshold *= 1.5) {
      ASSERT_EQ(other.stop({}, {.condition = threshold}),
                original.stop({}, {.condition = threshold}));
    }
  }
}

TEST(CmaEsState, CorruptStatesAreRefused) {
  for (const auto factor : kFactors) {
    CmaEs original(options_of(4, 8, factor));
    for (std::uint64_t g = 0; g < 5; ++g) generation(original, minimise::sphere, 3, g);
    const auto good = state_of(original);
    const auto refused = [&](const std::vector<std::byte>& bytes, const CmaEsOptions& options) {
      CmaEs other(options);
      StateReader in(bytes);
      try {
        other.load(in);
      } catch (const Error& error) {
        return error.kind() == ErrorKind::corrupt;
      }
      return false;
    };
    const auto same = options_of(4, 8, factor);
    EXPECT_FALSE(refused(good, same));
    for (std::size_t length = 0; length < good.size(); ++length) {
      ASSERT_TRUE(refused({good.begin(), good.begin() + static_cast<Index>(length)}, same))
          << length;
    }
    // Of another shape or another variant.
    EXPECT_TRUE(refused(good, options_of(5, 8, factor)));
    EXPECT_TRUE(refused(
        good, options_of(4, 8, factor == Factor::eigen ? Factor::cholesky : Factor::eigen)));
    // Not a number where a number must be: every field of reals, one value in turn.
    const double bad = std::numeric_limits<double>::quiet_NaN();
    for (const std::string name :
         {"cma.mean", "cma.sigma", "cma.covariance", "cma.path_c", "cma.path_sigma",
          "cma.condition", "cma.longest", "cma.factor"}) {
      auto bytes = good;
      const auto* text = reinterpret_cast<const std::byte*>(name.data());
      auto place = std::search(bytes.begin(), bytes.end(), text, text + name.size());
      ASSERT_NE(place, bytes.end()) << name;
      place += static_cast<Index>(name.size()) + 1 + 8;  // the type and the count
      const auto* value = reinterpret_cast<const std::byte*>(&bad);
      std::copy(value, value + sizeof bad, place);
      EXPECT_TRUE(refused(bytes, same)) << name;
    }
    // A step size that cannot be.
    for (const double sigma : {0.0, -1.0}) {
      auto bytes = good;
      const std::string name = "cma.sigma";
      const auto* text = reinterpret_cast<const std::byte*>(name.data());
      auto place = std::search(bytes.begin(), bytes.end(), text, text + name.size());
      place += static_cast<Index>(name.size()) + 1 + 8;
      const auto* value = reinterpret_cast<const std::byte*>(&sigma);
      std::copy(value, value + sizeof sigma, place);
      EXPECT_TRUE(refused(bytes, same)) << sigma;
    }
  }
}

// Where the samples come to lie is no part of the state: sums must not be taken in another
// order, or partly fused, because a block starts 8 bytes further on. A resumed run has
// another heap than the one it goes on from.
TEST(CmaEsState, ResultsDoNotDependOnWhereTheMemoryLies) {
  constexpr Index kGenerations = 8;
  for (const auto factor : kFactors) {
    for (const Index batch : {4, 12}) {
      for (const Index n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 20, 33, 64}) {
        SCOPED_TRACE(std::to_string(batch) + " x " + std::to_string(n) +
                     (factor == Factor::eigen ? ", eigen" : ", cholesky"));
        std::vector<std::byte> expected;
        std::vector<double> memory(static_cast<std::size_t>(batch * n + 16));
        // The first place that a cache line starts at.
        void* start = memory.data();
        std::size_t room = memory.size() * sizeof(double);
        auto* line = static_cast<double*>(std::align(64, sizeof(double), start, room));
        for (Index shift = 0; shift < 8; ++shift) {
          CmaEsOptions options = options_of(n, batch, factor);
          options.bounds = {.lower = {-2}, .upper = {5}};  // some rows are drawn again
          CmaEs optimizer(options);
          optimizer.reset(Vector(static_cast<std::size_t>(n), 1.0));
          const BatchSpan solutions(line + shift, batch, n);
          for (std::uint64_t g = 0; g < kGenerations; ++g) {
            optimizer.ask(sampling_key(3, g), solutions);
            std::vector<double> values;
            for (Index i = 0; i < batch; ++i) {
              values.push_back(minimise::sphere(solutions.row(i)) + solutions(i, 0));
            }
            optimizer.tell(solutions, minimise::ranked(values));
          }
          if (shift == 0) expected = state_of(optimizer);
          ASSERT_TRUE(state_of(optimizer) == expected) << "in place " << shift;
        }
      }
    }
  }
}

// The emitter is the optimizer with its streams named: seed, number and iteration.
TEST(EvolutionStrategyEmitter, DrawsFromTheStreamOfItsSeedNumberAndIteration) {
  const auto options = options_of(4, 8, Factor::cholesky);
  EvolutionStrategyEmitter emitter(std::make_unique<CmaEs>(options), 17, 3);
  CmaEs plain(options);
  EXPECT_EQ(emitter.batch(), 8);
  EXPECT_EQ(emitter.dimension(), 4);
  const Archive archive(std::make_shared<Grid>(FeatureSpace{{0}, {1}}, std::vector<Index>{2}), 4);
  Batch a(8, 4), b(8, 4);
  for (const std::uint64_t iteration : {0, 1, 12345}) {
    emitter.ask(archive, iteration, a);
    plain.ask({.seed = 17, .purpose = Purpose::sampling, .index = 3, .iteration = iteration}, b);
    EXPECT_TRUE(std::ranges::equal(a.values(), b.values()));
  }
}

// Only the order counts: any increasing function of the scores leaves the state as it was.
TEST(EvolutionStrategyEmitter, LearnsFromTheOrderAlone) {
  const auto options = options_of(4, 8, Factor::eigen);
  EvolutionStrategyEmitter one(std::make_unique<CmaEs>(options), 1, 0);
  EvolutionStrategyEmitter other(std::make_unique<CmaEs>(options), 1, 0);
  const Archive archive(std::make_shared<Grid>(FeatureSpace{{0}, {1}}, std::vector<Index>{2}), 4);
  Batch solutions(8, 4), features(8, 1);
  const std::vector<double> objectives(8, 1.0);
  const std::vector<Outcome> outcomes(8, Outcome::rejected);
  for (std::uint64_t g = 0; g < 20; ++g) {
    one.ask(archive, g, solutions);
    std::vector<double> scores, transformed;
    for (Index i = 0; i < 8; ++i) {
      scores.push_back(minimise::ellipsoid(solutions.view().row(i)));
      transformed.push_back(std::log(scores.back()) - 5);
    }
    const auto order = minimise::ranked(scores);
    Feedback feedback = {.solutions = solutions,
                         .features = features,
                         .objectives = objectives,
                         .scores = scores,
                         .order = order,
                         .outcomes = outcomes,
                         .ranked = 8};
    one.tell(feedback);
    feedback.scores = transformed;
    other.ask(archive, g, solutions);
    other.tell(feedback);
  }
  EXPECT_TRUE(state_of(one.optimizer()) == state_of(other.optimizer()));
}

TEST(EvolutionStrategyEmitter, EqualScoresStopItOnlyWhenTheyMeanSomething) {
  const Archive archive(std::make_shared<Grid>(FeatureSpace{{0}, {1}}, std::vector<Index>{2}), 4);
  Batch solutions(8, 4), features(8, 1);
  const std::vector<double> equal(8, 1.0), objectives(8, 1.0);
  const std::vector<Outcome> outcomes(8, Outcome::rejected);
  const std::vector<Index> order = {3, 1, 2, 0, 4, 5, 6, 7};
  for (const bool informed : {true, false}) {
    EvolutionStrategyEmitter emitter(std::make_unique<CmaEs>(options_of(4, 8, Factor::cholesky)), 1,
                                     0);
    emitter.ask(archive, 0, solutions);
    const bool stopped = emitter.tell({.solutions = solutions,
                                       .features = features,
                                       .objectives = objectives,
                                       .scores = equal,
                                       .order = order,
                                       .outcomes = outcomes,
                                       .ranked = 8,
                                       .informed = informed});
    EXPECT_EQ(stopped, informed);
    EXPECT_EQ(emitter.optimizer().generation(), 1);
    emitter.restart(Vector{1, 2, 3, 4});
    EXPECT_EQ(emitter.optimizer().generation(), 0);
    EXPECT_TRUE(std::ranges::equal(emitter.optimizer().mean(), Vector{1, 2, 3, 4}));
  }
}

TEST(EvolutionStrategyEmitter, UsesTheStopTestsItWasGiven) {
  const Archive archive(std::make_shared<Grid>(FeatureSpace{{0}, {1}}, std::vector<Index>{2}), 4);
  Batch solutions(8, 4), features(8, 1);
  const std::vector<double> scores = {1, 2, 3, 4, 5, 6, 7, 8}, objectives(8, 1.0);
  const std::vector<Outcome> outcomes(8, Outcome::rejected);
  const std::vector<Index> order = {0, 1, 2, 3, 4, 5, 6, 7};
  for (const bool strict : {true, false}) {
    EvolutionStrategyEmitter emitter(std::make_unique<CmaEs>(options_of(4, 8, Factor::cholesky)), 1,
                                     0, {.flat = strict ? 100.0 : 1.0});
    emitter.ask(archive, 0, solutions);
    EXPECT_EQ(emitter.tell({.solutions = solutions,
                            .features = features,
                            .objectives = objectives,
                            .scores = scores,
                            .order = order,
                            .outcomes = outcomes,
                            .ranked = 8}),
              strict);
  }
}

}  // namespace
}  // namespace rarefy
