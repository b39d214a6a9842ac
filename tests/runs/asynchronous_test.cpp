// Runs whose emitters do not wait for each other: whatever order they came in, it can be repeated.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <string>

#include "rarefy/core/error.hpp"
#include "rarefy/evaluators/threads_stream.hpp"
#include "rarefy/runs/drive.hpp"
#include "rarefy/runs/run.hpp"
#include "rarefy/runs/turns.hpp"
#include "support/counted_problem.hpp"
#include "support/shuffled_stream.hpp"
#include "support/simulated_workers.hpp"
#include "support/small_config.hpp"
#include "support/temporary_folder.hpp"

namespace rarefy {
namespace {

namespace fs = std::filesystem;

std::string contents_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Ends the run after so many calls.
class StopAfter : public Observer {
 public:
  explicit StopAfter(int iterations) : left_(iterations) {}
  Next iteration_done(const Search& /*search*/) override {
    return --left_ <= 0 ? Next::stop : Next::go_on;
  }

 private:
  int left_;
};

struct AsynchronousRun : testing::Test {
  TemporaryFolder place;
  std::atomic<std::int64_t> evaluations{0};
  std::shared_ptr<const Domain> domain = counted_problem([this] { ++evaluations; });
  Config config = small_config();

  void SetUp() override {
    config.asynchronous = true;
    config.iterations = 40;
    config.output.checkpoint_seconds = 1000;
    config.output.journal = KeepJournal::on;
  }
  [[nodiscard]] fs::path at(const std::string& name) const { return place.path() / name; }
  std::unique_ptr<rarefy::Run> start(const std::string& name, const std::string& order = "") {
    config.order = order.empty() ? "" : at(order).string();
    return rarefy::Run::start(config, domain, RunFolder::create(at(name), false),
                              RunTeam{.threads = 1});
  }
  std::unique_ptr<rarefy::Run> resume(const std::string& name) {
    return rarefy::Run::resume(RunFolder::open(at(name)), domain, RunTeam{.threads = 2});
  }
  DriveEnd go(rarefy::Run& run, unsigned seed, std::vector<Observer*> observers = {}) {
    ShuffledStream evaluator(*domain, seed);
    return run.go_with(evaluator, observers);
  }
  void expect_same(const std::string& a, const std::string& b) {
    EXPECT_TRUE(contents_of(at(a) / "archive.npz") == contents_of(at(b) / "archive.npz"));
  }
};

TEST_F(AsynchronousRun, DoesAsManyEvaluationsAsPlannedInAnotherOrderEachTime) {
  std::set<std::string> archives;
  for (const unsigned seed : {1U, 2U, 3U}) {
    const auto name = std::to_string(seed);
    EXPECT_EQ(go(*start(name), seed), DriveEnd::finished);
    archives.insert(contents_of(at(name) / "archive.npz"));
    EXPECT_FALSE(fs::exists(at(name) / "journal.bin"));
  }
  EXPECT_EQ(evaluations, 3 * 40 * 24);
  EXPECT_EQ(archives.size(), 3U) << "the order does matter";
}

TEST_F(AsynchronousRun, TheOrderCanBeRepeated) {
  EXPECT_EQ(go(*start("first"), 1), DriveEnd::finished);
  EXPECT_EQ(go(*start("again", "first"), 2), DriveEnd::finished);
  expect_same("first", "again");
  EXPECT_EQ(read_turns(at("first") / "order.bin"), read_turns(at("again") / "order.bin"));

  // By threads, and of the file itself.
  EXPECT_EQ(start("threads", "first/order.bin")->go(), DriveEnd::finished);
  expect_same("first", "threads");
}

TEST_F(AsynchronousRun, StoppedAndResumedItIsOneRunAndCanBeRepeatedAsOne) {
  StopAfter after(7);
  EXPECT_EQ(go(*start("stopped"), 1, {&after}), DriveEnd::stopped);
  EXPECT_GT(resume("stopped")->journal_held(), 0) << "rows that were done and not told";
  for (const unsigned seed : {2U, 3U, 4U}) {
    StopAfter later(5);
    EXPECT_EQ(go(*resume("stopped"), seed, {&later}), DriveEnd::stopped);
  }
  EXPECT_EQ(go(*resume("stopped"), 5), DriveEnd::finished);
  EXPECT_EQ(evaluations, 40 * 24) << "nothing twice";
  EXPECT_EQ(go(*start("whole", "stopped"), 6), DriveEnd::finished);
  expect_same("stopped", "whole");
}

TEST_F(AsynchronousRun, ARepetitionMayBeStoppedToo) {
  EXPECT_EQ(go(*start("first"), 1), DriveEnd::finished);
  StopAfter after(9);
  EXPECT_EQ(go(*start("again", "first"), 2, {&after}), DriveEnd::stopped);
  EXPECT_EQ(go(*resume("again"), 3), DriveEnd::finished);
  expect_same("first", "again");
}

TEST_F(AsynchronousRun, GoesFurtherThanPlannedAndThatCanBeRepeated) {
  EXPECT_EQ(go(*start("further"), 1), DriveEnd::finished);
  const auto run = resume("further");
  run->set_iterations(55);
  EXPECT_EQ(go(*run, 2), DriveEnd::finished);
  EXPECT_EQ(run->search().evaluations(), 55 * 24);
  config.iterations = 55;
  EXPECT_EQ(go(*start("again", "further"), 3), DriveEnd::finished);
  expect_same("further", "again");
}

TEST_F(AsynchronousRun, FewerIterationsFollowTheOrderAsFarAsTheyGo) {
  EXPECT_EQ(go(*start("first"), 1), DriveEnd::finished);
  config.iterations = 30;
  const auto run = start("shorter", "first");
  EXPECT_EQ(go(*run, 2), DriveEnd::finished);
  EXPECT_EQ(run->search().evaluations(), 30 * 24);
  const auto whole = read_turns(at("first") / "order.bin");
  const auto part = read_turns(at("shorter") / "order.bin");
  EXPECT_LT(part.size(), whole.size());
  const auto common = std::mismatch(part.begin(), part.end(), whole.begin()).first - part.begin();
  EXPECT_GE(common, 30 * 3 - 3);
  // What has become of it can be repeated as well, and is the same every time.
  EXPECT_EQ(go(*start("shorter-again", "shorter"), 3), DriveEnd::finished);
  expect_same("shorter", "shorter-again");
  EXPECT_EQ(go(*start("shorter-too", "first"), 4), DriveEnd::finished);
  expect_same("shorter", "shorter-too");
}

TEST_F(AsynchronousRun, AnOrderThatDoesNotFitIsNamed) {
  const auto message = [&](const std::vector<Turn>& turns) -> std::string {
    write_turns(at("order.bin"), turns);
    try {
      const auto run = start("refused", "order.bin");
      go(*run, 1);
    } catch (const Error& error) {
      fs::remove_all(at("refused"));
      return error.what();
    }
    return "nothing";
  };
  using enum TurnKind;
  EXPECT_EQ(message({{0, asked}, {3, asked}}),
            "order: got '" + at("order.bin").string() +
                "', with a turn of emitter 3, expected that of a run with 3 emitters, as this one "
                "has");
  fs::remove(at("order.bin"));
  EXPECT_EQ(message({{0, asked}, {1, told}}),
            "order: turn 1 is of emitter 1, which was not asked: it is the order of another run");
  fs::remove(at("order.bin"));
  EXPECT_EQ(message({{0, asked}, {0, asked}}),
            "order: turn 1 is of emitter 0, which was asked already: it is the order of another "
            "run");
  try {
    (void)start("refused", "nowhere");
    ADD_FAILURE() << "taken";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("the order.bin in it"), std::string::npos)
        << error.what();
  }
}

TEST_F(AsynchronousRun, CannotEndBeforeWhatWasBegun) {
  StopAfter after(7);
  EXPECT_EQ(go(*start("stopped"), 1, {&after}), DriveEnd::stopped);
  const auto run = resume("stopped");
  try {
    run->set_iterations(7);
    ADD_FAILURE() << "taken";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "iterations: got 7, expected at least the 8 that were begun");
  }
  run->set_iterations(8);
  EXPECT_EQ(go(*run, 2), DriveEnd::finished);
  EXPECT_EQ(run->search().evaluations(), 8 * 24);
}

TEST_F(AsynchronousRun, ATurnThatWasNotedAndNotTakenIsPrescribed) {
  using enum TurnKind;
  const FilePlace file(at("order.bin"));
  {
    Turns turns(file, 0);
    turns.note({2, asked});
    turns.count();
    turns.note({1, asked});  // and here something goes wrong
    EXPECT_EQ(turns.taken(), 1);
  }
  const Turns turns(file, 1);
  EXPECT_EQ(turns.prescribed(), (Turn{1, asked}));
  EXPECT_THROW(Turns(file, 3), Error);
}

TEST_F(AsynchronousRun, WithoutItsOrderItIsNotGoneOnWith) {
  StopAfter after(7);
  EXPECT_EQ(go(*start("stopped"), 1, {&after}), DriveEnd::stopped);
  fs::remove(at("stopped") / "order.bin");
  try {
    go(*resume("stopped"), 2);
    ADD_FAILURE() << "taken";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("expected at least the"), std::string::npos)
        << error.what();
  }
}

TEST_F(AsynchronousRun, NeedsAnEvaluatorThatHandsBackRows) {
  PlainEvaluator evaluator(*domain);
  EXPECT_THROW((void)start("plain")->go_with(evaluator), Error);
}

TEST_F(AsynchronousRun, RowsThatFailAreToldAndKept) {
  class Failing : public ShuffledStream {
   public:
    using ShuffledStream::ShuffledStream;
    void begin(Index job, BatchView solutions, const EvaluationSpan& out) override {
      ShuffledStream::begin(job, solutions, out);
      out.valid[0] = 0;
    }
  };
  StopAfter after(6);
  Observer* const observers[] = {&after};
  Failing evaluator(*domain, 1);
  EXPECT_EQ(start("failing")->go_with(evaluator, observers), DriveEnd::stopped);
  const auto run = resume("failing");
  Failing other(*domain, 2);
  EXPECT_EQ(run->go_with(other), DriveEnd::finished);
  EXPECT_GE(run->search().failed(), 40 * 3);
  EXPECT_LE(run->search().failed(), 40 * 3 + 3) << "one more where rows were left to evaluate";
}

TEST_F(AsynchronousRun, SynchronousIsTheDefault) { EXPECT_FALSE(Config().asynchronous); }

TEST(AsynchronousDrive, InMemory) {
  const auto config = small_config();
  const auto domain = make_domain(config);
  const auto search = make_search(config, domain->info(), 1);
  ShuffledStream evaluator(*domain, 4);
  StopAfter after(3);
  Observer* const observers[] = {&after};
  EXPECT_EQ(drive_asynchronously(*search, evaluator, 10, observers), DriveEnd::stopped);
  EXPECT_EQ(search->iteration(), 3);
  EXPECT_EQ(drive_asynchronously(*search, evaluator, 10), DriveEnd::finished);
  EXPECT_EQ(search->evaluations(), 10 * 24);
  for (Index e = 0; e < 3; ++e) EXPECT_FALSE(search->awaits(e));
}

TEST(AsynchronousDrive, MayBeMeantToGoOnForEver) {
  const auto config = small_config();
  const auto domain = make_domain(config);
  const auto search = make_search(config, domain->info(), 1);
  ShuffledStream evaluator(*domain, 4);
  StopAfter after(3);
  Observer* const observers[] = {&after};
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(drive_asynchronously(*search, evaluator, kMost, observers), DriveEnd::stopped);
  EXPECT_EQ(search->iteration(), 3);
}

TEST(AsynchronousDrive, WhatTheEvaluatorThrowsEndsItAndTheSearchStaysUsable) {
  const auto config = small_config();
  const auto domain = make_domain(config);
  const auto search = make_search(config, domain->info(), 1);
  int left = 100;
  ShuffledStream evaluator(*domain, 4, [&] {
    if (--left == 0) throw std::runtime_error("no more");
  });
  EXPECT_THROW(drive_asynchronously(*search, evaluator, 10), std::runtime_error);
  EXPECT_EQ(drive_asynchronously(*search, evaluator, 10), DriveEnd::finished);
  EXPECT_EQ(search->evaluations(), 10 * 24);
}

// On a clock of its own: 16 workers, evaluations that take log-normal times with sigma 1. Who
// waits for the slowest of a batch is idle for a sixth of the time.
TEST(Asynchronous, KeepsWorkersBusy) {
  const auto config = default_config("lp");
  const auto domain = make_domain(config);
  const auto busy = [&](auto go_round) {
    const auto search = make_search(config, domain->info(), 1);
    SimulatedWorkers workers(*domain, 16, {0.1, 1.0});
    go_round(*search, workers);
    return workers.utilisation();
  };
  constexpr std::int64_t kIterations = 20;
  EXPECT_GE(busy([](Search& search, SimulatedWorkers& workers) {
              drive_asynchronously(search, workers, kIterations);
            }),
            0.95);
  EXPECT_LT(
      busy([](Search& search, SimulatedWorkers& workers) { drive(search, workers, kIterations); }),
      0.9);
}

}  // namespace
}  // namespace rarefy
