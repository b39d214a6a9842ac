#include "rarefy/restarts/restart_point.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "rarefy/archives/grid.hpp"
#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

// Scores a feature by a formula, and remembers what it was asked.
class FormulaDensity : public Density {
 public:
  [[nodiscard]] std::string_view name() const override { return "formula"; }
  [[nodiscard]] Index feature_dim() const override { return 1; }
  [[nodiscard]] bool informed() const override { return true; }
  void score(BatchView features, std::span<const double> objectives, std::span<double> scores,
             Workers& /*workers*/) override {
    asked.clear();
    for (Index i = 0; i < features.rows(); ++i) {
      asked.push_back(features(i, 0));
      asked_objectives.push_back(objectives[static_cast<std::size_t>(i)]);
      scores[static_cast<std::size_t>(i)] = value(features(i, 0));
    }
    ++calls;
  }
  void observe(BatchView /*features*/, std::span<const double> /*objectives*/,
               Workers& /*workers*/) override {}
  void save(StateWriter& /*out*/) const override {}
  void load(StateReader& /*in*/) override {}

  static double value(double feature) { return std::cos(17 * feature); }

  std::vector<double> asked, asked_objectives;
  int calls = 0;
};

// An archive with `size` elites: elite i has solution (i, i^2, -i), feature (i + 0.5) / size
// and objective 100 + i.
class RestartPointTest : public ::testing::Test {
 protected:
  static constexpr Index kSize = 50;

  RestartPointTest()
      : archive_(std::make_shared<Grid>(FeatureSpace{{0}, {1}}, std::vector<Index>{kSize}), 3) {
    Batch solutions(kSize, 3), features(kSize, 1);
    std::vector<double> objectives;
    for (Index i = 0; i < kSize; ++i) {
      const auto x = static_cast<double>(i);
      solutions(i, 0) = x;
      solutions(i, 1) = x * x;
      solutions(i, 2) = -x;
      features(i, 0) = (x + 0.5) / kSize;
      objectives.push_back(100 + x);
    }
    std::vector<Outcome> outcomes(kSize);
    archive_.record(solutions, features, objectives, workers_, outcomes);
  }

  std::vector<double> choose(RestartPoint& point, std::uint64_t seed, Index emitter = 0) {
    RandomStream random({.seed = seed, .purpose = Purpose::restart, .index = 0, .iteration = 0});
    std::vector<double> out(3, -1e300);
    point.choose({archive_, density_, workers_, random}, emitter, out);
    return out;
  }

  // What the same stream gives when somebody else draws from it.
  [[nodiscard]] std::vector<Index> draws(std::uint64_t seed, int count, int uniforms_first = 0) {
    RandomStream random({.seed = seed, .purpose = Purpose::restart, .index = 0, .iteration = 0});
    for (int i = 0; i < uniforms_first; ++i) random.uniform();
    std::vector<Index> result;
    for (int i = 0; i < count; ++i) result.push_back(archive_.draw(random));
    return result;
  }

  static double feature(Index elite) { return (static_cast<double>(elite) + 0.5) / kSize; }

  Index sparsest(const std::vector<Index>& elites) {
    return *std::min_element(elites.begin(), elites.end(), [](Index a, Index b) {
      return FormulaDensity::value(feature(a)) < FormulaDensity::value(feature(b));
    });
  }

  Workers workers_{1};
  Archive archive_;
  FormulaDensity density_;
};

TEST_F(RestartPointTest, TheOriginIsAlwaysTheSame) {
  RestartAtOrigin origin({7, 8, 9});
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    EXPECT_EQ(choose(origin, seed), (std::vector<double>{7, 8, 9}));
  }
}

// 20,000 draws over 50 elites: chi-square with 49 degrees of freedom, 1e-6 point 113.9.
TEST_F(RestartPointTest, AnEliteIsDrawnUniformly) {
  RestartAtElite elite;
  std::map<double, double> counts;
  constexpr int kDraws = 20000;
  for (std::uint64_t seed = 0; seed < kDraws; ++seed) {
    const auto point = choose(elite, seed);
    ASSERT_EQ(point[1], point[0] * point[0]);
    ASSERT_EQ(point[2], -point[0]);
    counts[point[0]] += 1;
  }
  ASSERT_EQ(counts.size(), static_cast<std::size_t>(kSize));
  double chi_square = 0;
  for (const auto& [which, count] : counts) {
    const double expected = static_cast<double>(kDraws) / kSize;
    chi_square += (count - expected) * (count - expected) / expected;
  }
  EXPECT_LT(chi_square, 113.9);
}

TEST_F(RestartPointTest, AnAverageIsTheMeanOfItsDraws) {
  for (const int count : {1, 2, 18}) {
    RestartAtAverage average(count);
    bool repeated = false;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      auto elites = draws(seed, count);
      std::vector<double> expected(3, 0.0);
      for (const Index elite : elites) {
        for (std::size_t d = 0; d < 3; ++d) {
          expected[d] += archive_.solutions().row(elite)[d] / count;
        }
      }
      const auto point = choose(average, seed);
      for (std::size_t d = 0; d < 3; ++d) {
        ASSERT_NEAR(point[d], expected[d], 1e-12 * (1 + std::abs(expected[d])));
      }
      std::sort(elites.begin(), elites.end());
      repeated |= std::adjacent_find(elites.begin(), elites.end()) != elites.end();
    }
    EXPECT_EQ(repeated, count > 1) << "draws are with replacement";
  }
}

// Independent of the order of draws: the mean over many averages is that of the archive, with
// the variance of a mean of 18. 4,000 points, 5 standard errors: false alarms 1e-6.
TEST_F(RestartPointTest, AnAverageIsUnbiasedAndHasTheVarianceOfAMean) {
  RestartAtAverage average(18);
  constexpr int kPoints = 4000;
  double sum = 0, squares = 0;
  for (std::uint64_t seed = 0; seed < kPoints; ++seed) {
    const double x = choose(average, seed)[0];
    sum += x;
    squares += x * x;
  }
  const double mean = (kSize - 1) / 2.0;
  const double variance = (kSize * kSize - 1) / 12.0 / 18;
  EXPECT_NEAR(sum / kPoints, mean, 5 * std::sqrt(variance / kPoints));
  EXPECT_NEAR(squares / kPoints - std::pow(sum / kPoints, 2), variance,
              5 * variance * std::sqrt(2.0 / kPoints));
}

TEST_F(RestartPointTest, TheSparsestIsTheLeastCrowdedOfThoseDrawn) {
  for (const int count : {1, 2, 10, 64}) {
    RestartAtSparsest point(count);
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      const auto elites = draws(seed, count);
      const auto chosen = choose(point, seed);
      const auto expected = archive_.solutions().row(sparsest(elites));
      ASSERT_TRUE(std::ranges::equal(chosen, expected)) << seed;
      // It was asked about the features of those very elites, and their objectives.
      std::vector<double> features, objectives;
      for (const Index elite : elites) {
        features.push_back(feature(elite));
        objectives.push_back(100.0 + static_cast<double>(elite));
      }
      ASSERT_EQ(density_.asked, features);
      ASSERT_EQ(density_.asked_objectives, objectives);
      density_.asked_objectives.clear();
    }
  }
}

// sparse + u (average - sparse): the sparse one is drawn first, then the average, then u.
TEST_F(RestartPointTest, BetweenLiesOnTheLineFromTheSparsestToTheAverage) {
  RestartBetween between(5, 8);
  double least = 1, most = 0, sum = 0;
  constexpr int kPoints = 500;
  for (std::uint64_t seed = 0; seed < kPoints; ++seed) {
    const auto elites = draws(seed, 13);
    const std::vector<Index> compared(elites.begin(), elites.begin() + 8);
    const auto sparse = archive_.solutions().row(sparsest(compared));
    std::vector<double> average(3, 0.0);
    for (std::size_t i = 8; i < 13; ++i) {
      for (std::size_t d = 0; d < 3; ++d) average[d] += archive_.solutions().row(elites[i])[d] / 5;
    }
    const auto point = choose(between, seed);
    if (std::abs(average[1] - sparse[1]) < 1) continue;  // no line to speak of
    const double share = (point[1] - sparse[1]) / (average[1] - sparse[1]);
    for (std::size_t d = 0; d < 3; ++d) {
      ASSERT_NEAR(point[d], sparse[d] + share * (average[d] - sparse[d]), 1e-8) << seed;
    }
    least = std::min(least, share);
    most = std::max(most, share);
    sum += share;
  }
  // Uniform on [0, 1): 5 standard errors of the mean; extremes missed with chance .97^500.
  EXPECT_NEAR(sum / kPoints, 0.5, 5 / std::sqrt(12.0 * kPoints));
  EXPECT_GE(least, -1e-9);
  EXPECT_LT(least, 0.03);
  EXPECT_GT(most, 0.97);
  EXPECT_LE(most, 1 + 1e-9);
}

TEST_F(RestartPointTest, CountsBelowOneAreRefused) {
  EXPECT_THROW(RestartAtAverage(0), Error);
  EXPECT_THROW(RestartAtAverage(-3), Error);
  EXPECT_THROW(RestartAtSparsest(0), Error);
  EXPECT_THROW(RestartBetween(0, 1), Error);
  EXPECT_THROW(RestartBetween(1, 0), Error);
  EXPECT_THROW(MixedRestart({.emitters = 0}), Error);
  EXPECT_THROW(MixedRestart({.emitters = 1, .average_of = 0}), Error);
  EXPECT_THROW(MixedRestart({.emitters = 1, .sparsest_of = 0}), Error);
}

// Points without memory write nothing down and read nothing back.
TEST_F(RestartPointTest, OnlyTheMixedRuleHasAState) {
  RestartAtOrigin origin({1, 2, 3});
  RestartAtElite elite;
  RestartAtAverage average(3);
  RestartAtSparsest sparse(3);
  RestartBetween between(3, 3);
  MixedRestart mixed({.emitters = 2});
  StateWriter out;
  for (const RestartPoint* point :
       std::initializer_list<const RestartPoint*>{&origin, &elite, &average, &sparse, &between}) {
    point->save(out);
  }
  EXPECT_TRUE(out.bytes().empty());
  mixed.save(out);
  EXPECT_FALSE(out.bytes().empty());
}

// The rule of the mixed restart, as it was described when it was measured: both sides' new cells
// and iterations decay by 0.98 at every restart; runs from the initial solution are not credited;
// rate = (new + 1e-3) / (iterations + 1e-3); P(sparsest) = rB^4 / (rA^4 + rB^4), clipped to
// [.05, .95], and .5 until both have 20 iterations.
struct NaiveMixed {
  explicit NaiveMixed(std::size_t emitters) : side(emitters, '-') {}
  std::vector<char> side;
  double new_a = 0, new_b = 0, spent_a = 0, spent_b = 0;

  [[nodiscard]] double chance() const {
    if (spent_a < 20 || spent_b < 20) return 0.5;
    const double ra = (new_a + 1e-3) / (spent_a + 1e-3), rb = (new_b + 1e-3) / (spent_b + 1e-3);
    const double p = rb * rb * rb * rb / (ra * ra * ra * ra + rb * rb * rb * rb);
    return p < 0.05 ? 0.05 : p > 0.95 ? 0.95 : p;
  }
  void credit(const std::vector<Index>& cells) {
    for (std::size_t e = 0; e < side.size(); ++e) {
      if (side[e] == 'A') {
        new_a += static_cast<double>(cells[e]);
        spent_a += 1;
      } else if (side[e] == 'B') {
        new_b += static_cast<double>(cells[e]);
        spent_b += 1;
      }
    }
  }
  void restart(std::size_t emitter, bool sparse) {
    side[emitter] = sparse ? 'B' : 'A';
    for (double* value : {&new_a, &new_b, &spent_a, &spent_b}) *value *= 0.98;
  }
};

TEST_F(RestartPointTest, MixedFollowsItsDescription) {
  constexpr std::size_t kEmitters = 4;
  // Three worlds: the sparsest finds more, the average finds more, both find nothing.
  for (const int world : {0, 1, 2}) {
    SCOPED_TRACE(world);
    MixedRestart mixed({.emitters = kEmitters, .average_of = 6, .sparsest_of = 9});
    NaiveMixed expected(kEmitters);
    EXPECT_EQ(mixed.chance_of_sparsest(), 0.5);
    int sparse_ones = 0, restarts = 0;
    bool was_free = false, was_clipped = false;
    for (std::uint64_t iteration = 0; iteration < 1500; ++iteration) {
      RandomStream random(
          {.seed = 1, .purpose = Purpose::user, .index = 0, .iteration = iteration});
      std::vector<Index> cells;
      for (std::size_t e = 0; e < kEmitters; ++e) {
        const auto base = static_cast<Index>(random.below(4));
        const char side = expected.side[e];
        cells.push_back(world == 2    ? 0
                        : side == 'B' ? base + (world == 0 ? 1 : 0)
                                      : base + (world == 1 ? 6 : 0));
      }
      mixed.credit(cells);
      expected.credit(cells);
      ASSERT_NEAR(mixed.chance_of_sparsest(), expected.chance(), 1e-12) << iteration;
      const double chance = expected.chance();
      was_clipped |= chance == 0.05 || chance == 0.95;
      was_free |= chance > 0.05 && chance < 0.95 && chance != 0.5;
      for (std::size_t e = 0; e < kEmitters; ++e) {
        if (random.uniform() > 0.03) continue;
        const std::uint64_t seed = 1000 * iteration + e;
        // The first number of the stream decides, the rest draw the elites.
        RandomStream same({.seed = seed, .purpose = Purpose::restart, .index = 0, .iteration = 0});
        const bool sparse = same.uniform() < expected.chance();
        const auto point = choose(mixed, seed, static_cast<Index>(e));
        expected.restart(e, sparse);
        if (sparse) {
          const auto elite = sparsest(draws(seed, 9, 1));
          ASSERT_TRUE(std::ranges::equal(point, archive_.solutions().row(elite)));
        } else {
          double first = 0;
          for (const Index elite : draws(seed, 6, 1)) first += static_cast<double>(elite) / 6;
          ASSERT_NEAR(point[0], first, 1e-12 * (1 + first));
        }
        ++restarts;
        sparse_ones += sparse ? 1 : 0;
        ASSERT_NEAR(mixed.chance_of_sparsest(), expected.chance(), 1e-12) << iteration;
      }
    }
    ASSERT_GT(restarts, 100);
    if (world == 0) {
      EXPECT_GT(sparse_ones, restarts * 6 / 10);
      EXPECT_TRUE(was_free);
    }
    if (world == 1) {
      EXPECT_LT(sparse_ones, restarts * 3 / 10);
      EXPECT_TRUE(was_clipped);
    }
  }
}

TEST_F(RestartPointTest, RunsFromTheInitialSolutionEarnNobodyCredit) {
  MixedRestart mixed({.emitters = 2, .average_of = 2, .sparsest_of = 2});
  for (int i = 0; i < 500; ++i) mixed.credit(std::vector<Index>{10, 0});
  EXPECT_EQ(mixed.chance_of_sparsest(), 0.5);
  StateWriter untouched, out;
  MixedRestart({.emitters = 2, .average_of = 2, .sparsest_of = 2}).save(untouched);
  mixed.save(out);
  EXPECT_TRUE(out.bytes() == untouched.bytes());
}

TEST_F(RestartPointTest, MixedGoesOnFromASavedState) {
  const MixedRestartOptions options = {.emitters = 3, .average_of = 4, .sparsest_of = 5};
  MixedRestart original(options);
  for (std::uint64_t i = 0; i < 300; ++i) {
    StateWriter out;
    original.save(out);
    MixedRestart copy(options);
    StateReader in(out.bytes());
    copy.load(in);
    EXPECT_TRUE(in.at_end());
    ASSERT_EQ(copy.chance_of_sparsest(), original.chance_of_sparsest());
    const std::vector<Index> cells = {static_cast<Index>(i % 3), static_cast<Index>(i % 5), 1};
    original.credit(cells);
    copy.credit(cells);
    if (i % 2 == 0) {
      ASSERT_EQ(choose(original, i, static_cast<Index>(i % 3)),
                choose(copy, i, static_cast<Index>(i % 3)));
    }
    StateWriter after, copied;
    original.save(after);
    copy.save(copied);
    ASSERT_TRUE(after.bytes() == copied.bytes()) << i;
  }
  StateWriter out;
  original.save(out);
  for (std::size_t length = 0; length < out.bytes().size(); ++length) {
    MixedRestart copy(options);
    StateReader in(std::span(out.bytes()).first(length));
    ASSERT_THROW(copy.load(in), Error) << length;
  }
  MixedRestart more({.emitters = 4});
  StateReader in(out.bytes());
  EXPECT_THROW(more.load(in), Error) << "a state of another number of emitters";
  StateWriter wrong;
  wrong.integers("mixed_restart.started_by", std::vector<std::int64_t>{0, 2, -1});
  wrong.reals("mixed_restart.found", std::vector<double>{0, 0});
  wrong.reals("mixed_restart.spent", std::vector<double>{0, 0});
  StateReader bad(wrong.bytes());
  EXPECT_THROW(original.load(bad), Error) << "there is no side 2";
}

}  // namespace
}  // namespace rarefy
