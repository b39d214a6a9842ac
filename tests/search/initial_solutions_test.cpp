// Solutions that are evaluated before any of the emitters' own.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "rarefy/core/error.hpp"
#include "support/every_algorithm.hpp"
#include "support/random_batches.hpp"
#include "support/recorded_search.hpp"

namespace rarefy {
namespace {

using recorded::Recorded;

// Row i is (100, 100, i).
Batch marked(Index rows) {
  Batch solutions(rows, 3);
  for (Index i = 0; i < rows; ++i) {
    solutions(i, 0) = solutions(i, 1) = 100;
    solutions(i, 2) = static_cast<double>(i);
  }
  return solutions;
}

// Which row of marked() each candidate is; -1 for those of the emitters.
std::vector<int> given(BatchView candidates) {
  std::vector<int> rows;
  for (Index i = 0; i < candidates.rows(); ++i) {
    rows.push_back(candidates(i, 0) == 100 ? static_cast<int>(candidates(i, 2)) : -1);
  }
  return rows;
}

std::vector<int> from(int first, int count, int batch) {
  std::vector<int> rows(static_cast<std::size_t>(batch), -1);
  for (int i = 0; i < count; ++i) rows[static_cast<std::size_t>(i)] = first + i;
  return rows;
}

const std::vector<double> kFeatures = {9, 1, 3, 2, 8, 4, 6, 7, 5, 0, 2.2, 1.2};

TEST(InitialSolutions, ComeFirstBatchByBatch) {
  Recorded recorded({.threads = 1, .initial_solutions = marked(29)}, true);
  for (const auto& expected :
       {from(0, 12, 12), from(12, 12, 12), from(24, 5, 12), from(0, 0, 12)}) {
    EXPECT_EQ(given(recorded.search->ask()), expected);
    EXPECT_EQ(given(recorded.search->ask()), expected) << "asked again";
    recorded.search->tell(BatchView(kFeatures.data(), 12, 1));
  }
}

TEST(InitialSolutions, AreScoredObservedAndRecordedAsAnyOther) {
  Recorded recorded({.threads = 1, .initial_solutions = marked(5)}, true);
  recorded.tell(kFeatures);
  EXPECT_EQ(recorded.log.scored[0], kFeatures);
  EXPECT_EQ(recorded.log.observed[0], kFeatures);
  const auto& archive = recorded.search->archive();
  EXPECT_EQ(archive.total_visits(), 12);
  EXPECT_TRUE(std::ranges::equal(archive.solutions().row(4), std::vector<double>{100, 100, 4}));
  EXPECT_EQ(recorded.search->evaluations(), 12);
}

// Emitters have 4, 3 and 5 rows: five given ones are all of the first's, and one of the second's.
TEST(InitialSolutions, AreNotLearnedFrom) {
  Recorded recorded({.threads = 1, .initial_solutions = marked(5)}, true);
  recorded.triggers[0]->restart_next = true;
  recorded.tell(kFeatures);
  EXPECT_TRUE(recorded.told[0].empty()) << "it has proposed nothing";
  EXPECT_TRUE(recorded.triggers[0]->stops.empty());
  EXPECT_EQ(recorded.search->restarts(), 0);
  const auto& second = recorded.told[1][0];  // 8, 4 and 6
  EXPECT_EQ(second.order, (std::vector<Index>{1, 2, 0}));
  EXPECT_EQ(second.ranked, 2);
  EXPECT_EQ(second.accepted, 1);
  EXPECT_EQ(recorded.told[2][0].ranked, 5);
  ASSERT_EQ(recorded.point->observed.size(), 2U);
  EXPECT_EQ(recorded.point->observed[0].first, 1);
  EXPECT_EQ(recorded.point->observed[0].second, (std::vector<double>{4, 6}));
  recorded.tell(kFeatures);
  EXPECT_EQ(recorded.told[0].size(), 1U);
  EXPECT_EQ(recorded.told[1][1].ranked, 3);
}

TEST(InitialSolutions, MayFail) {
  Recorded recorded({.threads = 1, .initial_solutions = marked(5)}, true);
  recorded.tell(kFeatures, {}, {1, 0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1});
  EXPECT_EQ(recorded.told[1][0].order[0], 1);
  EXPECT_EQ(recorded.told[1][0].ranked, 1);
  EXPECT_EQ(recorded.point->observed[0].second, (std::vector<double>{4}));
  EXPECT_EQ(recorded.search->failed(), 3);
  EXPECT_EQ(recorded.search->archive().total_visits(), 9);
}

void expect_refused(Batch solutions, const std::vector<std::string>& words) {
  try {
    const Recorded recorded({.threads = 1, .initial_solutions = std::move(solutions)});
    ADD_FAILURE() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::parameter);
    for (const auto& word : words) {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
  }
}

TEST(InitialSolutions, MustFit) {
  expect_refused(Batch(3, 2), {"initial solutions", "2", "3"});
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    auto solutions = marked(20);
    solutions(17, 1) = bad;
    expect_refused(std::move(solutions), {"initial solutions", "row 17", "finite"});
  }
  EXPECT_NO_THROW(Recorded({.threads = 1, .initial_solutions = Batch(0, 0)}));
}

// 50 are two batches of 24 and two rows.
SearchOptions with_solutions(Index threads = 1) {
  return {.seed = 1,
          .threads = threads,
          .initial_solutions = uniform_batch(50, every::kDimension, -1, 1, 7)};
}

TEST(InitialSolutions, TheSameBitsWithAnyThreadsAndFromAnySavedState) {
  for (const auto& name : every::algorithms()) {
    SCOPED_TRACE(name);
    every::Loop one(name, with_solutions()), three(name, with_solutions(3));
    std::vector<std::vector<std::byte>> states;
    for (int i = 0; i < 20; ++i) {
      states.push_back(one.state());
      one.step();
    }
    three.steps(20);
    EXPECT_TRUE(one.state() == three.state());
    for (const int from : {0, 1, 2, 3, 10}) {
      every::Loop other(name, with_solutions());
      other.steps(4);
      other.load(states[static_cast<std::size_t>(from)]);
      other.steps(20 - from);
      EXPECT_TRUE(one.state() == other.state()) << from;
    }
  }
}

// Emitters that were not told are where they were: those of a search that begins in iteration 2.
TEST(InitialSolutions, LeaveEmittersWhereTheyWere) {
  every::Loop loop("cma-mae", with_solutions());
  loop.steps(2);
  for (Index e = 0; e < every::kEmitters; ++e) {
    const auto& emitter = dynamic_cast<const EvolutionStrategyEmitter&>(loop.search.emitter(e));
    EXPECT_EQ(emitter.optimizer().generation(), 0);
    EXPECT_EQ(emitter.optimizer().sigma(), 0.3);
  }
  EXPECT_GT(loop.search.archive().size(), 20);
  loop.step();
  const auto& first = dynamic_cast<const EvolutionStrategyEmitter&>(loop.search.emitter(0));
  EXPECT_EQ(first.optimizer().generation(), 1);
}

TEST(InitialSolutions, OthersThanThoseOfAStateAreRefused) {
  every::Loop original("dds-kde", with_solutions());
  original.steps(5);
  auto others = with_solutions();
  others.initial_solutions(49, 3) += 1e-9;
  auto fewer = with_solutions();
  fewer.initial_solutions.resize(49, every::kDimension);
  for (const auto& options : {others, fewer, SearchOptions{.seed = 1, .threads = 1}}) {
    every::Loop other("dds-kde", options);
    try {
      other.load(original.state());
      ADD_FAILURE() << "nothing was refused";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::data);
      EXPECT_NE(std::string(error.what()).find("initial_solutions"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace rarefy
