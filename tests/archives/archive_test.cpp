#include "rarefy/archives/archive.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "rarefy/core/error.hpp"
#include "rarefy/core/workers.hpp"
#include "rarefy/tessellations/grid.hpp"
#include "support/chi_square.hpp"
#include "support/random_batches.hpp"

namespace {

using rarefy::Archive;
using rarefy::Batch;
using rarefy::Error;
using rarefy::ErrorKind;
using rarefy::FeatureSpace;
using rarefy::Grid;
using rarefy::Index;
using rarefy::Outcome;

std::shared_ptr<const Grid> line(Index cells) {
  return std::make_shared<const Grid>(FeatureSpace{{0}, {static_cast<double>(cells)}},
                                      std::vector<Index>{cells});
}

/// Candidates given as (cell, objective); the solution is (its number, its objective).
struct Candidate {
  double cell;
  double objective;
};

std::vector<Outcome> record(Archive& archive, const std::vector<Candidate>& candidates,
                            double first_number = 0.0) {
  static rarefy::Workers alone(1);
  const auto count = static_cast<Index>(candidates.size());
  Batch solutions(count, 2), features(count, 1);
  std::vector<double> objectives;
  for (Index i = 0; i < count; ++i) {
    const auto& candidate = candidates[static_cast<std::size_t>(i)];
    solutions(i, 0) = first_number + static_cast<double>(i);
    solutions(i, 1) = candidate.objective;
    features(i, 0) = candidate.cell + 0.25;
    objectives.push_back(candidate.objective);
  }
  std::vector<Outcome> outcomes(candidates.size());
  archive.record(solutions, {features, objectives}, alone, outcomes);
  return outcomes;
}

std::vector<double> numbers_of(const Archive& archive) {
  std::vector<double> numbers;
  for (Index i = 0; i < archive.size(); ++i) numbers.push_back(archive.solutions()(i, 0));
  return numbers;
}

template <typename Values>
auto vector_of(const Values& values) {
  return std::vector(values.begin(), values.end());
}

constexpr auto kNew = Outcome::new_cell;
constexpr auto kImproved = Outcome::improved;
constexpr auto kRejected = Outcome::rejected;

TEST(Archive, StartsEmpty) {
  const Archive archive(line(5), 2);
  EXPECT_TRUE(archive.empty());
  EXPECT_EQ(archive.size(), 0);
  EXPECT_EQ(archive.total_visits(), 0);
  EXPECT_EQ(vector_of(archive.visits()), std::vector<std::int64_t>(5, 0));
  for (Index cell = 0; cell < 5; ++cell) EXPECT_EQ(archive.elite_of(cell), -1);
  EXPECT_EQ(archive.solution_dim(), 2);
  EXPECT_EQ(archive.feature_dim(), 1);
}

TEST(Archive, WhereEqualTheFirstToComeStays) {
  Archive archive(line(5), 2);
  EXPECT_EQ(record(archive, {{2, 1}, {2, 1}, {2, 1}}), (std::vector{kNew, kRejected, kRejected}));
  EXPECT_EQ(record(archive, {{2, 1}}, 10), (std::vector{kRejected}));
  EXPECT_EQ(numbers_of(archive), (std::vector<double>{0}));
}

TEST(Archive, OnlyAStrictlyBetterSolutionTakesTheCell) {
  Archive archive(line(5), 2);
  EXPECT_EQ(record(archive, {{1, 5}, {1, 4}, {1, 5}, {1, std::nextafter(5.0, 6.0)}, {1, -7}}),
            (std::vector{kNew, kRejected, kRejected, kImproved, kRejected}));
  ASSERT_EQ(archive.size(), 1);
  EXPECT_EQ(archive.solutions()(0, 0), 3);
  EXPECT_EQ(archive.solutions()(0, 1), std::nextafter(5.0, 6.0));
  EXPECT_EQ(archive.objectives()[0], std::nextafter(5.0, 6.0));
  EXPECT_EQ(archive.features()(0, 0), 1.25);
}

TEST(Archive, NegativeObjectivesAreObjectivesToo) {
  Archive archive(line(3), 2);
  EXPECT_EQ(record(archive, {{0, -10}, {0, -9}, {0, -11}, {1, -1e300}}),
            (std::vector{kNew, kImproved, kRejected, kNew}));
}

TEST(Archive, VisitsCountEveryCandidateKeptOrNot) {
  Archive archive(line(4), 2);
  record(archive, {{0, 1}, {0, 1}, {3, 1}, {0, 9}, {3, 0}});
  record(archive, {{2, 1}, {0, 0}, {-50, 1}, {50, 1}});  // outside counts for the nearest
  EXPECT_EQ(vector_of(archive.visits()), (std::vector<std::int64_t>{5, 0, 1, 3}));
  EXPECT_EQ(archive.total_visits(), 9);
}

TEST(Archive, ElitesKeepTheOrderInWhichTheirCellsWereFound) {
  Archive archive(line(6), 2);
  record(archive, {{4, 1}, {0, 1}, {4, 2}, {5, 1}});
  record(archive, {{0, 7}, {2, 1}}, 10);
  EXPECT_EQ(vector_of(archive.cells()), (std::vector<std::int64_t>{4, 0, 5, 2}));
  EXPECT_EQ(numbers_of(archive), (std::vector<double>{2, 10, 3, 11}));
  EXPECT_EQ(archive.elite_of(4), 0);
  EXPECT_EQ(archive.elite_of(0), 1);
  EXPECT_EQ(archive.elite_of(5), 2);
  EXPECT_EQ(archive.elite_of(2), 3);
  EXPECT_EQ(archive.elite_of(1), -1);
}

// Against a map from cells to candidates, with batches of all sizes and several threads.
TEST(Archive, KeepsWhatAMapWouldKeep) {
  const auto grid =
      std::make_shared<const Grid>(FeatureSpace{{0, 0}, {1, 1}}, std::vector<Index>{12, 9});
  Archive archive(grid, 3);
  rarefy::Workers workers(3);
  struct Elite {
    std::vector<double> solution, features;
    double objective;
  };
  std::map<Index, Elite> expected;
  std::map<Index, std::int64_t> visits;
  for (std::uint64_t step = 0; step < 60; ++step) {
    const auto rows = static_cast<Index>(1 + (step * 7) % 150);
    const Batch solutions = uniform_batch(rows, 3, -1, 1, 1000 + step);
    const Batch features = uniform_batch(rows, 2, -0.1, 1.1, 2000 + step);
    std::vector<double> objectives;
    for (Index i = 0; i < rows; ++i) {
      objectives.push_back(std::floor(8.0 * solutions(i, 0)));  // many ties
    }
    std::vector<Index> cells(objectives.size());
    grid->assign(features, cells);
    std::vector<Outcome> outcomes(objectives.size());
    archive.record(solutions, {features, objectives}, workers, outcomes);
    for (Index i = 0; i < rows; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const Elite candidate{vector_of(solutions.row(i)), vector_of(features.row(i)),
                            objectives[at]};
      ++visits[cells[at]];
      const auto found = expected.find(cells[at]);
      if (found == expected.end()) {
        expected.emplace(cells[at], candidate);
        ASSERT_EQ(outcomes[at], kNew);
      } else if (candidate.objective > found->second.objective) {
        found->second = candidate;
        ASSERT_EQ(outcomes[at], kImproved);
      } else {
        ASSERT_EQ(outcomes[at], kRejected);
      }
    }
  }
  ASSERT_EQ(archive.size(), static_cast<Index>(expected.size()));
  for (const auto& [cell, elite] : expected) {
    const Index number = archive.elite_of(cell);
    ASSERT_GE(number, 0);
    EXPECT_EQ(archive.cells()[static_cast<std::size_t>(number)], cell);
    EXPECT_EQ(vector_of(archive.solutions().row(number)), elite.solution);
    EXPECT_EQ(vector_of(archive.features().row(number)), elite.features);
    EXPECT_EQ(archive.objectives()[static_cast<std::size_t>(number)], elite.objective);
    EXPECT_EQ(archive.visits()[static_cast<std::size_t>(cell)], visits[cell]);
  }
}

// False alarms: 1e-6.
TEST(Archive, DrawsEveryEliteEquallyOften) {
  Archive archive(line(100), 2);
  for (int i = 0; i < 37; ++i) record(archive, {{static_cast<double>((i * 11) % 100), 1}});
  ASSERT_EQ(archive.size(), 37);
  record(archive, std::vector<Candidate>(500, {0, 1}));  // many visits must not matter
  rarefy::RandomStream random({.seed = 8, .purpose = rarefy::Purpose::restart});
  std::vector<double> drawn(37);
  for (int i = 0; i < 37'000; ++i) ++drawn[static_cast<std::size_t>(archive.draw(random))];
  EXPECT_LT(chi_square(drawn, 1000.0), chi_square_limit(36));
}

std::vector<std::byte> saved(const Archive& archive) {
  rarefy::StateWriter out;
  archive.save(out);
  return out.bytes();
}

TEST(Archive, ALoadedOneGoesOnLikeTheOneThatWasSaved) {
  Archive archive(line(30), 2);
  std::vector<Candidate> candidates, more;
  for (int i = 0; i < 50; ++i) {
    candidates.push_back({static_cast<double>((i * 13) % 23), std::sin(i)});
    more.push_back({static_cast<double>((i * 7) % 30), std::cos(i)});
  }
  record(archive, candidates);
  const auto bytes = saved(archive);
  Archive copy(line(30), 2);
  record(copy, more);  // must be forgotten
  rarefy::StateReader in(bytes);
  copy.load(in);
  EXPECT_TRUE(in.at_end());
  EXPECT_EQ(copy.total_visits(), 50);
  EXPECT_EQ(saved(copy), bytes);
  EXPECT_EQ(record(copy, more), record(archive, more));
  EXPECT_EQ(saved(copy), saved(archive));
  for (Index cell = 0; cell < 30; ++cell) EXPECT_EQ(copy.elite_of(cell), archive.elite_of(cell));
}

TEST(Archive, AnEmptyOneIsSavedAndLoadedToo) {
  const auto bytes = saved(Archive(line(3), 2));
  Archive copy(line(3), 2);
  record(copy, {{1, 1}});
  rarefy::StateReader in(bytes);
  copy.load(in);
  EXPECT_TRUE(copy.empty());
  EXPECT_EQ(copy.elite_of(1), -1);
  EXPECT_EQ(copy.total_visits(), 0);
}

struct Forged {
  std::vector<std::int64_t> visits = {3, 0, 1, 2};
  std::vector<std::int64_t> cells = {2, 0, 3};
  std::vector<double> objectives = {1, 2, 3};
  std::vector<double> features = {2.5, 0.5, 3.5};
  std::vector<double> solutions = {1, 2, 3, 4, 5, 6};

  [[nodiscard]] std::vector<std::byte> bytes() const {
    rarefy::StateWriter out;
    out.integers("archive.visits", visits);
    out.integers("archive.cells", cells);
    out.reals("archive.objectives", objectives);
    out.reals("archive.features", features);
    out.reals("archive.solutions", solutions);
    return out.bytes();
  }
};

bool refused(const Forged& state) {
  const auto bytes = state.bytes();
  Archive archive(line(4), 2);
  rarefy::StateReader in(bytes);
  try {
    archive.load(in);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::corrupt) << error.what();
    return true;
  }
  return false;
}

TEST(ArchiveState, AGoodOneIsTaken) { EXPECT_FALSE(refused({})); }

TEST(ArchiveState, ElitesThatCannotBeAreRefused) {
  EXPECT_TRUE(refused({.cells = {2, 0, 2}})) << "two elites in one cell";
  EXPECT_TRUE(refused({.cells = {2, 0, 4}})) << "a cell beyond the last";
  EXPECT_TRUE(refused({.cells = {2, -1, 3}})) << "a cell before the first";
  EXPECT_TRUE(refused({.cells = {2, 1, 3}})) << "a cell nobody visited";
  EXPECT_TRUE(refused({.cells = {2, 0, std::numeric_limits<std::int64_t>::max()}}));
  EXPECT_TRUE(refused({.cells = {2, 0, 3, 1, 1}})) << "more elites than cells";
}

// Whoever comes first to a cell becomes its elite, so there is no visited cell without one.
TEST(ArchiveState, AVisitedCellWithoutAnEliteIsRefused) {
  EXPECT_TRUE(refused(
      {.cells = {2, 0}, .objectives = {1, 2}, .features = {2.5, 0.5}, .solutions = {1, 2, 3, 4}}));
}

TEST(ArchiveState, VisitsThatCannotBeAreRefused) {
  EXPECT_TRUE(refused({.visits = {3, 0, 1, -2}}));
  EXPECT_TRUE(refused({.visits = {3, 0, 1}}));
  EXPECT_TRUE(refused({.visits = {3, 0, 1, 2, 0}}));
}

TEST(ArchiveState, MoreVisitsThanCanBeAddedUpAreRefused) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_TRUE(refused({.visits = {kMost, 0, 1, kMost}}));
}

TEST(ArchiveState, NumbersThatAreNoneAreRefused) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()}) {
    EXPECT_TRUE(refused({.objectives = {1, bad, 3}}));
    EXPECT_TRUE(refused({.features = {2.5, bad, 3.5}}));
    EXPECT_TRUE(refused({.solutions = {1, 2, 3, bad, 5, 6}}));
  }
}

TEST(ArchiveState, AnotherNumberOfValuesIsRefused) {
  EXPECT_TRUE(refused({.objectives = {1, 2}}));
  EXPECT_TRUE(refused({.features = {2.5, 0.5}}));
  EXPECT_TRUE(refused({.solutions = {1, 2, 3, 4, 5}}));
  EXPECT_TRUE(refused({.solutions = {1, 2, 3, 4, 5, 6, 7}}));
}

TEST(ArchiveState, ATruncatedOneIsRefusedWhereverItEnds) {
  const auto bytes = Forged{}.bytes();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    Archive archive(line(4), 2);
    rarefy::StateReader in(std::span<const std::byte>(bytes).first(length));
    EXPECT_THROW(archive.load(in), Error) << "cut after " << length << " bytes";
  }
}

TEST(Archive, SolutionsWithoutValuesAreRefused) {
  EXPECT_THROW(Archive(line(4), 0), Error);
  EXPECT_THROW(Archive(line(4), -1), Error);
}

}  // namespace
