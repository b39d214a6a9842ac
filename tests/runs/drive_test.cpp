#include "rarefy/runs/drive.hpp"

#include <cmath>
#include <stdexcept>

#include "rarefy/core/error.hpp"
#include "support/small_config.hpp"

using rarefy::DriveEnd;
using rarefy::Next;
using rarefy::Observer;
using rarefy::Search;

namespace {

class Counter : public Observer {
 public:
  Next iteration_done(const Search& search) override {
    seen.push_back(search.iteration());
    return Next::go_on;
  }
  std::vector<std::int64_t> seen;
};

struct Driver : testing::Test {
  rarefy::Config config = small_config();
  std::unique_ptr<rarefy::Domain> domain = rarefy::make_domain(config);
  std::unique_ptr<Search> search = rarefy::make_search(config, domain->info(), 1);
  PlainEvaluator evaluator{*domain};
};

TEST_F(Driver, ObserversSeeEveryIterationInTheirOrder) {
  Counter first, second;
  Observer* const observers[] = {&first, &second};
  EXPECT_EQ(rarefy::drive(*search, evaluator, 5, observers), DriveEnd::finished);
  EXPECT_EQ(first.seen, (std::vector<std::int64_t>{1, 2, 3, 4, 5}));
  EXPECT_EQ(second.seen, first.seen);
  // `iterations` is in all, not further ones.
  EXPECT_EQ(rarefy::drive(*search, evaluator, 7, observers), DriveEnd::finished);
  EXPECT_EQ(search->iteration(), 7);
  EXPECT_EQ(rarefy::drive(*search, evaluator, 3, observers), DriveEnd::finished);
  EXPECT_EQ(search->iteration(), 7);
  EXPECT_EQ(first.seen.size(), 7U);
}

TEST_F(Driver, AnIterationThatIsLeftUnfinishedIsNotTold) {
  Counter counter;
  Observer* const observers[] = {&counter};
  int batches = 0;
  const rarefy::EvaluateBatch evaluate = [&](rarefy::BatchView solutions,
                                             const rarefy::EvaluationSpan& out) {
    evaluator.evaluate(solutions, out);
    return ++batches != 4;
  };
  EXPECT_EQ(rarefy::drive(*search, evaluate, 10, observers), DriveEnd::stopped);
  EXPECT_EQ(search->iteration(), 3);
  EXPECT_EQ(counter.seen.size(), 3U);
  EXPECT_EQ(rarefy::drive(*search, evaluate, 10, observers), DriveEnd::finished);
  EXPECT_EQ(search->iteration(), 10);
}

TEST_F(Driver, AStopEndsTheLoopAfterTheIteration) {
  std::atomic<bool> stop{false};
  class Stopper : public Observer {
   public:
    explicit Stopper(std::atomic<bool>& flag) : flag_(flag) {}
    Next iteration_done(const Search& search) override {
      if (search.iteration() == 3) flag_ = true;
      return Next::go_on;
    }

   private:
    std::atomic<bool>& flag_;
  } stopper(stop);
  Counter counter;
  Observer* const observers[] = {&stopper, &counter};
  EXPECT_EQ(rarefy::drive(*search, evaluator, 10, observers, &stop), DriveEnd::stopped);
  EXPECT_EQ(counter.seen.size(), 3U) << "the iteration is finished for all observers";
  EXPECT_EQ(rarefy::drive(*search, evaluator, 10, observers, &stop), DriveEnd::stopped);
  EXPECT_EQ(search->iteration(), 3);
  stop = false;
  EXPECT_EQ(rarefy::drive(*search, evaluator, 4, {}, &stop), DriveEnd::finished);

  // Finished is finished, even when a stop was asked for in the last iteration.
  stop = true;
  EXPECT_EQ(rarefy::drive(*search, evaluator, 4, {}, &stop), DriveEnd::finished);
}

TEST_F(Driver, AnObserverThatThrowsLeavesTheSearchUsable) {
  class Thrower : public Observer {
   public:
    Next iteration_done(const Search& search) override {
      if (search.iteration() == 4) throw std::runtime_error("enough");
      return Next::go_on;
    }
  } thrower;
  Observer* const observers[] = {&thrower};
  EXPECT_THROW(rarefy::drive(*search, evaluator, 10, observers), std::runtime_error);
  EXPECT_EQ(search->iteration(), 4);
  rarefy::drive(*search, evaluator, 10);

  const auto whole = rarefy::make_search(config, domain->info(), 1);
  rarefy::drive(*whole, evaluator, 10);
  EXPECT_TRUE(state_of(*search) == state_of(*whole));
}

/// Fails in one iteration, and gives a NaN in another.
class Unreliable : public PlainEvaluator {
 public:
  using PlainEvaluator::PlainEvaluator;
  void evaluate(rarefy::BatchView solutions, const rarefy::EvaluationSpan& out) override {
    const int call = calls++;
    if (call == 3) throw std::runtime_error("the simulator died");
    PlainEvaluator::evaluate(solutions, out);
    if (call == 5) out.features(2, 1) = std::nan("");
  }
  int calls = 0;
};

TEST_F(Driver, AnEvaluatorThatFailsLosesNothing) {
  Unreliable unreliable(*domain);
  EXPECT_THROW(rarefy::drive(*search, unreliable, 10), std::runtime_error);
  EXPECT_EQ(search->iteration(), 3);
  try {
    rarefy::drive(*search, unreliable, 10);
    FAIL() << "NaN was accepted";
  } catch (const rarefy::Error& error) {
    EXPECT_EQ(error.kind(), rarefy::ErrorKind::data);
    EXPECT_NE(std::string(error.what()).find("row 2"), std::string::npos) << error.what();
  }
  EXPECT_EQ(search->iteration(), 4);
  rarefy::drive(*search, unreliable, 10);

  const auto whole = rarefy::make_search(config, domain->info(), 1);
  rarefy::drive(*whole, evaluator, 10);
  EXPECT_TRUE(state_of(*search) == state_of(*whole)) << "the same batch was evaluated again";
}

// Writes down what it is told.
class Diary : public Observer {
 public:
  void begin(const Search& search) override { put("begin", search); }
  Next iteration_done(const Search& search) override {
    put("done", search);
    return search.iteration() == stop_at ? Next::stop : Next::go_on;
  }
  void end(const Search& search, DriveEnd end) override {
    put(end == DriveEnd::finished  ? "finished"
        : end == DriveEnd::stopped ? "stopped"
                                   : "failed",
        search);
    if (throws_at_the_end) throw std::runtime_error("no end");
  }
  std::vector<std::string> lines;
  std::int64_t stop_at = -1;
  bool throws_at_the_end = false;

 private:
  void put(const std::string& what, const Search& search) {
    lines.push_back(what + " " + std::to_string(search.iteration()));
  }
};

TEST_F(Driver, AnObserverCanAskToStopAndIsToldBeginAndEnd) {
  Diary diary, other;
  diary.stop_at = 2;
  Observer* const observers[] = {&diary, &other};
  EXPECT_EQ(rarefy::drive(*search, evaluator, 4, observers), DriveEnd::stopped);
  const std::vector<std::string> expected = {"begin 0", "done 1", "done 2", "stopped 2"};
  EXPECT_EQ(diary.lines, expected);
  EXPECT_EQ(other.lines, expected) << "the iteration is finished for all observers";
  EXPECT_EQ(rarefy::drive(*search, evaluator, 4, observers), DriveEnd::finished);
  EXPECT_EQ(other.lines.back(), "finished 4");
  diary.stop_at = 5;
  EXPECT_EQ(rarefy::drive(*search, evaluator, 5, observers), DriveEnd::finished)
      << "who stops in the last iteration is done";
}

TEST_F(Driver, AnObserverIsToldOfAFailureWhichItCannotHide) {
  Unreliable unreliable(*domain);
  Diary diary;
  diary.throws_at_the_end = true;
  Observer* const observers[] = {&diary};
  try {
    rarefy::drive(*search, unreliable, 10, observers);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "the simulator died");
  }
  EXPECT_EQ(diary.lines.back(), "failed 3");
}

// What an evaluator marks as failed is left out, and the search goes on.
TEST_F(Driver, RowsThatAnEvaluatorMarksAreCountedAsFailed) {
  class Marking : public PlainEvaluator {
   public:
    using PlainEvaluator::PlainEvaluator;
    void evaluate(rarefy::BatchView solutions, const rarefy::EvaluationSpan& out) override {
      for (const auto flag : out.valid) EXPECT_EQ(flag, 1) << "not left over from the last batch";
      PlainEvaluator::evaluate(solutions, out);
      out.valid[1] = 0;
      out.features(1, 0) = std::nan("");
    }
  } marking(*domain);
  EXPECT_EQ(rarefy::drive(*search, marking, 6), DriveEnd::finished);
  EXPECT_EQ(search->failed(), 6);
  EXPECT_EQ(search->archive().total_visits(), search->evaluations() - 6);
}

}  // namespace
