#include "rarefy/runs/drive.hpp"

#include <cmath>
#include <stdexcept>

#include "rarefy/core/error.hpp"
#include "support/small_config.hpp"

using rarefy::DriveEnd;
using rarefy::Observer;
using rarefy::Search;

namespace {

class Counter : public Observer {
 public:
  void iteration_done(const Search& search) override { seen.push_back(search.iteration()); }
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

TEST_F(Driver, AStopEndsTheLoopAfterTheIteration) {
  std::atomic<bool> stop{false};
  class Stopper : public Observer {
   public:
    explicit Stopper(std::atomic<bool>& flag) : flag_(flag) {}
    void iteration_done(const Search& search) override {
      if (search.iteration() == 3) flag_ = true;
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
    void iteration_done(const Search& search) override {
      if (search.iteration() == 4) throw std::runtime_error("enough");
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
  void evaluate(rarefy::BatchView solutions, rarefy::BatchSpan features,
                std::span<double> objectives) override {
    const int call = calls++;
    if (call == 3) throw std::runtime_error("the simulator died");
    PlainEvaluator::evaluate(solutions, features, objectives);
    if (call == 5) features(2, 1) = std::nan("");
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

}  // namespace
