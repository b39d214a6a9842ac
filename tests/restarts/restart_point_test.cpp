#include "rarefy/restarts/restart_point.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "rarefy/core/error.hpp"
#include "rarefy/restarts/adaptive_restart.hpp"
#include "rarefy/tessellations/grid.hpp"

namespace rarefy {
namespace {

// Scores a feature by a formula, and remembers what it was asked.
class FormulaDensity : public Density {
 public:
  [[nodiscard]] std::string_view name() const override { return "formula"; }
  [[nodiscard]] Index feature_dim() const override { return 1; }
  [[nodiscard]] bool informed() const override { return true; }
  void score(const Evaluated& batch, std::span<double> scores, Workers& /*workers*/) override {
    asked.clear();
    const auto& features = batch.features;
    for (Index i = 0; i < features.rows(); ++i) {
      asked.push_back(features(i, 0));
      asked_objectives.push_back(batch.objectives[static_cast<std::size_t>(i)]);
      scores[static_cast<std::size_t>(i)] = value(features(i, 0));
    }
    ++calls;
  }
  void observe(const Evaluated& /*batch*/, Workers& /*workers*/) override {}
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
    archive_.record(solutions, {features, objectives}, workers_, outcomes);
  }

  std::vector<double> choose(RestartPoint& point, std::uint64_t seed, Index emitter = 0) {
    RandomStream random({.seed = seed, .purpose = Purpose::restart, .index = 0, .iteration = 0});
    std::vector<double> out(3, -1e300);
    point.choose({archive_, density_, workers_, random}, emitter, out);
    return out;
  }

  // Of four times as many elites those whose features are nearest to a rare one's. Every cell was
  // visited once: of the eight that are compared the first is as rare as any. The stream's first
  // number has decided for an average.
  [[nodiscard]] std::vector<Index> neighbours(std::uint64_t seed, int count) {
    auto drawn = draws(seed, 8 + 4 * count - 1, 1);
    const Index centre = drawn[0];
    drawn.erase(drawn.begin() + 1, drawn.begin() + 8);
    std::stable_sort(drawn.begin() + 1, drawn.end(), [&](Index a, Index b) {
      const auto apart = [&](Index elite) {
        const double along = feature(elite) - feature(centre);
        return along * along;
      };
      return apart(a) != apart(b) ? apart(a) < apart(b) : a < b;
    });
    drawn.resize(static_cast<std::size_t>(count));
    return drawn;
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

TEST_F(RestartPointTest, TheRarestIsTheLeastVisitedOfThoseDrawn) {
  // Elite i gets (7 i mod 50) further visits, all different, by worse solutions in its cell.
  std::vector<std::int64_t> visits;
  for (Index i = 0; i < kSize; ++i) {
    const Index more = 7 * i % kSize;
    visits.push_back(1 + more);
    Batch solutions(more, 3), features(more, 1);
    std::fill(features.values().begin(), features.values().end(), feature(i));
    std::vector<double> objectives(static_cast<std::size_t>(more), 0.0);
    std::vector<Outcome> outcomes(objectives.size());
    archive_.record(solutions, {features, objectives}, workers_, outcomes);
  }
  for (const int count : {1, 2, 9}) {
    RestartAtRarest rarest(count);
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      const auto elites = draws(seed, count);
      const auto expected = *std::min_element(elites.begin(), elites.end(), [&](Index x, Index y) {
        return visits[static_cast<std::size_t>(x)] < visits[static_cast<std::size_t>(y)];
      });
      ASSERT_TRUE(std::ranges::equal(choose(rarest, seed), archive_.solutions().row(expected)));
    }
  }
  EXPECT_EQ(density_.calls, 0) << "no density is asked";
}

TEST_F(RestartPointTest, CountsBelowOneAreRefused) {
  EXPECT_THROW(RestartAtAverage(0), Error);
  EXPECT_THROW(RestartAtAverage(-3), Error);
  EXPECT_THROW(RestartAtSparsest(0), Error);
  EXPECT_THROW(RestartAtRarest(0), Error);
  EXPECT_THROW(AdaptiveRestart({.emitters = 0, .average_of = 18}), Error);
  EXPECT_THROW(AdaptiveRestart({.emitters = 1, .average_of = 0}), Error);
  EXPECT_THROW(AdaptiveRestart({.emitters = 1, .average_of = 18, .compared = 0}), Error);
  EXPECT_THROW(AdaptiveRestart({.emitters = 1, .average_of = 18, .decay = 1.1}), Error);
  EXPECT_THROW(AdaptiveRestart({.emitters = 1, .average_of = 18, .least = 0.6}), Error);
}

// Points without memory write nothing down and read nothing back.
TEST_F(RestartPointTest, OnlyTheAdaptiveRuleHasAState) {
  RestartAtOrigin origin({1, 2, 3});
  RestartAtElite elite;
  RestartAtAverage average(3);
  RestartAtSparsest sparse(3);
  RestartAtRarest rarest(3);
  AdaptiveRestart adaptive({.emitters = 2, .average_of = 18});
  StateWriter out;
  for (const RestartPoint* point :
       std::initializer_list<const RestartPoint*>{&origin, &elite, &average, &sparse, &rarest}) {
    point->save(out);
  }
  EXPECT_TRUE(out.bytes().empty());
  adaptive.save(out);
  EXPECT_FALSE(out.bytes().empty());
}

// The chance of a rare elite as the header describes it, with all averages ever tried at hand.
struct NaiveAdaptive {
  double decay = 0.8, least = 0.02;
  std::vector<double> relative_errors;  // min(1, e^2 / v), oldest first

  [[nodiscard]] double chance() const {
    if (relative_errors.empty()) return 0.5;
    double sum = 0, weights = 0, weight = 1;
    for (auto error = relative_errors.rbegin(); error != relative_errors.rend(); ++error) {
      sum += weight * *error;
      weights += weight;
      weight *= decay;
    }
    return std::min(std::max(std::sqrt(sum / weights), least), 1 - least);
  }
};

TEST_F(RestartPointTest, AdaptiveAveragesNoFewerThanItDraws) {
  for (const Index drawn : {-1, 5}) {
    try {
      AdaptiveRestart({.emitters = 1, .average_of = 6, .average_from = drawn});
      FAIL() << drawn;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()),
                "average-from: got " + std::to_string(drawn) + ", expected at least average-of, 6");
    }
  }
}

TEST_F(RestartPointTest, AdaptiveFollowsItsDescription) {
  constexpr Index kEmitters = 4;
  constexpr int kAveraged = 6, kCompared = 9;
  // Three worlds: features of averages are the averages of features, nearly so, or anything.
  for (const double noise : {0.0, 0.1, 10.0}) {
    SCOPED_TRACE(noise);
    AdaptiveRestart adaptive(
        {.emitters = kEmitters, .average_of = kAveraged, .compared = kCompared});
    adaptive.prepare(3, 1);
    NaiveAdaptive expected;
    std::vector<double> promised(kEmitters, 0), variance(kEmitters, 0);
    std::vector<bool> awaited(kEmitters, false);
    EXPECT_EQ(adaptive.chance_of_rarest(), 0.5);
    int rare_ones = 0, restarts = 0;
    for (std::uint64_t iteration = 0; iteration < 1500; ++iteration) {
      RandomStream random(
          {.seed = 1, .purpose = Purpose::user, .index = 0, .iteration = iteration});
      for (Index e = 0; e < kEmitters; ++e) {
        const auto at = static_cast<std::size_t>(e);
        // The batch: two candidates on either side of what becomes of the average.
        const double middle = promised[at] + noise * (random.uniform() - 0.5);
        Batch features(2, 1);
        features(0, 0) = middle - 0.25;
        features(1, 0) = middle + 0.25;
        adaptive.observe(e, features);
        if (awaited[at]) {
          const double error = (middle - promised[at]) * (middle - promised[at]);
          expected.relative_errors.push_back(std::min(1.0, error / variance[at]));
          awaited[at] = false;
        }
        ASSERT_NEAR(adaptive.chance_of_rarest(), expected.chance(), 1e-9) << iteration;
        if (random.uniform() > 0.03) continue;
        const std::uint64_t seed = 1000 * iteration + at;
        // The first number of the stream decides, the rest draw the elites.
        RandomStream same({.seed = seed, .purpose = Purpose::restart, .index = 0, .iteration = 0});
        const bool rare = same.uniform() < expected.chance();
        const auto point = choose(adaptive, seed, e);
        if (rare) {
          // Every cell was visited once: the first drawn is as rare as any.
          const auto elite = draws(seed, 1, 1)[0];
          ASSERT_TRUE(std::ranges::equal(point, archive_.solutions().row(elite)));
        } else {
          double first = 0, mean = 0, squares = 0;
          for (const Index elite : neighbours(seed, kAveraged)) {
            first += static_cast<double>(elite) / kAveraged;
            mean += feature(elite) / kAveraged;
            squares += feature(elite) * feature(elite) / kAveraged;
          }
          ASSERT_NEAR(point[0], first, 1e-12 * (1 + first));
          promised[at] = mean;
          variance[at] = squares - mean * mean;
          awaited[at] = true;
        }
        ++restarts;
        rare_ones += rare ? 1 : 0;
      }
    }
    ASSERT_GT(restarts, 100);
    if (noise == 0.0) {
      EXPECT_LT(rare_ones, restarts * 2 / 10);
    }
    if (noise == 10.0) {
      EXPECT_GT(rare_ones, restarts * 8 / 10);
    }
  }
}

TEST_F(RestartPointTest, AdaptiveLearnsFromFirstBatchesOnly) {
  AdaptiveRestart adaptive({.emitters = 2, .average_of = 2, .compared = 2, .least = 0.0});
  adaptive.prepare(3, 1);
  const Batch far(4, 1);
  adaptive.observe(0, far);  // from the initial solution: nothing was expected of it
  EXPECT_EQ(adaptive.chance_of_rarest(), 0.5);
  std::uint64_t seed = 0;
  StateWriter before;
  adaptive.save(before);
  for (bool average = false; !average; ++seed) {
    choose(adaptive, seed, 1);
    StateWriter now;
    adaptive.save(now);
    average = !(now.bytes() == before.bytes());
  }
  adaptive.observe(0, far);  // of the other emitter
  EXPECT_EQ(adaptive.chance_of_rarest(), 0.5);
  Batch absurd(4, 1);
  std::fill(absurd.values().begin(), absurd.values().end(), 1e6);
  adaptive.observe(1, absurd);
  EXPECT_EQ(adaptive.chance_of_rarest(), 1.0);
  adaptive.observe(1, far);  // its second batch
  EXPECT_EQ(adaptive.chance_of_rarest(), 1.0);
}

// What a simulator that diverged leaves behind must not make a state that cannot be loaded, and
// nothing is learned from it.
TEST_F(RestartPointTest, AdaptiveSurvivesFeaturesWhoseSquaresOverflow) {
  for (const double far : {1e160, 1e308, -1e308}) {
    Batch solution(1, 3), feature_far(1, 1);
    feature_far(0, 0) = far;
    Archive archive(std::make_shared<Grid>(FeatureSpace{{0}, {1}}, std::vector<Index>{kSize}), 3);
    std::vector<Outcome> outcomes(1);
    archive.record(solution, {feature_far, std::vector<double>{1.0}}, workers_, outcomes);
    feature_far(0, 0) = 0.5;
    archive.record(solution, {feature_far, std::vector<double>{1.0}}, workers_, outcomes);
    AdaptiveRestart adaptive({.emitters = 1, .average_of = 4, .compared = 2});
    adaptive.prepare(3, 1);
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      RandomStream random({.seed = seed, .purpose = Purpose::restart, .index = 0, .iteration = 0});
      std::vector<double> out(3);
      adaptive.choose({archive, density_, workers_, random}, 0, out);
      StateWriter saved;
      adaptive.save(saved);
      AdaptiveRestart copy({.emitters = 1, .average_of = 4, .compared = 2});
      copy.prepare(3, 1);
      StateReader in(saved.bytes());
      EXPECT_NO_THROW(copy.load(in));
      adaptive.observe(0, feature_far);
    }
    EXPECT_EQ(adaptive.chance_of_rarest(), 0.5);
  }
}

TEST_F(RestartPointTest, AdaptiveGoesOnFromASavedState) {
  const AdaptiveRestartOptions options = {.emitters = 3, .average_of = 4, .compared = 5};
  const auto make = [&] {
    auto made = std::make_unique<AdaptiveRestart>(options);
    made->prepare(3, 1);
    return made;
  };
  const auto original = make();
  for (std::uint64_t i = 0; i < 300; ++i) {
    StateWriter out;
    original->save(out);
    const auto copy = make();
    StateReader in(out.bytes());
    copy->load(in);
    EXPECT_TRUE(in.at_end());
    ASSERT_EQ(copy->chance_of_rarest(), original->chance_of_rarest());
    Batch features(2, 1);
    features(0, 0) = features(1, 0) = static_cast<double>(i % 7) / 7.0;
    const auto emitter = static_cast<Index>(i % 3);
    original->observe(emitter, features);
    copy->observe(emitter, features);
    if (i % 2 == 0) {
      ASSERT_EQ(choose(*original, i, emitter), choose(*copy, i, emitter));
    }
    StateWriter after, copied;
    original->save(after);
    copy->save(copied);
    ASSERT_TRUE(after.bytes() == copied.bytes()) << i;
  }
  StateWriter out;
  original->save(out);
  for (std::size_t length = 0; length < out.bytes().size(); ++length) {
    const auto copy = make();
    StateReader in(std::span(out.bytes()).first(length));
    ASSERT_THROW(copy->load(in), Error) << length;
  }
  AdaptiveRestart more({.emitters = 4, .average_of = 4});
  more.prepare(3, 1);
  StateReader in(out.bytes());
  EXPECT_THROW(more.load(in), Error) << "a state of another number of emitters";

  const auto refused = [&](std::int64_t flag, double variance, double error, double tried) {
    StateWriter wrong;
    wrong.integers("adaptive_restart.awaited", std::vector<std::int64_t>{0, flag, 0});
    wrong.reals("adaptive_restart.expected", std::vector<double>{0, 0, 0});
    wrong.reals("adaptive_restart.variance", std::vector<double>{0, variance, 0});
    wrong.real("adaptive_restart.error", error);
    wrong.real("adaptive_restart.tried", tried);
    StateReader bad(wrong.bytes());
    try {
      make()->load(bad);
    } catch (const Error& problem) {
      EXPECT_EQ(problem.kind(), ErrorKind::corrupt);
      return true;
    }
    return false;
  };
  EXPECT_FALSE(refused(1, 0.5, 0.5, 1));
  EXPECT_TRUE(refused(2, 0.5, 0.5, 1));
  EXPECT_TRUE(refused(1, -0.5, 0.5, 1));
  EXPECT_TRUE(refused(1, 0.5, 1.5, 1));
  EXPECT_TRUE(refused(1, 0.5, -0.5, 1));
}

// An elite far outside, which is in the last cell; whether the density is shown it as it is.
TEST_F(RestartPointTest, TheSparsestShowsTheDensityNothingOutsideWhereItMustNotSeeIt) {
  Archive archive(std::make_shared<Grid>(FeatureSpace{{0}, {1}}, std::vector<Index>{kSize}), 3);
  const Batch solutions(2, 3);
  Batch features(2, 1);
  features(0, 0) = 7.0;
  features(1, 0) = -0.25;
  std::vector<Outcome> outcomes(2);
  const std::vector<double> objectives(2, 1.0);
  archive.record(solutions, {features, objectives}, workers_, outcomes);
  RestartAtSparsest point(16);
  std::vector<double> out(3);
  for (const auto outside : {Outside::as_is, Outside::clamp, Outside::last}) {
    RandomStream random({.seed = 1, .purpose = Purpose::restart});
    point.choose({archive, density_, workers_, random, outside}, 0, out);
    const auto [least, most] = std::minmax_element(density_.asked.begin(), density_.asked.end());
    EXPECT_EQ(*least, outside == Outside::as_is ? -0.25 : 0.0);
    EXPECT_EQ(*most, outside == Outside::as_is ? 7.0 : 1.0);
  }
}

// Where none of its candidates could be evaluated, an average has not been tried yet.
TEST_F(RestartPointTest, AdaptiveWaitsForCandidatesThatWereEvaluated) {
  AdaptiveRestart one({.emitters = 1, .average_of = 5, .compared = 8});
  AdaptiveRestart other({.emitters = 1, .average_of = 5, .compared = 8});
  Batch features(2, 1);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    choose(one, seed);
    choose(other, seed);
    one.observe(0, Batch(0, 1));
    one.observe(0, features);
    other.observe(0, features);
    ASSERT_EQ(one.chance_of_rarest(), other.chance_of_rarest()) << seed;
  }
  EXPECT_NE(one.chance_of_rarest(), 0.5) << "no average was tried";
}

}  // namespace
}  // namespace rarefy
