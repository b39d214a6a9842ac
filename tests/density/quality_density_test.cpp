// Density and objective together, against the definition in double precision.
#include "rarefy/density/quality_density.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "density/kde_reference.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/state.hpp"
#include "rarefy/density/kde.hpp"

namespace rarefy {
namespace {

using testing::HasSubstr;
using Values = std::vector<double>;

const FeatureSpace kSpace = {{0, -10}, {1, 10}};

std::unique_ptr<KernelDensity> kernels(Index capacity = 50'000, FeatureSpace space = kSpace) {
  return std::make_unique<KernelDensity>(KdeOptions{.space = std::move(space),
                                                    .bandwidth = Bandwidth::normalised(0.1),
                                                    .method = KdeMethod::direct},
                                         std::make_unique<Reservoir>(ReservoirOptions{
                                             .feature_dim = 2, .capacity = capacity, .seed = 1}));
}

QualityDensity quality(double weight) {
  return {QualityOptions{.weight = weight, .seed = 1}, kernels()};
}

struct Rows {
  Batch features;
  Values objectives;

  [[nodiscard]] Evaluated evaluated() const { return {features, objectives}; }
};

// Better ones are to the right, and some are better than that.
Rows random_rows(std::mt19937_64& random, Index count) {
  std::uniform_real_distribution<double> where(0, 1);
  std::normal_distribution<double> normal(0, 1);
  Rows rows = {Batch(count, 2), {}};
  for (Index i = 0; i < count; ++i) {
    rows.features(i, 0) = where(random);
    rows.features(i, 1) = 20 * where(random) - 10;
    rows.objectives.push_back(3 * rows.features(i, 0) + normal(random));
  }
  return rows;
}

Values scores_of(Density& density, const Rows& rows, Index threads = 1) {
  Workers workers(threads);
  Values scores(rows.objectives.size());
  density.score(rows.evaluated(), scores, workers);
  return scores;
}

void expect_near(const Values& a, const Values& b, double error) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], error) << i;
}

// Of fewer objectives than the sample holds, so that it holds all of them.
TEST(QualityDensity, IsLogDensityMinusTheWeighedObjective) {
  std::mt19937_64 random(1);
  for (const double weight : {0.0, 0.06, 1.0, 30.0}) {
    SCOPED_TRACE(weight);
    auto density = quality(weight);
    Batch seen(0, 2);
    Values objectives;
    for (int batch = 0; batch < 8; ++batch) {
      const Rows rows = random_rows(random, 41 + 20 * batch);
      density.observe(rows.evaluated());
      for (Index i = 0; i < rows.features.rows(); ++i) seen.append(rows.features.view().row(i));
      objectives.insert(objectives.end(), rows.objectives.begin(), rows.objectives.end());

      Values sorted = objectives;
      std::sort(sorted.begin(), sorted.end());
      const auto at = [&](double part) {  // the nearest objective towards the median
        const double place = part * static_cast<double>(sorted.size() - 1);
        return sorted[static_cast<std::size_t>(part > 0.5 ? std::ceil(place) : std::floor(place))];
      };
      const double spread = (at(0.75) - at(0.25)) / 1.3489795;
      const Values h = {0.1, 2.0};
      const Rows probes = random_rows(random, 30);
      const Values scores = scores_of(density, probes);
      for (std::size_t i = 0; i < scores.size(); ++i) {
        const double log_p = kde_reference::log_density(
            Kernel::gaussian, seen, h, probes.features.view().row(static_cast<Index>(i)));
        const double better = (probes.objectives[i] - at(0.5)) / spread;
        // What kde.hpp promises, and the constant above, which has 8 digits.
        const double error =
            kde_reference::documented_error(kSpace, h) + 1e-7 * weight * (1 + std::abs(better));
        ASSERT_NEAR(scores[i], log_p - weight * better, error);
      }
    }
  }
}

// Whatever the other density ranks by, the objective comes to that: detail as well.
TEST(QualityDensity, KeepsTheDetailOfKernels) {
  constexpr double kWeight = 0.5;
  const auto detailed = [] {
    return std::make_unique<KernelDensity>(
        KdeOptions{.space = kSpace, .bandwidth = Bandwidth::normalised(0.1), .detail = 0.2},
        std::make_unique<Reservoir>(
            ReservoirOptions{.feature_dim = 2, .capacity = 50'000, .seed = 1}));
  };
  std::mt19937_64 random(9);
  QualityDensity density({.weight = kWeight, .seed = 1}, detailed());
  const auto alone = detailed();
  const Rows rows = random_rows(random, 900);
  density.observe(rows.evaluated());
  alone->observe(rows.evaluated());
  const Values with = scores_of(density, rows), without = scores_of(*alone, rows);
  Values log_p(with.size());
  Workers workers(1);
  alone->log_density(rows.features, log_p, workers);
  double detail = 0;
  for (std::size_t i = 0; i < with.size(); ++i) {
    const double better = (rows.objectives[i] - density.centre()) / density.spread();
    ASSERT_NEAR(with[i], without[i] - kWeight * better, 1e-9);
    detail = std::max(detail, std::abs(without[i] - log_p[i]));
  }
  EXPECT_GT(detail, 0.01) << "there was none to be kept";
}

TEST(QualityDensity, OfEqualObjectivesIsTheOtherDensityToTheBit) {
  std::mt19937_64 random(2);
  auto density = quality(5.0);
  const auto alone = kernels();
  for (const double objective : {7.0, 7.0, 7.0}) {
    Rows rows = random_rows(random, 300);
    rows.objectives.assign(300, objective);
    density.observe(rows.evaluated());
    alone->observe(rows.evaluated());
    EXPECT_EQ(density.spread(), 0.0);
    EXPECT_EQ(scores_of(density, rows), scores_of(*alone, rows));
    // What nobody has objectives of, too.
    EXPECT_EQ(kde_reference::scores_of(density, rows.features),
              kde_reference::scores_of(*alone, rows.features));
  }
}

TEST(QualityDensity, DoesNotDependOnTheUnitOfTheObjective) {
  const auto scores_in = [](double factor, double shift) {
    std::mt19937_64 random(3);
    auto density = quality(2.0);
    Values all;
    for (int batch = 0; batch < 6; ++batch) {
      Rows rows = random_rows(random, 400);
      for (double& objective : rows.objectives) objective = objective * factor + shift;
      if (batch > 0) {
        const Values scores = scores_of(density, rows);
        all.insert(all.end(), scores.begin(), scores.end());
      }
      density.observe(rows.evaluated());
    }
    return all;
  };
  const Values expected = scores_in(1, 0);
  EXPECT_EQ(scores_in(0x1p40, 0), expected);  // which rounds nothing
  EXPECT_EQ(scores_in(0x1p-90, 0), expected);
  for (const int power : {-140, -9, -3, 1, 6, 100, 149}) {
    SCOPED_TRACE(power);
    expect_near(scores_in(std::pow(10.0, power), 0), expected, 1e-12);
  }
  expect_near(scores_in(1, 100), expected, 1e-11);
  expect_near(scores_in(-1e-3, 1e3) /* the other way round */, scores_in(-1, 0), 1e-7);
}

TEST(QualityDensity, DoesNotRankByTheUnitOfAFeature) {
  const auto scores_in = [](double unit) {
    std::mt19937_64 random(4);
    QualityDensity density({.weight = 2.0, .seed = 1},
                           kernels(50'000, {{0, -10 * unit}, {1, 10 * unit}}));
    const auto rows = [&] {
      Rows made = random_rows(random, 500);
      for (Index i = 0; i < 500; ++i) made.features(i, 1) *= unit;
      return made;
    };
    density.observe(rows().evaluated());
    Values scores = scores_of(density, rows());
    for (double& score : scores) score += std::log(unit);  // p is a density per unit
    return scores;
  };
  expect_near(scores_in(1024), scores_in(1), 1e-9);
  expect_near(scores_in(0.001), scores_in(1), 2e-4);  // single precision in direct sums
}

// The scale is that of what is usual.
TEST(QualityDensity, IsNotDazzledByAFewFailures) {
  std::mt19937_64 random(5);
  auto density = quality(1.0);
  Rows rows = random_rows(random, 900);
  density.observe(rows.evaluated());
  const double before = density.spread();
  Rows failed = random_rows(random, 90);
  failed.objectives.assign(90, -1e9);
  density.observe(failed.evaluated());
  EXPECT_GT(density.spread(), 0.8 * before);
  EXPECT_LT(density.spread(), 1.3 * before);
}

TEST(QualityDensity, SeesRareRewardsThatQuartilesDoNot) {
  std::mt19937_64 random(6);
  auto density = quality(1.0);
  Rows rows = random_rows(random, 500);
  rows.objectives.assign(500, 0.0);
  for (std::size_t i = 0; i < 5; ++i) rows.objectives[100 * i] = 2.0;
  density.observe(rows.evaluated());
  EXPECT_EQ(density.centre(), 0.0);
  EXPECT_NEAR(density.spread(), 2.0 * std::sqrt(0.01 * 0.99), 1e-14);
}

TEST(QualityDensity, HoldsAnyObjective) {
  constexpr double kMost = std::numeric_limits<double>::max();
  std::mt19937_64 random(7);
  for (const Values& extremes : {Values{kMost, -kMost, 0.0}, Values{kMost, kMost, -kMost},
                                 Values{5e-324, 0.0, -5e-324}, Values{1e150, 1e150, 1.0}}) {
    auto density = quality(1.0);
    Rows rows = random_rows(random, 300);
    for (std::size_t i = 0; i < 300; ++i) rows.objectives[i] = extremes[i % 3];
    density.observe(rows.evaluated());
    const Values scores = scores_of(density, rows);
    EXPECT_TRUE(std::ranges::all_of(scores, [](double score) { return std::isfinite(score); }));
    // The same features, a better objective: never ranked later.
    rows.objectives.assign(300, extremes[0]);
    const Values best = scores_of(density, rows);
    for (std::size_t i = 0; i < 300; ++i) EXPECT_LE(best[i], scores[i]);
  }
}

TEST(QualityDensity, KnowsThingsOnlyOnceItHasSeenSome) {
  auto density = quality(1.0);
  EXPECT_FALSE(density.informed());
  std::mt19937_64 random(8);
  const Rows rows = random_rows(random, 10);
  EXPECT_EQ(scores_of(density, rows), Values(10, 0.0));
  density.observe(rows.evaluated());
  EXPECT_TRUE(density.informed());
  EXPECT_EQ(density.sample_count(), 10);
  EXPECT_EQ(density.samples().rows(), 10);
}

TEST(QualityDensity, ThreadsDoNotChangeABit) {
  std::mt19937_64 random(9);
  auto one = quality(1.0), three = quality(1.0);
  Workers team(3);
  for (int batch = 0; batch < 5; ++batch) {
    const Rows rows = random_rows(random, 500);
    if (batch > 0) {
      EXPECT_EQ(scores_of(one, rows), scores_of(three, rows, 3));
    }
    one.observe(rows.evaluated());
    three.observe(rows.evaluated(), team);
  }
}

TEST(QualityDensity, GoesOnToTheSameBitsAfterALoad) {
  std::mt19937_64 random(10);
  auto density = quality(1.0);
  for (int batch = 0; batch < 9; ++batch) density.observe(random_rows(random, 540).evaluated());
  StateWriter out;
  density.save(out);
  auto loaded = quality(1.0);
  loaded.observe(random_rows(random, 77).evaluated());  // to be forgotten
  StateReader in(out.bytes());
  loaded.load(in);
  EXPECT_TRUE(in.at_end());
  EXPECT_EQ(loaded.centre(), density.centre());
  EXPECT_EQ(loaded.spread(), density.spread());
  for (int batch = 0; batch < 5; ++batch) {
    const Rows rows = random_rows(random, 540);
    EXPECT_EQ(scores_of(loaded, rows), scores_of(density, rows));
    density.observe(rows.evaluated());
    loaded.observe(rows.evaluated());
  }
  StateWriter again, other;
  density.save(again);
  loaded.save(other);
  EXPECT_EQ(again.bytes(), other.bytes());

  StateReader half(std::span(out.bytes()).first(out.bytes().size() - 9));
  EXPECT_THROW(loaded.load(half), Error);
}

TEST(QualityDensity, LoadedBeforeItHadSeenAnythingKnowsNothing) {
  StateWriter out;
  quality(1.0).save(out);
  std::mt19937_64 random(11);
  auto loaded = quality(1.0);
  loaded.observe(random_rows(random, 50).evaluated());
  StateReader in(out.bytes());
  loaded.load(in);
  EXPECT_FALSE(loaded.informed());
  EXPECT_EQ(loaded.spread(), 0.0);
}

TEST(QualityDensity, RefusesWeightsThatWeighNothing) {
  for (const double weight :
       {-0.1, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    try {
      quality(weight);
      FAIL() << weight;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::parameter);
      EXPECT_THAT(error.what(), HasSubstr("weight of the objective"));
      EXPECT_THAT(error.what(), HasSubstr("at least 0"));
    }
  }
}

}  // namespace
}  // namespace rarefy
