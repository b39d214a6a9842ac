// Candidates that could not be evaluated: the search goes on as if they had not been there.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "rarefy/core/error.hpp"
#include "rarefy/core/random.hpp"
#include "support/every_algorithm.hpp"
#include "support/recorded_search.hpp"
#include "support/small_search.hpp"

namespace rarefy {
namespace {

using recorded::Recorded;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// Three emitters of 4, 3 and 5 rows; all of the second emitter's fail.
const std::vector<double> kFeatures = {3, kInf, 1, 4, kNan, 7, 8, 9, 6, 5, 2, kNan};
const std::vector<std::uint8_t> kValid = {1, 0, 1, 1, 0, 0, 0, 1, 1, 0, 1, 0};
const std::vector<double> kSeen = {3, 1, 4, 9, 6, 2};

TEST(FailedEvaluations, AreSeenByNeitherDensityNorArchive) {
  for (const bool before : {true, false}) {
    Recorded recorded({.threads = 1, .score_before_observing = before}, true);
    std::vector<double> objectives(12, kNan);
    for (std::size_t i = 0; i < 12; ++i) {
      if (kValid[i] != 0) objectives[i] = static_cast<double>(i);
    }
    recorded.tell(kFeatures, objectives, kValid);
    EXPECT_EQ(recorded.log.scored, (std::vector<std::vector<double>>{kSeen}));
    EXPECT_EQ(recorded.log.observed, (std::vector<std::vector<double>>{kSeen}));
    EXPECT_EQ(recorded.log.objectives[0], (std::vector<double>{0, 2, 3, 7, 8, 10}));
    const auto& archive = recorded.search->archive();
    EXPECT_EQ(archive.total_visits(), 6);
    ASSERT_EQ(archive.size(), 6);
    // Each with its own solution: emitter, iteration, row.
    EXPECT_TRUE(std::ranges::equal(archive.features().values(), kSeen));
    EXPECT_TRUE(std::ranges::equal(archive.solutions().row(2), std::vector<double>{0, 0, 3}));
    EXPECT_TRUE(std::ranges::equal(archive.solutions().row(5), std::vector<double>{2, 0, 3}));
    EXPECT_EQ(recorded.search->failed(), 6);
    EXPECT_EQ(recorded.search->evaluations(), 12);
  }
}

TEST(FailedEvaluations, RankLastAndAreNotToBeLearnedFrom) {
  Recorded recorded({.threads = 1}, true);
  recorded.tell(kFeatures, {}, kValid);
  const auto& first = recorded.told[0][0];
  EXPECT_EQ(first.order, (std::vector<Index>{2, 0, 3, 1}));
  EXPECT_EQ(first.ranked, 3);
  EXPECT_EQ(first.accepted, 3);
  EXPECT_EQ(first.outcomes, (std::vector<Outcome>{Outcome::new_cell, Outcome::failed,
                                                  Outcome::new_cell, Outcome::new_cell}));
  EXPECT_EQ(recorded.told[1][0].ranked, 0);
  EXPECT_EQ(recorded.told[1][0].accepted, 0);
  const auto& third = recorded.told[2][0];
  EXPECT_EQ(std::vector<Index>(third.order.begin(), third.order.begin() + 3),
            (std::vector<Index>{3, 1, 0}));
  EXPECT_EQ(third.ranked, 3);
  EXPECT_EQ(third.accepted, 1);  // of 2, 6 and 9, only 2 is below the line
  for (std::size_t i = 0; i < 12; ++i) {
    const double score = recorded.search->scores()[i];
    EXPECT_TRUE(kValid[i] != 0 ? score == kFeatures[i] : std::isnan(score)) << i;
  }
  // A restart point sees the candidates that were evaluated, of emitters that have any.
  ASSERT_EQ(recorded.point->observed.size(), 2U);
  EXPECT_EQ(recorded.point->observed[0].first, 0);
  EXPECT_EQ(recorded.point->observed[0].second, (std::vector<double>{3, 1, 4}));
  EXPECT_EQ(recorded.point->observed[1].first, 2);
  EXPECT_EQ(recorded.point->observed[1].second, (std::vector<double>{9, 6, 2}));
}

TEST(FailedEvaluations, WithoutScoresAllThatWereEvaluatedAreAccepted) {
  Recorded recorded({.threads = 1});
  recorded.tell(kFeatures, {}, kValid);
  EXPECT_FALSE(recorded.told[0][0].informed);
  EXPECT_EQ(recorded.told[0][0].accepted, 3);
  EXPECT_EQ(recorded.told[0][0].order.back(), 1);
}

// While nothing was found there is nowhere to start anew.
TEST(FailedEvaluations, NothingRestartsAsLongAsTheArchiveIsEmpty) {
  Recorded recorded({.threads = 1}, true);
  recorded.triggers[1]->restart_next = true;
  recorded.tell(kFeatures, {}, std::vector<std::uint8_t>(12, 0));
  EXPECT_EQ(recorded.search->restarts(), 0);
  EXPECT_TRUE(recorded.point->chosen_for.empty());
  EXPECT_TRUE(recorded.log.events.empty());
  EXPECT_EQ(recorded.search->failed(), 12);
  recorded.tell(kFeatures, {}, kValid);
  EXPECT_EQ(recorded.search->restarts(), 1);
  EXPECT_EQ(recorded.point->chosen_for, (std::vector<Index>{1}));
}

TEST(FailedEvaluations, MayBeSaidByNan) {
  auto features = kFeatures;
  for (std::size_t i = 0; i < features.size(); ++i) {
    if (kValid[i] == 0) features[i] = kNan;
  }
  std::vector<double> objectives(12, 1.0);
  objectives[3] = kNan;  // and by that of an objective
  auto valid = kValid;
  valid[3] = 0;
  Recorded by_flag({.threads = 1}, true);
  Recorded by_nan({.threads = 1, .nan_means_failed = true}, true);
  Recorded neither({.threads = 1}, true);
  for (int i = 0; i < 5; ++i) {
    by_flag.tell(features, objectives, valid);
    by_nan.tell(features, objectives);
    EXPECT_EQ(by_flag.told[0].back().order, by_nan.told[0].back().order);
    EXPECT_EQ(by_flag.told[2].back().order, by_nan.told[2].back().order);
  }
  EXPECT_EQ(by_flag.log.observed, by_nan.log.observed);
  EXPECT_EQ(by_nan.search->failed(), 35);
  EXPECT_THROW(neither.tell(features, objectives), Error);
  // What is infinite is a mistake, whatever a NaN means.
  features[2] = -kInf;
  try {
    by_nan.tell(features, objectives);
    ADD_FAILURE() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::data);
    EXPECT_NE(std::string(error.what()).find("row 2"), std::string::npos) << error.what();
  }
  EXPECT_EQ(by_nan.search->failed(), 35);
}

TEST(FailedEvaluations, AFlagForEveryRowOrNone) {
  Recorded recorded({.threads = 1}, true);
  try {
    recorded.tell(kFeatures, {}, std::vector<std::uint8_t>(11, 1));
    ADD_FAILURE() << "nothing was refused";
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("valid: got 11, expected 12"), std::string::npos) << message;
  }
  EXPECT_EQ(recorded.search->iteration(), 0);
}

// Flags that say that all is well are as good as none.
TEST(FailedEvaluations, NoneAmongTheFlagsChangesNothing) {
  small::Loop without, with;
  for (int i = 0; i < 40; ++i) {
    without.step();
    with.evaluate();
    with.search.tell(with.features, with.objectives, std::vector<std::uint8_t>(48, 1));
  }
  EXPECT_TRUE(without.state() == with.state());
  EXPECT_EQ(with.search.failed(), 0);
}

TEST(FailedEvaluations, OfAWholeBatchAreSurvivedByEveryAlgorithm) {
  const std::vector<std::uint8_t> none(every::kEmitters * every::kRows, 0);
  for (const auto& name : every::algorithms()) {
    for (const bool from_the_start : {true, false}) {
      SCOPED_TRACE(name + (from_the_start ? ", from the start" : ", later"));
      every::Loop loop(name);
      if (!from_the_start) loop.steps(12);
      const auto found = loop.search.archive().size();
      const auto visits = loop.search.archive().total_visits();
      for (int i = 0; i < 20; ++i) loop.step(none);  // longer than the patience of 6
      EXPECT_EQ(loop.search.archive().size(), found);
      EXPECT_EQ(loop.search.archive().total_visits(), visits);
      EXPECT_EQ(loop.search.failed(), 20 * 24);
      if (from_the_start) {
        EXPECT_EQ(loop.search.restarts(), 0);
      }
      loop.steps(12);
      EXPECT_GT(loop.search.archive().size(), found);
      EXPECT_TRUE(
          std::ranges::all_of(loop.search.scores(), [](double s) { return !std::isnan(s); }));
    }
  }
}

// A third of all rows, and now and then a whole emitter's.
std::vector<std::uint8_t> some_fail(std::uint64_t iteration) {
  RandomStream random({.seed = 5, .purpose = Purpose::user, .iteration = iteration});
  std::vector<std::uint8_t> valid(every::kEmitters * every::kRows);
  for (auto& flag : valid) flag = random.uniform() < 0.33 ? 0 : 1;
  if (random.uniform() < 0.3) {
    std::fill_n(valid.begin() + every::kRows * static_cast<Index>(random.below(3)), every::kRows,
                0);
  }
  return valid;
}

TEST(FailedEvaluations, TheSameBitsWithAnyThreadsAndFromAnySavedState) {
  constexpr int kIterations = 40;
  for (const auto& name : every::algorithms()) {
    SCOPED_TRACE(name);
    every::Loop one(name), three(name, {.seed = 1, .threads = 3});
    std::vector<std::vector<std::byte>> states;
    std::int64_t failed = 0;
    for (std::uint64_t i = 0; i < kIterations; ++i) {
      states.push_back(one.state());
      const auto valid = some_fail(i);
      failed += std::count(valid.begin(), valid.end(), 0);
      one.step(valid);
      three.step(valid);
    }
    EXPECT_EQ(one.search.failed(), failed);
    EXPECT_TRUE(one.state() == three.state());
    for (const std::size_t from : {0, 1, 13, kIterations - 1}) {
      every::Loop other(name);
      other.load(states[from]);
      for (std::uint64_t i = from; i < kIterations; ++i) other.step(some_fail(i));
      EXPECT_TRUE(one.state() == other.state()) << from;
      EXPECT_EQ(other.search.failed(), failed);
    }
  }
}

// 40 % of all rows fail. With as many rows that do not as a search without failures has, most of
// what that covers is covered. (One seed; random search covers less than half.)
TEST(FailedEvaluations, DescentStillCoversFeatureSpace) {
  const small::Options options = {.stagnation = {.patience = 25, .patience_rate = 0.2}};
  small::Loop clean(options), loop(options);
  clean.steps(120);
  for (std::uint64_t i = 0; i < 200; ++i) {
    loop.evaluate();
    std::vector<std::uint8_t> valid(48);
    RandomStream random({.seed = 5, .purpose = Purpose::user, .iteration = i});
    for (auto& flag : valid) flag = random.uniform() < 0.4 ? 0 : 1;
    loop.search.tell(loop.features, loop.objectives, valid);
  }
  EXPECT_GT(static_cast<double>(loop.search.archive().size()),
            0.75 * static_cast<double>(clean.search.archive().size()));
}

TEST(FailedEvaluations, MoreOfThemThanEvaluationsAreRefusedInAState) {
  every::Loop loop("dds-kde");
  loop.step(some_fail(0));
  auto bytes = loop.state();
  const std::string name = "search.failed";
  const auto* const begin = reinterpret_cast<const char*>(bytes.data());
  const auto at = static_cast<std::size_t>(
      std::search(begin, begin + bytes.size(), name.begin(), name.end()) - begin);
  ASSERT_LT(at, bytes.size());
  for (const int wrong : {1, 200}) {
    auto forged = bytes;
    forged[at + name.size() + 9] = static_cast<std::byte>(wrong);
    every::Loop other("dds-kde");
    EXPECT_THROW(other.load(forged), Error) << wrong;
  }
  every::Loop other("dds-kde");
  EXPECT_NO_THROW(other.load(bytes));
}

}  // namespace
}  // namespace rarefy
