// Runs that keep a journal: what was evaluated is not evaluated again.
#include "rarefy/storage/journal.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <thread>

#include "rarefy/runs/run.hpp"
#include "rarefy/runs/summary.hpp"
#include "rarefy/storage/checkpoint.hpp"
#include "runs/journaled_evaluation.hpp"
#include "support/counted_problem.hpp"
#include "support/small_config.hpp"
#include "support/temporary_folder.hpp"

namespace rarefy {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kRows = 24;  // of a batch
constexpr std::int64_t kIterations = 12;

std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Calls a function after every iteration.
class After : public Observer {
 public:
  explicit After(std::function<void(const Search&)> function) : function_(std::move(function)) {}
  Next iteration_done(const Search& search) override {
    function_(search);
    return Next::go_on;
  }

 private:
  std::function<void(const Search&)> function_;
};

struct RunWithAJournal : testing::Test {
  TemporaryFolder place;
  std::atomic<std::int64_t> evaluations{0};
  std::shared_ptr<const Domain> domain = counted_problem([this] { ++evaluations; });
  Config config = small_config();

  void SetUp() override {
    config.iterations = kIterations;
    config.output.checkpoint_seconds = 1000;  // none but the first and the last
    config.output.journal = KeepJournal::on;
  }
  [[nodiscard]] fs::path at(const std::string& name) const { return place.path() / name; }
  [[nodiscard]] std::unique_ptr<rarefy::Run> start(const std::string& name) const {
    return rarefy::Run::start(config, domain, RunFolder::create(at(name), false), {.threads = 2});
  }
  [[nodiscard]] std::unique_ptr<rarefy::Run> resume(const std::string& name) const {
    return rarefy::Run::resume(RunFolder::open(at(name)), domain, {.threads = 2});
  }
  std::string whole_archive() {
    const auto run = start("whole");
    EXPECT_EQ(run->go(), DriveEnd::finished);
    EXPECT_EQ(evaluations, kRows * kIterations);
    evaluations = 0;
    return bytes_of(run->folder().archive());
  }
  /// As a kill after so many iterations would leave it.
  void leave_behind(const std::string& name, std::int64_t iterations,
                    Evaluator* evaluator = nullptr) {
    const auto run = start("other");
    After after([&](const Search& search) {
      if (search.iteration() == iterations) fs::copy(at("other"), at(name));
    });
    Observer* const observers[] = {&after};
    evaluator != nullptr ? run->go_with(*evaluator, observers) : run->go(observers);
    evaluations = 0;
  }
};

TEST_F(RunWithAJournal, GoesOnWithoutEvaluatingAnythingTwice) {
  const auto expected = whole_archive();
  leave_behind("run", 7);
  const auto run = resume("run");
  EXPECT_EQ(run->search().iteration(), 0) << "the checkpoint is that of the beginning";
  EXPECT_EQ(run->journal_held(), 7 * kRows);
  EXPECT_NE(summary_of(*run).find("journal         168 evaluations wait in it"), std::string::npos)
      << summary_of(*run);
  EXPECT_EQ(run->go(), DriveEnd::finished);
  EXPECT_EQ(evaluations, (kIterations - 7) * kRows);
  EXPECT_EQ(run->journal_taken(), 7 * kRows);
  EXPECT_NE(summary_of(*run).find("journal         168 evaluations were taken from it\n"),
            std::string::npos)
      << summary_of(*run);
  EXPECT_TRUE(bytes_of(run->folder().archive()) == expected);
  EXPECT_FALSE(run->folder().journal().exists()) << "all is in the checkpoint";
}

TEST_F(RunWithAJournal, ATornJournalCostsWhatIsTorn) {
  const auto expected = whole_archive();
  leave_behind("run", 2);
  const auto journal = at("run") / "journal.bin";
  fs::resize_file(journal, fs::file_size(journal) - 1);
  const auto run = resume("run");
  EXPECT_EQ(run->journal_held(), 2 * kRows - 1);
  EXPECT_EQ(run->go(), DriveEnd::finished);
  EXPECT_EQ(evaluations, (kIterations - 2) * kRows + 1);
  EXPECT_TRUE(bytes_of(run->folder().archive()) == expected);
}

TEST_F(RunWithAJournal, AnotherRunsJournalIsNotUsed) {
  const auto expected = whole_archive();
  leave_behind("run", 2);
  ++config.seed;
  fs::remove_all(at("other"));
  leave_behind("stranger", 2);
  fs::copy(at("stranger") / "journal.bin", at("run") / "journal.bin",
           fs::copy_options::overwrite_existing);
  const auto run = resume("run");
  EXPECT_EQ(run->journal_held(), 0);
  EXPECT_EQ(run->go(), DriveEnd::finished);
  EXPECT_EQ(evaluations, kIterations * kRows);
  EXPECT_TRUE(bytes_of(run->folder().archive()) == expected);
}

TEST_F(RunWithAJournal, OffItIsNeitherReadNorWritten) {
  config.output.journal = KeepJournal::off;
  const auto run = start("run");
  After never([&](const Search&) { EXPECT_FALSE(run->folder().journal().exists()); });
  Observer* const observers[] = {&never};
  EXPECT_EQ(run->go(observers), DriveEnd::finished);
}

TEST_F(RunWithAJournal, ACheckpointMakesItShort) {
  config.output.checkpoint_seconds = 0;
  const auto run = start("run");
  After after(
      [&](const Search&) { EXPECT_EQ(fs::file_size(run->folder().journal().path()), 32U); });
  Observer* const observers[] = {&after};
  EXPECT_EQ(run->go(observers), DriveEnd::finished);
  EXPECT_FALSE(run->folder().journal().exists());
}

TEST_F(RunWithAJournal, AStopEndsWaitingAndLosesNothing) {
  const auto expected = whole_archive();
  constexpr Index kDone = 3 * kRows + 10;
  {
    const auto run = start("run");
    std::atomic<bool> stop{false};
    OneByOne evaluator(*domain, [&](Index done) { stop = done == kDone; });
    EXPECT_EQ(run->go_with(evaluator, {}, &stop), DriveEnd::stopped);
    EXPECT_EQ(run->search().iteration(), 3);
    EXPECT_EQ(evaluations, kDone) << "the batch is left as it is";
    EXPECT_EQ(run->journal_held(), 10);
    EXPECT_EQ(run->metrics().lines().back().iteration, 3);
  }
  const auto run = resume("run");
  EXPECT_EQ(run->search().iteration(), 3);
  OneByOne evaluator(*domain);
  EXPECT_EQ(run->go_with(evaluator), DriveEnd::finished);
  EXPECT_EQ(evaluations, kIterations * kRows);
  EXPECT_EQ(run->journal_taken(), 10);
  EXPECT_TRUE(bytes_of(run->folder().archive()) == expected);
}

TEST_F(RunWithAJournal, WithoutOneAStopFinishesTheIteration) {
  config.output.journal = KeepJournal::off;
  const auto run = start("run");
  std::atomic<bool> stop{false};
  OneByOne evaluator(*domain, [&](Index done) { stop = stop || done == 3 * kRows + 10; });
  EXPECT_EQ(run->go_with(evaluator, {}, &stop), DriveEnd::stopped);
  EXPECT_EQ(run->search().iteration(), 4);
}

TEST_F(RunWithAJournal, AnEvaluatorThatThrowsLosesNothing) {
  const auto expected = whole_archive();
  {
    const auto run = start("run");
    OneByOne evaluator(*domain, [&](Index done) {
      if (done == 2 * kRows + 5) throw std::runtime_error("a node is on fire");
    });
    EXPECT_THROW(run->go_with(evaluator), std::runtime_error);
    EXPECT_EQ(run->journal_held(), 5);
  }
  const auto run = resume("run");
  EXPECT_EQ(run->search().iteration(), 2);
  EXPECT_EQ(run->go(), DriveEnd::finished);
  EXPECT_EQ(evaluations, kIterations * kRows);
  EXPECT_TRUE(bytes_of(run->folder().archive()) == expected);
}

/// Some rows fail, each time others.
class Fickle : public Evaluator {
 public:
  explicit Fickle(const Domain& domain) : domain_(domain) {}
  void evaluate(BatchView solutions, const EvaluationSpan& out) override {
    domain_.evaluate(solutions, out.features, out.objectives);
    for (auto& valid : out.valid) valid = ++calls_ % 5 == 0 ? 0 : 1;
  }

 private:
  const Domain& domain_;
  int calls_ = 0;
};

TEST_F(RunWithAJournal, WhatFailedStaysFailedOnceItWasTold) {
  Fickle fickle(*domain);
  leave_behind("run", 7, &fickle);
  const auto run = resume("run");
  EXPECT_EQ(run->journal_held(), 7 * kRows);
  run->set_iterations(7);
  EXPECT_EQ(run->go(), DriveEnd::finished);
  EXPECT_EQ(evaluations, 0);
  EXPECT_EQ(run->now().failed, 7 * kRows / 5);
}

TEST_F(RunWithAJournal, WhatFailedInABatchThatWasNotToldIsTriedAgain) {
  class AllFail : public Evaluator {
   public:
    void evaluate(BatchView /*solutions*/, const EvaluationSpan& /*out*/) override {}
    bool evaluate_telling(BatchView solutions, const EvaluationSpan& out, const RowsDone& done,
                          StopFlag /*stop*/) override {
      std::fill(out.valid.begin(), out.valid.end(), std::uint8_t{0});
      done(0, solutions.rows());
      throw std::runtime_error("nothing works");
    }
  } evaluator;
  const auto run = start("run");
  EXPECT_THROW(run->go_with(evaluator), std::runtime_error);
  EXPECT_EQ(run->journal_held(), 0);
}

TEST_F(RunWithAJournal, WhatTheSearchRefusesIsNotKept) {
  class OneNaN : public Evaluator {
   public:
    explicit OneNaN(const Domain& domain) : domain_(domain) {}
    void evaluate(BatchView solutions, const EvaluationSpan& out) override {
      domain_.evaluate(solutions, out.features, out.objectives);
      out.features.row(4)[1] = std::numeric_limits<double>::quiet_NaN();
    }

   private:
    const Domain& domain_;
  } evaluator(*domain);
  const auto expected = whole_archive();
  {
    const auto run = start("run");
    EXPECT_THROW(run->go_with(evaluator), Error);
    EXPECT_EQ(run->journal_held(), kRows - 1);
  }
  evaluations = 0;
  const auto run = resume("run");
  EXPECT_EQ(run->go(), DriveEnd::finished) << "with an evaluator that has been mended";
  EXPECT_EQ(evaluations, kIterations * kRows - (kRows - 1));
  EXPECT_TRUE(bytes_of(run->folder().archive()) == expected);

  config.nan_fails = true;
  leave_behind("failed", 1, &evaluator);
  const auto failed = resume("failed");
  EXPECT_EQ(failed->journal_held(), kRows) << "there it counts as failed";
}

TEST_F(RunWithAJournal, ItIsKeptByDefaultWhereEvaluationsAreExpensive) {
  config.output.journal = KeepJournal::automatic;
  config.iterations = 2;
  const auto slow =
      counted_problem([] { std::this_thread::sleep_for(std::chrono::milliseconds(15)); });
  const auto run =
      rarefy::Run::start(config, slow, RunFolder::create(at("slow"), false), {.threads = 1});
  std::vector<std::int64_t> held;
  After after([&](const Search& search) {
    std::int64_t count = 0;
    fs::copy(at("slow"), at("copy"),
             fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    count = rarefy::Run::resume(RunFolder::open(at("copy")), slow)->journal_held();
    EXPECT_EQ(count, search.iteration() * kRows) << "from the first evaluation on";
    held.push_back(count);
  });
  Observer* const observers[] = {&after};
  EXPECT_EQ(run->go(observers), DriveEnd::finished);
  EXPECT_EQ(held.size(), 2U);
}

TEST_F(RunWithAJournal, ItIsNotKeptByDefaultWhereTheyAreCheap) {
  config = small_config();
  const auto run = rarefy::Run::start(config, RunFolder::create(at("lp"), false), Index{2});
  After never([&](const Search&) { EXPECT_FALSE(run->folder().journal().exists()); });
  Observer* const observers[] = {&never};
  EXPECT_EQ(run->go(observers), DriveEnd::finished);
}

TEST_F(RunWithAJournal, ARecordOfAnotherSolutionIsNotUsed) {
  const auto search = make_search(config, domain->info(), 1);
  const auto solutions = search->ask();
  const JournalOwner owner = {.run = 1, .feature_dim = 2};
  const fs::path file = at("journal.bin");
  const std::vector<double> features = {0.25, 0.75};
  {
    Journal journal(file, owner, 0, [](const JournalRecord&) {});
    const auto sum = [&](Index row) { return checksum(std::as_bytes(solutions.row(row))); };
    journal.add(
        {.iteration = 0, .row = 3, .solution = sum(4), .objective = 9, .features = features});
    journal.add(
        {.iteration = 0, .row = 5, .solution = sum(5), .objective = 9, .features = features});
    journal.add(
        {.iteration = 1, .row = 6, .solution = sum(6), .objective = 9, .features = features});
    journal.write();
  }
  OneByOne evaluator(*domain);
  Evaluation out(search->candidates(), 2);
  {
    EvaluationJournal journal(*search, file, owner, config);
    JournaledEvaluation journaled(evaluator, *search, journal);
    EXPECT_TRUE(journaled.evaluate(solutions, out.span(), nullptr));
    EXPECT_EQ(journal.taken(), 1);
  }
  EXPECT_EQ(evaluations, kRows - 1);
  EXPECT_EQ(out.objectives[5], 9);
  EXPECT_EQ(out.features.row(5)[1], 0.75);
  Evaluation afresh(search->candidates(), 2);
  domain->evaluate(solutions, afresh.features, afresh.objectives);
  for (Index row = 0; row < kRows; ++row) {
    if (row == 5) continue;
    EXPECT_EQ(out.objectives[static_cast<std::size_t>(row)],
              afresh.objectives[static_cast<std::size_t>(row)]);
    EXPECT_EQ(out.features.row(row)[0], afresh.features.row(row)[0]);
  }
}

}  // namespace
}  // namespace rarefy
