// CMA-MAE's thresholds against the rule as it is written, and what the theory says of them.
#include "rarefy/density/annealed_thresholds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "rarefy/core/error.hpp"
#include "rarefy/tessellations/grid.hpp"

namespace rarefy {
namespace {

using Values = std::vector<double>;

std::shared_ptr<const Tessellation> unit_cells(Index cells) {
  return std::make_shared<Grid>(FeatureSpace{{0}, {static_cast<double>(cells)}},
                                std::vector<Index>{cells});
}

struct Rows {
  Values features;  // one a row; the cell is its whole part
  Values objectives;

  [[nodiscard]] BatchView view() const {
    return {features.data(), static_cast<Index>(features.size()), 1};
  }
  [[nodiscard]] std::size_t cell(std::size_t row) const {
    return static_cast<std::size_t>(features[row]);
  }
};

Values scores_of(AnnealedThresholds& density, const Rows& rows) {
  Workers workers(1);
  Values scores(rows.features.size());
  density.score({rows.view(), rows.objectives}, scores, workers);
  return scores;
}

Rows random_rows(std::mt19937_64& random, std::size_t count, Index cells, double spread = 1.0) {
  std::uniform_real_distribution<double> where(0, static_cast<double>(cells));
  std::normal_distribution<double> normal(0, spread);
  Rows rows;
  for (std::size_t i = 0; i < count; ++i) {
    rows.features.push_back(where(random));
    rows.objectives.push_back(normal(random));
  }
  return rows;
}

// t' = (1 - alpha)^k t + (1 - (1 - alpha)^k) f, from lists of what was accepted.
class NaiveThresholds {
 public:
  NaiveThresholds(double rate, double minimum, Index cells)
      : thresholds(static_cast<std::size_t>(cells), minimum), rate_(rate) {}

  void observe(const Rows& rows) {
    std::map<std::size_t, Values> accepted;
    for (std::size_t i = 0; i < rows.features.size(); ++i) {
      if (rows.objectives[i] > thresholds[rows.cell(i)]) {
        accepted[rows.cell(i)].push_back(rows.objectives[i]);
      }
    }
    for (const auto& [cell, objectives] : accepted) {
      const auto count = static_cast<double>(objectives.size());
      const double mean = std::accumulate(objectives.begin(), objectives.end(), 0.0) / count;
      const double keep = std::pow(1.0 - rate_, count);
      thresholds[cell] = keep * thresholds[cell] + (1.0 - keep) * mean;
    }
  }

  Values thresholds;

 private:
  double rate_;
};

TEST(AnnealedThresholds, FollowTheBatchRule) {
  std::mt19937_64 random(1);
  for (const double rate : {0.0, 0.001, 0.01, 0.3, 0.9, 1.0}) {
    for (const double minimum : {-4.0, 0.0, 1.0}) {
      SCOPED_TRACE(std::to_string(rate) + " from " + std::to_string(minimum));
      AnnealedThresholds density({.learning_rate = rate, .minimum = minimum}, unit_cells(9));
      NaiveThresholds expected(rate, minimum, 9);
      for (int batch = 0; batch < 60; ++batch) {
        const Rows rows = random_rows(random, 1 + static_cast<std::size_t>(batch), 9);
        const Values scores = scores_of(density, rows);
        for (std::size_t i = 0; i < scores.size(); ++i) {
          // Thresholds are known to a few roundings of numbers of size 5.
          ASSERT_NEAR(scores[i], expected.thresholds[rows.cell(i)] - rows.objectives[i], 1e-13);
        }
        density.observe({rows.view(), rows.objectives});
        expected.observe(rows);
        for (std::size_t cell = 0; cell < 9; ++cell) {
          ASSERT_NEAR(density.thresholds()[cell], expected.thresholds[cell], 1e-13);
        }
      }
    }
  }
}

// Figures printed by pyribs 0.8.3 (GridArchive, learning_rate 0.1, threshold_min -2).
TEST(AnnealedThresholds, AgreeWithFiguresFromElsewhere) {
  AnnealedThresholds density({.learning_rate = 0.1, .minimum = -2}, unit_cells(4));
  struct Step {
    Rows rows;
    Values values;  // objective - threshold before the batch
    Values thresholds;
  };
  const std::vector<Step> steps = {
      {{{0.5, 0.6, 1.5, 0.7, 3.5, 1.2}, {1, -3, 4, 2.5, -2, 0.25}},
       {3, -1, 6, 4.5, 0, 2.25},
       {-1.2875, -1.21625, -2, -2}},
      {{{0.5, 0.6, 1.5, 0.7, 3.5, 1.2}, {0.5, -1.9, 4, -1.5, -1, -1.25}},
       {1.7875, -0.6125, 5.21625, -0.2125, 1, -0.03375},
       {-1.10875, -0.694625, -2, -1.9}},
      {{{2.5, 2.6, 2.7, 0.1, 1.1}, {7, 7, -2.5, -1, 9}},
       {9, 9, -0.5, 0.10875, 9.694625},
       {-1.097875, 0.2748375, -0.29, -1.9}},
  };
  for (const auto& [rows, values, thresholds] : steps) {
    const Values scores = scores_of(density, rows);
    for (std::size_t i = 0; i < scores.size(); ++i) EXPECT_NEAR(scores[i], -values[i], 1e-14);
    density.observe({rows.view(), rows.objectives});
    for (std::size_t c = 0; c < 4; ++c) EXPECT_NEAR(density.thresholds()[c], thresholds[c], 1e-14);
  }
}

// One at a time: t' = (1 - alpha) t + alpha f where f > t. Several equal objectives in one batch
// are as good as one after the other.
TEST(AnnealedThresholds, TheBatchRuleIsTheRuleForOneWhereItCanBe) {
  std::mt19937_64 random(2);
  for (const double rate : {0.0, 0.01, 0.5, 1.0}) {
    AnnealedThresholds density({.learning_rate = rate, .minimum = -1}, unit_cells(1));
    double threshold = -1;
    for (int i = 0; i < 500; ++i) {
      const Rows row = random_rows(random, 1, 1);
      const double f = row.objectives[0];
      if (f > threshold) threshold = (1 - rate) * threshold + rate * f;
      density.observe({row.view(), row.objectives});
      ASSERT_NEAR(density.thresholds()[0], threshold, 1e-14);
    }
    for (const std::size_t count : {1, 2, 7, 36}) {
      AnnealedThresholds at_once({.learning_rate = rate}, unit_cells(1));
      AnnealedThresholds one_by_one({.learning_rate = rate}, unit_cells(1));
      const Rows all = {Values(count, 0.5), Values(count, 2.0)};
      const Rows single = {{0.5}, {2.0}};
      at_once.observe({all.view(), all.objectives});
      for (std::size_t i = 0; i < count; ++i)
        one_by_one.observe({single.view(), single.objectives});
      EXPECT_NEAR(at_once.thresholds()[0], one_by_one.thresholds()[0], 1e-14) << count;
    }
  }
}

// A candidate exactly at the threshold is not accepted, and so neither counted nor averaged.
TEST(AnnealedThresholds, AreMovedByThoseAboveThemAlone) {
  AnnealedThresholds density({.learning_rate = 0.25, .minimum = 1}, unit_cells(2));
  const Rows rows = {{0.5, 0.5, 0.5, 1.5}, {1.0, 5.0, -3.0, 1.0}};
  density.observe({rows.view(), rows.objectives});
  EXPECT_EQ(density.thresholds()[0], 2.0);
  EXPECT_EQ(density.thresholds()[1], 1.0);
}

// However many there are: sums of a third and the like are not exact.
TEST(AnnealedThresholds, TheMeanOfEqualObjectivesIsTheObjective) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  for (std::size_t count = 1; count <= 60; ++count) {
    AnnealedThresholds density({.learning_rate = 1, .minimum = -100}, unit_cells(1));
    const double objective = normal(random);
    const Rows rows = {Values(count, 0.5), Values(count, objective)};
    density.observe({rows.view(), rows.objectives});
    ASSERT_EQ(density.thresholds()[0], objective) << count;
  }
}

// alpha = 0: whatever was seen, candidates are ranked by objective alone.
TEST(AnnealedThresholds, OfRateZeroRankAsTheObjectiveDoesForEver) {
  std::mt19937_64 random(3);
  AnnealedThresholds density({.learning_rate = 0, .minimum = 0}, unit_cells(5));
  for (int batch = 0; batch < 300; ++batch) {
    const Rows rows = random_rows(random, 20, 5);
    const Values scores = scores_of(density, rows);
    for (std::size_t i = 0; i < scores.size(); ++i) ASSERT_EQ(scores[i], -rows.objectives[i]);
    density.observe({rows.view(), rows.objectives});
  }
  for (const double threshold : density.thresholds()) EXPECT_EQ(threshold, 0.0);
}

// alpha = 1 and no two rows of a batch in one cell: a threshold is the objective that was
// accepted last, which is the best there was, to the last bit; scores are improvements.
TEST(AnnealedThresholds, OfRateOneAreTheBestOfEachCell) {
  std::mt19937_64 random(4);
  constexpr double kMinimum = -1e10;  // so far away that rounding would show
  AnnealedThresholds density({.learning_rate = 1, .minimum = kMinimum}, unit_cells(12));
  Values best(12, kMinimum), last(12, kMinimum);
  for (int batch = 0; batch < 400; ++batch) {
    Rows rows = random_rows(random, 12, 1);
    for (std::size_t i = 0; i < 12; ++i) rows.features[i] += static_cast<double>(i);
    std::shuffle(rows.features.begin(), rows.features.end(), random);
    rows.features.resize(7);
    rows.objectives.resize(7);
    const Values scores = scores_of(density, rows);
    for (std::size_t i = 0; i < 7; ++i) {
      ASSERT_EQ(scores[i], best[rows.cell(i)] - rows.objectives[i]);
    }
    density.observe({rows.view(), rows.objectives});
    for (std::size_t i = 0; i < 7; ++i) {
      const std::size_t cell = rows.cell(i);
      if (rows.objectives[i] > last[cell]) last[cell] = rows.objectives[i];
      best[cell] = std::max(best[cell], rows.objectives[i]);
    }
    for (std::size_t cell = 0; cell < 12; ++cell) {
      ASSERT_EQ(density.thresholds()[cell], best[cell]);
      ASSERT_EQ(density.thresholds()[cell], last[cell]);
    }
  }
  EXPECT_GT(*std::min_element(best.begin(), best.end()), kMinimum);
}

// To the last bit, also where objectives differ in their last bits only, or by all magnitudes.
TEST(AnnealedThresholds, NeverFallAndNeverExceedTheBestOfTheirCell) {
  constexpr double kMost = std::numeric_limits<double>::max();
  std::mt19937_64 random(5);
  std::uniform_int_distribution<int> steps(-3, 3), kind(0, 3);
  std::uniform_real_distribution<double> power(-320, 308);
  for (const double rate : {0.0, 1e-18, 0.01, 0.1, 1.0 / 3, 0.999, 1.0}) {
    for (const double minimum : {0.0, -1.0, 0.1, -1e300, 1e-320}) {
      AnnealedThresholds density({.learning_rate = rate, .minimum = minimum}, unit_cells(3));
      Values best(3, -std::numeric_limits<double>::infinity());
      for (int batch = 0; batch < 200; ++batch) {
        Rows rows = random_rows(random, 25, 3);
        for (std::size_t i = 0; i < 25; ++i) {
          double& objective = rows.objectives[i];
          const double threshold = density.thresholds()[rows.cell(i)];
          switch (kind(random)) {
            case 0:  // a few units in the last place around the threshold
              objective = threshold;
              for (int s = steps(random); s != 0; s += s > 0 ? -1 : 1) {
                objective = std::nextafter(objective, s > 0 ? kMost : -kMost);
              }
              break;
            case 1: objective = (steps(random) < 0 ? -1 : 1) * std::pow(10.0, power(random)); break;
            case 2: objective = 0.1; break;
            default: break;
          }
        }
        const Values before(density.thresholds().begin(), density.thresholds().end());
        const Values scores = scores_of(density, rows);
        for (std::size_t i = 0; i < 25; ++i) {
          ASSERT_TRUE(std::isfinite(scores[i]));
          const bool accepted = rows.objectives[i] > before[rows.cell(i)];
          ASSERT_EQ(scores[i] < density.accepts_below(), accepted);
          if (accepted) best[rows.cell(i)] = std::max(best[rows.cell(i)], rows.objectives[i]);
        }
        density.observe({rows.view(), rows.objectives});
        for (std::size_t cell = 0; cell < 3; ++cell) {
          ASSERT_GE(density.thresholds()[cell], before[cell]);
          ASSERT_LE(density.thresholds()[cell], std::max(minimum, best[cell]));
        }
      }
    }
  }
}

TEST(AnnealedThresholds, KnowSomethingFromTheStartAndScoringChangesNothing) {
  AnnealedThresholds density({.learning_rate = 0.1, .minimum = 2}, unit_cells(4));
  EXPECT_TRUE(density.informed());
  EXPECT_EQ(density.feature_dim(), 1);
  const Rows rows = {{0.5, 1.5}, {5, 1}}, others = {{0.5, 3.5, 2.5}, {1, 2, 3}};
  EXPECT_EQ(scores_of(density, rows), (Values{-3, 1}));
  EXPECT_EQ(scores_of(density, others), (Values{1, 0, -1}));
  EXPECT_EQ(scores_of(density, rows), (Values{-3, 1}));
  EXPECT_EQ(Values(density.thresholds().begin(), density.thresholds().end()), Values(4, 2.0));
  // Another batch was scored in between: the one that is observed counts.
  density.observe({others.view(), others.objectives});
  EXPECT_EQ(density.thresholds()[0], 2);
  EXPECT_NEAR(density.thresholds()[2], 2.1, 1e-15);
}

TEST(AnnealedThresholds, RefuseParametersThatCannotBe) {
  const auto refused = [](double rate, double minimum) {
    try {
      const AnnealedThresholds density({.learning_rate = rate, .minimum = minimum}, unit_cells(2));
    } catch (const Error& error) {
      return error.kind() == ErrorKind::parameter;
    }
    return false;
  };
  EXPECT_TRUE(refused(-0.01, 0));
  EXPECT_TRUE(refused(1.01, 0));
  EXPECT_TRUE(refused(NAN, 0));
  EXPECT_TRUE(refused(0.5, NAN));
  EXPECT_TRUE(refused(0.5, -INFINITY));
  EXPECT_TRUE(refused(1, -INFINITY));
  EXPECT_FALSE(refused(0, -1e300));
  EXPECT_FALSE(refused(1, 0));
}

TEST(AnnealedThresholds, GoOnFromASavedStateAndRefuseACorruptOne) {
  std::mt19937_64 random(6);
  const AnnealedThresholdsOptions options = {.learning_rate = 0.2, .minimum = -1};
  AnnealedThresholds original(options, unit_cells(6)), copy(options, unit_cells(6));
  for (int batch = 0; batch < 20; ++batch) {
    const Rows rows = random_rows(random, 10, 6);
    original.observe({rows.view(), rows.objectives});
  }
  StateWriter out;
  original.save(out);
  StateReader in(out.bytes());
  copy.load(in);
  EXPECT_TRUE(in.at_end());
  EXPECT_TRUE(std::ranges::equal(original.thresholds(), copy.thresholds()));

  const auto refused = [&](const StateWriter& state, std::size_t length) {
    AnnealedThresholds other(options, unit_cells(6));
    StateReader reader(std::span(state.bytes()).first(length));
    try {
      other.load(reader);
    } catch (const Error& error) {
      return error.kind() == ErrorKind::corrupt;
    }
    return false;
  };
  for (std::size_t length = 0; length < out.bytes().size(); ++length) {
    EXPECT_TRUE(refused(out, length)) << length;
  }
  for (const Values& thresholds : {Values(5, 0.0), Values(7, 0.0), Values{0, 0, NAN, 0, 0, 0},
                                   Values{0, 0, 0, 0, 0, INFINITY}, Values{0, 0, 0, 0, 0, -1.5}}) {
    StateWriter forged;
    forged.reals("annealed.thresholds", thresholds);
    EXPECT_TRUE(refused(forged, forged.bytes().size()));
  }
}

}  // namespace
}  // namespace rarefy
