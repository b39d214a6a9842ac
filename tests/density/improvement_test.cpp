// CMA-ME's ranking against a sort of stages and values.
#include "rarefy/density/improvement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "rarefy/core/error.hpp"
#include "rarefy/emitters/cma_es.hpp"
#include "rarefy/tessellations/grid.hpp"

namespace rarefy {
namespace {

using Values = std::vector<double>;

std::shared_ptr<const Tessellation> unit_cells(Index cells) {
  return std::make_shared<Grid>(FeatureSpace{{0}, {static_cast<double>(cells)}},
                                std::vector<Index>{cells});
}

BatchView column(const Values& features) {
  return {features.data(), static_cast<Index>(features.size()), 1};
}

Values scores_of(Improvement& density, const Values& features, const Values& objectives) {
  Workers workers(1);
  Values scores(features.size());
  density.score({column(features), objectives}, scores, workers);
  return scores;
}

// (stage, -value) of every row, the best the least: stage 0 new, 1 improves, 2 neither.
std::vector<std::pair<int, double>> naive_keys(const std::map<int, double>& best,
                                               const Values& features, const Values& objectives) {
  std::vector<std::pair<int, double>> keys;
  for (std::size_t i = 0; i < features.size(); ++i) {
    const auto known = best.find(static_cast<int>(features[i]));
    if (known == best.end()) {
      keys.emplace_back(0, -objectives[i]);
    } else {
      const double gain = objectives[i] - known->second;
      keys.emplace_back(gain > 0 ? 1 : 2, -gain);
    }
  }
  return keys;
}

TEST(Improvement, RanksByStageAndThenByValue) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> where(0, 60);
  std::normal_distribution<double> normal;
  int seen[3] = {0, 0, 0};
  for (const double grain : {0.0, 0.25, 1.0}) {  // objectives in steps of this: many ties
    Improvement density(unit_cells(60));
    std::map<int, double> best;
    for (int batch = 0; batch < 60; ++batch) {
      const auto rows = static_cast<std::size_t>(1 + (7 * batch) % 40);
      Values features(rows), objectives(rows);
      for (std::size_t i = 0; i < rows; ++i) {
        features[i] = where(random);
        objectives[i] = grain > 0 ? grain * std::round(normal(random) / grain) : normal(random);
      }
      const auto keys = naive_keys(best, features, objectives);
      const std::set<std::pair<int, double>> places(keys.begin(), keys.end());
      const auto accepted = std::count_if(places.begin(), places.end(),
                                          [](const auto& place) { return place.first < 2; });
      const Values scores = scores_of(density, features, objectives);
      for (std::size_t i = 0; i < rows; ++i) {
        const auto place = std::distance(places.begin(), places.find(keys[i]));
        ASSERT_EQ(scores[i], static_cast<double>(place - accepted)) << "row " << i;
        ASSERT_EQ(scores[i] < density.accepts_below(), keys[i].first < 2);
        ++seen[keys[i].first];
      }
      density.observe({column(features), objectives});
      for (std::size_t i = 0; i < rows; ++i) {
        const int cell = static_cast<int>(features[i]);
        const auto known = best.find(cell);
        best[cell] = known == best.end() ? objectives[i] : std::max(known->second, objectives[i]);
      }
      for (int cell = 0; cell < 60; ++cell) {
        const auto known = best.find(cell);
        ASSERT_EQ(density.best()[static_cast<std::size_t>(cell)],
                  known == best.end() ? -std::numeric_limits<double>::infinity() : known->second);
      }
    }
  }
  for (const int count : seen) EXPECT_GT(count, 100) << "a stage was hardly met";
}

// Order and status printed by pyribs 0.8.3 (GridArchive with TwoStageImprovementRanker).
TEST(Improvement, AgreesWithARankingFromElsewhere) {
  Improvement density(unit_cells(4));
  struct Step {
    Values features, objectives;
    std::vector<std::size_t> order;  // without ties
    std::size_t accepted;
  };
  const std::vector<Step> steps = {
      {{0.5, 0.6, 1.5, 0.7, 3.5, 1.2}, {1, -3, 4, 2.5, -2, 0.25}, {2, 3, 0, 5, 4, 1}, 6},
      {{0.5, 0.6, 1.5, 0.7, 3.5, 1.2}, {0.5, -1.9, 4, -1.5, -1, -1.25}, {4, 2, 0, 3, 1, 5}, 1},
      {{2.5, 2.6, 2.7, 0.1, 1.1}, {7.5, 7, -2.5, -1, 9}, {0, 1, 2, 4, 3}, 4},
  };
  for (const auto& [features, objectives, order, accepted] : steps) {
    const Values scores = scores_of(density, features, objectives);
    for (std::size_t i = 0; i < order.size(); ++i) {
      EXPECT_EQ(scores[order[i]], static_cast<double>(i) - static_cast<double>(accepted));
    }
    density.observe({column(features), objectives});
  }
}

TEST(Improvement, ANewCellComesBeforeAnyImprovement) {
  Improvement density(unit_cells(4));
  density.observe({column({0.5, 1.5}), Values{10, 20}});
  const Values scores = scores_of(density, {0.5, 2.5, 1.5, 3.5, 0.5}, {1e6, -1e6, 20, -2e6, 9});
  EXPECT_EQ(scores, (Values{-1, -3, 0, -2, 1}));
}

// What was known before the batch counts: all who found a cell in it are new.
TEST(Improvement, RowsInTheSameNewCellAreAllNew) {
  Improvement density(unit_cells(4));
  const Values features = {2.1, 2.9, 2.5, 0.5}, objectives = {3, 5, 4, 1};
  EXPECT_EQ(scores_of(density, features, objectives), (Values{-2, -4, -3, -1}));
  density.observe({column(features), objectives});
  EXPECT_EQ(density.best()[2], 5);
  // Now the cell is known, and the best of the batch counts, not the first or the last.
  EXPECT_EQ(scores_of(density, features, objectives), (Values{2, 0, 1, 0}));
}

// With a constant objective nothing ever improves: candidates are new or they are not, and an
// emitter all of whose candidates are the same is told to stop.
TEST(Improvement, EqualCandidatesAreFlat) {
  Improvement density(unit_cells(6));
  const CmaEs optimizer({.dimension = 2, .batch = 4, .bounds = {}});
  const Values ones(4, 1.0);
  const Values fresh = scores_of(density, {0.5, 1.5, 1.6, 2.5}, ones);
  EXPECT_EQ(fresh, Values(4, -1.0));
  EXPECT_EQ(optimizer.stop(fresh), Stop::flat);
  density.observe({column({0.5, 1.5, 1.6, 2.5}), ones});
  const Values known = scores_of(density, {2.2, 1.5, 0.5, 0.5}, ones);
  EXPECT_EQ(known, Values(4, 0.0));
  EXPECT_EQ(optimizer.stop(known), Stop::flat);
  const Values both = scores_of(density, {2.2, 4.5, 0.5, 5.5}, ones);
  EXPECT_EQ(both, (Values{0, -1, 0, -1}));
  EXPECT_EQ(optimizer.stop(both), Stop::none);
}

TEST(Improvement, ScoringChangesNothing) {
  Improvement density(unit_cells(4));
  EXPECT_TRUE(density.informed());
  EXPECT_EQ(density.feature_dim(), 1);
  density.observe({column({0.5}), Values{1}});
  const Values features = {0.5, 1.5}, objectives = {3, 2};
  EXPECT_EQ(scores_of(density, features, objectives), (Values{-1, -2}));
  EXPECT_EQ(scores_of(density, {0.5, 0.6, 3.5}, {0, 1, 2}), (Values{1, 0, -1}));
  EXPECT_EQ(scores_of(density, features, objectives), (Values{-1, -2}));
  EXPECT_EQ(scores_of(density, {}, {}), Values());
  density.observe({column(features), objectives});
  EXPECT_EQ(density.best()[0], 3);
  EXPECT_EQ(density.best()[1], 2);
  EXPECT_TRUE(std::isinf(density.best()[3])) << "scored, but never observed";
}

TEST(Improvement, GoesOnFromASavedStateAndRefusesACorruptOne) {
  Improvement original(unit_cells(4)), copy(unit_cells(4));
  original.observe({column({0.5, 2.5}), Values{-7, 1e300}});
  StateWriter out;
  original.save(out);
  StateReader in(out.bytes());
  copy.load(in);
  EXPECT_TRUE(in.at_end());
  EXPECT_TRUE(std::ranges::equal(original.best(), copy.best()));

  const auto refused = [&](const StateWriter& state, std::size_t length) {
    Improvement other(unit_cells(4));
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
  for (const Values& best :
       {Values(3, 0.0), Values(5, 0.0), Values{0, NAN, 0, 0}, Values{0, 0, 0, INFINITY}}) {
    StateWriter forged;
    forged.reals("improvement.best", best);
    EXPECT_TRUE(refused(forged, forged.bytes().size()));
  }
}

}  // namespace
}  // namespace rarefy
