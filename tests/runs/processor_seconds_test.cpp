// How long processors work for a run: all of its threads, and nobody else.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

#include "core/thread_clock.hpp"
#include "rarefy/runs/run.hpp"
#include "support/counted_problem.hpp"
#include "support/small_config.hpp"
#include "support/temporary_folder.hpp"
#include "support/without_seconds.hpp"

namespace rarefy {
namespace {

constexpr double kPiece = 0.0005;  // seconds

// Keeps the calling thread at work, by its own clock: a busy machine changes nothing about it.
double burn(double seconds) {
  const auto clock = ThreadClock::of_this_thread();
  const double began = clock.seconds();
  double spent = 0;
  while (spent < seconds) spent = clock.seconds() - began;
  return spent;
}

struct ProcessorSeconds : testing::Test {
  TemporaryFolder place;
  Config config = small_config();
  std::atomic<double> burnt = 0;
  std::shared_ptr<const Domain> busy = counted_problem([this] {
    const double spent = burn(kPiece);
    double sum = burnt.load();
    while (!burnt.compare_exchange_weak(sum, sum + spent)) {
    }
  });

  void SetUp() override { config.iterations = 20; }
  [[nodiscard]] RunFolder create() const { return RunFolder::create(place.path() / "run", false); }
  [[nodiscard]] RunFolder open() const { return RunFolder::open(place.path() / "run"); }
};

TEST_F(ProcessorSeconds, AreThoseOfAllThreads) {
  for (const bool asynchronous : {false, true}) {
    for (const Index threads : {1, 3}) {
      SCOPED_TRACE(asynchronous);
      SCOPED_TRACE(threads);
      const TemporaryFolder folder;
      burnt = 0;
      config.asynchronous = asynchronous;
      const auto run = Run::start(config, busy, RunFolder::create(folder.path() / "run", false),
                                  {.threads = threads});
      EXPECT_EQ(run->processor_seconds(), 0.0);
      run->go();
      const auto rows = static_cast<double>(run->search().evaluations());
      EXPECT_GE(burnt.load(), rows * kPiece);
      EXPECT_GE(run->processor_seconds(), 0.999 * burnt.load());
      EXPECT_EQ(run->processor_seconds(), run->now().processor_seconds) << "they stand still now";
    }
  }
}

TEST_F(ProcessorSeconds, AreNotThoseOfSleepersOrOthers) {
  using namespace std::chrono_literals;
  // Half a second of sleep, while another thread is at work all the time.
  const auto sleeper = counted_problem([] { std::this_thread::sleep_for(1ms); });
  std::atomic<bool> over = false;
  double others = 0;
  std::thread other([&] {
    while (!over || others < 0.5) others += burn(0.01);
  });
  const auto run = Run::start(config, sleeper, create(), {.threads = 1});
  run->go();
  over = true;
  other.join();
  EXPECT_GE(run->seconds(), 0.48);
  EXPECT_GE(others, 0.5);
  EXPECT_GT(run->processor_seconds(), 0.0);
  EXPECT_LT(run->processor_seconds(), 0.5 * run->seconds());
}

TEST_F(ProcessorSeconds, GrowAndAreKeptWhenARunGoesOn) {
  double before = 0;
  {
    const auto run = Run::start(config, busy, create(), {.threads = 2});
    run->go();
    before = run->processor_seconds();
  }
  const auto run = Run::resume(open(), busy, {.threads = 2});
  EXPECT_EQ(run->processor_seconds(), before);
  run->set_iterations(40);
  run->go();
  EXPECT_GE(run->processor_seconds(), 0.999 * burnt.load()) << "of both times";
  double last = 0;
  for (const auto& line : run->metrics().lines()) {
    EXPECT_GE(line.processor_seconds, last);
    last = line.processor_seconds;
  }
  EXPECT_GE(last, before);
}

TEST_F(ProcessorSeconds, AreNotKnownWhereSomebodyElseEvaluates) {
  const auto run = Run::start(config, busy, create(), {.threads = 1});
  PlainEvaluator evaluator(*busy);
  run->go_with(evaluator);
  EXPECT_TRUE(std::isnan(run->processor_seconds()));
  EXPECT_TRUE(std::isnan(parse_metrics(run->metrics().csv()).back().processor_seconds));
  run->set_iterations(30);
  run->go();
  EXPECT_TRUE(std::isnan(run->processor_seconds())) << "of a part, nobody knows";
}

TEST_F(ProcessorSeconds, ThatAreNotKnownStayUnknown) {
  {
    const auto run = Run::start(config, busy, create(), {.threads = 1});
    PlainEvaluator evaluator(*busy);
    run->go_with(evaluator);
  }
  EXPECT_TRUE(std::isnan(Run::resume(open(), busy)->processor_seconds()));
}

TEST(WithoutSeconds, LeavesOutWhatClocksSay) {
  EXPECT_EQ(without_seconds("a,seconds,b,processor_seconds\n1,2,3,4\n"), "a,b,\n1,3,\n");
}

}  // namespace
}  // namespace rarefy
