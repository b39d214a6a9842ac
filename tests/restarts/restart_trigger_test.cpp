#include "rarefy/restarts/restart_trigger.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

// What a trigger reads of a feedback: scores and their order.
bool tell(RestartTrigger& trigger, const std::vector<double>& scores, bool informed = true,
          bool stopped = false) {
  std::vector<Index> order(scores.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<Index>(i);
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
    return scores[static_cast<std::size_t>(a)] < scores[static_cast<std::size_t>(b)];
  });
  return trigger.tell({.solutions = {},
                       .features = {},
                       .objectives = {},
                       .scores = scores,
                       .order = order,
                       .outcomes = {},
                       .ranked = static_cast<Index>(order.size()),
                       .informed = informed},
                      stopped);
}

TEST(BasicTrigger, DoesWhatTheEmitterSays) {
  BasicTrigger trigger;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_FALSE(tell(trigger, {1, 2, 3}, true, false));
    ASSERT_TRUE(tell(trigger, {1, 2, 3}, true, true));
  }
}

TEST(NoImprovementTrigger, RestartsAnEmitterOfWhoseCandidatesNoneWasAccepted) {
  NoImprovementTrigger trigger;
  const std::vector<double> scores = {1, 2, 3};
  const std::vector<Index> order = {0, 1, 2};
  const auto tell_accepted = [&](Index accepted, bool stopped) {
    return trigger.tell({.solutions = {},
                         .features = {},
                         .objectives = {},
                         .scores = scores,
                         .order = order,
                         .outcomes = {},
                         .ranked = 3,
                         .accepted = accepted},
                        stopped);
  };
  for (int i = 0; i < 3; ++i) {  // it remembers nothing
    EXPECT_FALSE(tell_accepted(1, false));
    EXPECT_FALSE(tell_accepted(3, false));
    EXPECT_TRUE(tell_accepted(0, false));
    EXPECT_TRUE(tell_accepted(3, true)) << "the emitter's own word always counts";
    EXPECT_TRUE(tell_accepted(0, true));
    trigger.reset();
  }
}

// The rule as reproduction notes and header state it, from the whole history each time.
class NaiveStagnation {
 public:
  NaiveStagnation(double patience, double rate) : patience_(patience), rate_(rate) {}

  bool tell(std::vector<double> scores, bool informed, bool stopped) {
    std::sort(scores.begin(), scores.end());
    history_.push_back({scores[(scores.size() - 1) / 2], informed});
    // The last iteration that set a record, or that had nothing to compare.
    std::size_t last = 0;
    double record = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < history_.size(); ++i) {
      if (!history_[i].informed) {
        last = i + 1;
      } else if (history_[i].median < record) {
        record = history_[i].median;
        last = i + 1;
      }
    }
    const auto age = static_cast<double>(history_.size());
    const double waited = age - static_cast<double>(last);
    return stopped || waited >= std::max(patience_, rate_ * age);
  }
  void reset() { history_.clear(); }

 private:
  struct Iteration {
    double median;
    bool informed;
  };
  double patience_, rate_;
  std::vector<Iteration> history_;
};

TEST(StagnationTrigger, AgreesWithARuleThatRemembersEverything) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  int restarts = 0, ages = 0;
  for (const auto& options : {StagnationOptions{},
                              {.patience = 3, .patience_rate = 0.5},
                              {.patience = 1, .patience_rate = 0},
                              {.patience = 10, .patience_rate = 0.37}}) {
    for (const std::size_t batch : {1, 2, 7, 36}) {
      StagnationTrigger trigger(options);
      NaiveStagnation expected(static_cast<double>(options.patience), options.patience_rate);
      double level = 0;
      for (int i = 0; i < 1500; ++i) {
        // Descends for a while, then stands still; some iterations say nothing; some scores tie.
        level -= (i / 100) % 2 == 0 ? 0.3 * uniform(random) : 0.0;
        std::vector<double> scores(batch);
        for (double& score : scores) score = level + std::round(4 * normal(random)) / 4;
        const bool informed = uniform(random) > 0.02;
        const bool stopped = uniform(random) < 0.005;
        const bool due = expected.tell(scores, informed, stopped);
        ASSERT_EQ(tell(trigger, scores, informed, stopped), due) << i;
        ++ages;
        // Most restarts happen, some do not (nobody resets), and the rule must still agree.
        if (due && uniform(random) < 0.8) {
          trigger.reset();
          expected.reset();
          ++restarts;
        }
      }
    }
  }
  EXPECT_GT(restarts, 300);
  EXPECT_LT(restarts, ages / 3);
}

TEST(StagnationTrigger, WaitsTwentyFiveIterationsThenAFifthOfTheAge) {
  StagnationTrigger trigger;
  EXPECT_FALSE(tell(trigger, {1, 1, 1}));
  for (int i = 0; i < 24; ++i) ASSERT_FALSE(tell(trigger, {1, 1, 1})) << i;
  EXPECT_TRUE(tell(trigger, {1, 1, 1}));  // 25 iterations after the record

  trigger.reset();
  for (int i = 0; i < 1000; ++i) ASSERT_FALSE(tell(trigger, {-1e9, -1.0 * i, 1e9})) << i;
  int waited = 0;
  while (!tell(trigger, {0, 0, 0})) ++waited;
  // Age a when w iterations have passed without a record: w >= 0.2 (1000 + w), w = 250.
  EXPECT_EQ(waited + 1, 250);
}

TEST(StagnationTrigger, UsesTheLowerMedianOfAnEvenBatch) {
  StagnationTrigger trigger({.patience = 2, .patience_rate = 0});
  EXPECT_FALSE(tell(trigger, {0, 5, 7, 9}));   // 5
  EXPECT_FALSE(tell(trigger, {0, 4, 8, 9}));   // 4: a record, though the upper median rose
  EXPECT_FALSE(tell(trigger, {-9, 4, 4, 4}));  // 4: none, though the best fell
  EXPECT_TRUE(tell(trigger, {-9, 5, 1e9, 1e9}));
}

TEST(StagnationTrigger, IterationsThatSayNothingAreNotStagnation) {
  StagnationTrigger trigger({.patience = 3, .patience_rate = 0});
  for (int i = 0; i < 100; ++i) ASSERT_FALSE(tell(trigger, {0, 0, 0}, false));
  // Nor is a score that says nothing a record: 7 is the first that counts.
  EXPECT_FALSE(tell(trigger, {7, 7, 7}));
  EXPECT_FALSE(tell(trigger, {7, 7, 7}));
  EXPECT_FALSE(tell(trigger, {7, 7, 7}));
  EXPECT_TRUE(tell(trigger, {7, 7, 7}));
  EXPECT_TRUE(tell(trigger, {7, 7, 7}, false, true)) << "the emitter's own word always counts";
}

TEST(StagnationTrigger, RefusesAPatienceThatCannotBe) {
  EXPECT_THROW(StagnationTrigger({.patience = 0}), Error);
  EXPECT_THROW(StagnationTrigger({.patience = -5}), Error);
  EXPECT_THROW(StagnationTrigger({.patience = 1, .patience_rate = -0.1}), Error);
  EXPECT_THROW(StagnationTrigger({.patience = 1, .patience_rate = NAN}), Error);
  EXPECT_NO_THROW(StagnationTrigger({.patience = 1, .patience_rate = 0}));
}

TEST(StagnationTrigger, GoesOnFromASavedState) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  const StagnationOptions options = {.patience = 4, .patience_rate = 0.3};
  StagnationTrigger original(options);
  for (int i = 0; i < 400; ++i) {
    StateWriter out;
    original.save(out);
    StagnationTrigger copy(options);
    StateReader in(out.bytes());
    copy.load(in);
    EXPECT_TRUE(in.at_end());
    std::vector<double> scores = {normal(random), normal(random), normal(random)};
    const bool due = tell(original, scores);
    ASSERT_EQ(tell(copy, scores), due) << i;
    StateWriter after, copied;
    original.save(after);
    copy.save(copied);
    ASSERT_TRUE(after.bytes() == copied.bytes()) << i;
    if (due) original.reset();
  }
}

TEST(StagnationTrigger, RefusesACorruptState) {
  StagnationTrigger original;
  tell(original, {1, 2, 3});
  StateWriter out;
  original.save(out);
  for (std::size_t length = 0; length < out.bytes().size(); ++length) {
    StagnationTrigger copy;
    StateReader in(std::span(out.bytes()).first(length));
    EXPECT_THROW(copy.load(in), Error) << length;
  }
  StateWriter contradictory;  // a record in the future
  contradictory.integer("stagnation.age", 3);
  contradictory.integer("stagnation.record_age", 4);
  contradictory.real("stagnation.record", 0);
  StateReader in(contradictory.bytes());
  EXPECT_THROW(original.load(in), Error);
  StateWriter not_a_number;
  not_a_number.integer("stagnation.age", 3);
  not_a_number.integer("stagnation.record_age", 2);
  not_a_number.real("stagnation.record", NAN);
  StateReader bad(not_a_number.bytes());
  EXPECT_THROW(original.load(bad), Error);
}

// Of ten rows only the first `ranked` of the order could be evaluated.
bool tell_part(RestartTrigger& trigger, double score, Index ranked, Index accepted = 0,
               Index outside = 0) {
  std::vector<double> scores(10, std::numeric_limits<double>::quiet_NaN());
  std::vector<Index> order(10);
  for (std::size_t i = 0; i < 10; ++i) order[i] = static_cast<Index>(9 - i);
  for (Index i = 0; i < ranked; ++i) {
    scores[static_cast<std::size_t>(9 - i)] = score + static_cast<double>(i);
  }
  return trigger.tell({.solutions = {},
                       .features = {},
                       .objectives = {},
                       .scores = scores,
                       .order = order,
                       .outcomes = {},
                       .ranked = ranked,
                       .accepted = accepted,
                       .outside = outside},
                      false);
}

TEST(NoImprovementTrigger, ReadsNothingIntoABatchThatFailed) {
  NoImprovementTrigger trigger;
  EXPECT_FALSE(tell_part(trigger, 1.0, 0));
  EXPECT_TRUE(tell_part(trigger, 1.0, 1));
  EXPECT_FALSE(tell_part(trigger, 1.0, 1, 1));
}

TEST(StagnationTrigger, TakesTheMedianOfTheRowsThatWereRanked) {
  StagnationTrigger trigger({.patience = 2, .patience_rate = 0.0});
  EXPECT_FALSE(tell_part(trigger, 5.0, 3));  // 6
  EXPECT_FALSE(tell_part(trigger, 5.5, 1));  // 5.5: a record
  EXPECT_FALSE(tell_part(trigger, 5.0, 2));  // 5, the lower of two
  EXPECT_FALSE(tell_part(trigger, 4.0, 3));  // 5: none
  EXPECT_TRUE(tell_part(trigger, 4.5, 3));
}

TEST(StagnationTrigger, AnIterationThatFailedIsOneWithoutProgress) {
  StagnationTrigger trigger({.patience = 3, .patience_rate = 0.0});
  EXPECT_FALSE(tell_part(trigger, 5.0, 4));
  EXPECT_FALSE(tell_part(trigger, 0.0, 0));
  EXPECT_FALSE(tell_part(trigger, 0.0, 0));
  EXPECT_TRUE(tell_part(trigger, 0.0, 0));
}

// However sparse it is out there.
TEST(StagnationTrigger, AMedianOutsideOfTheFeatureSpaceIsNoRecord) {
  StagnationTrigger trigger({.patience = 3, .patience_rate = 0.0});
  EXPECT_FALSE(tell_part(trigger, 5.0, 4));
  EXPECT_FALSE(tell_part(trigger, 4.0, 4, 0, 3));
  EXPECT_FALSE(tell_part(trigger, 3.0, 4, 0, 4));
  EXPECT_FALSE(tell_part(trigger, 3.0, 4, 0, 2)) << "the lower median is inside";
  EXPECT_FALSE(tell_part(trigger, 0.0, 4, 0, 3));
  EXPECT_FALSE(tell_part(trigger, 0.0, 4, 0, 3));
  EXPECT_TRUE(tell_part(trigger, 0.0, 4, 0, 3));
}

}  // namespace
}  // namespace rarefy
