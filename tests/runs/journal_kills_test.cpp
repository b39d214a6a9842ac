// Kills at random moments: the archive of an undisturbed run, and next to nothing evaluated twice.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <thread>

#include "rarefy/evaluators/threads_stream.hpp"
#include "rarefy/runs/run.hpp"
#include "support/counted_problem.hpp"
#include "support/small_config.hpp"
#include "support/temporary_folder.hpp"
#include "support/without_seconds.hpp"

namespace rarefy {
namespace {

namespace fs = std::filesystem;
using std::chrono::microseconds;

constexpr Index kWorkers = 2;
constexpr int kKills = 40;  // with each kind of evaluator

std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string metrics_of(const fs::path& folder) {
  return without_seconds(bytes_of(folder / "metrics.csv"));
}

enum class Hands { threads, stream, asynchronous };

struct Killed : testing::TestWithParam<Hands> {
  TemporaryFolder place;
  Config config = small_config();
  fs::path tally = place.path() / "tally";  // a byte for each evaluation that has begun

  [[nodiscard]] std::int64_t evaluations() const {
    return fs::exists(tally) ? static_cast<std::int64_t>(fs::file_size(tally)) : 0;
  }
  /// Goes on in the folder for as long as it is let, and begins there where there is no run yet.
  void go(const fs::path& folder) const {
    const int file = ::open(tally.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    const auto domain = counted_problem([file] {
      if (::write(file, ".", 1) != 1) std::abort();
      std::this_thread::sleep_for(microseconds(1500));
    });
    const RunTeam team = {.threads = kWorkers};
    const auto run =
        RunFolder::holds_run(folder)
            ? rarefy::Run::resume(RunFolder::open(folder), domain, team)
            : rarefy::Run::start(config, domain, RunFolder::create(folder, true), team);
    if (GetParam() == Hands::threads) {
      run->go();
    } else {
      ThreadsStream evaluator(*domain, kWorkers);
      run->go_with(evaluator);
    }
    ::close(file);
  }
  /// The same in a process of its own, which is killed so long after it has begun so many
  /// evaluations. True where it came to its end before.
  [[nodiscard]] bool go_until(std::int64_t more, microseconds then, const fs::path& folder) const {
    const auto enough = evaluations() + more;
    const auto child = ::fork();
    if (child == 0) {
      try {
        go(folder);
      } catch (...) {
        ::_exit(1);
      }
      ::_exit(0);
    }
    siginfo_t ended{};
    while (evaluations() < enough && ended.si_pid == 0) {
      std::this_thread::sleep_for(microseconds(200));
      EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT), 0);
    }
    std::this_thread::sleep_for(then);
    ::kill(child, SIGKILL);
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << "an error, not a kill";
    return WIFEXITED(status);
  }
};

TEST_P(Killed, AtAnyMomentItEndsWithTheSameBytesAndEvaluatesLittleTwice) {
  config.iterations = 40;
  config.output.journal = KeepJournal::on;
  config.output.checkpoint_seconds = GetParam() == Hands::threads ? 1000 : 0.02;
  config.asynchronous = GetParam() == Hands::asynchronous;
  const std::int64_t needed = 40 * 24;
  const auto folder = place.path() / "killed";
  std::mt19937 random(12);  // NOLINT(*-msc51-cpp): the moments differ by themselves
  const auto up_to = [&](int most) { return std::uniform_int_distribution<int>(0, most)(random); };
  int kills = 0;
  bool over = false;
  while (kills < kKills && !over) {
    // While it begins or takes itself up again, or somewhere in a batch.
    over = kills % 4 == 0 ? go_until(0, microseconds(up_to(20'000)), folder)
                          : go_until(1 + up_to(35), microseconds(up_to(3000)), folder);
    kills += over ? 0 : 1;
  }
  EXPECT_TRUE(over || go_until(1'000'000, microseconds(0), folder)) << "it goes on to its end";
  EXPECT_EQ(kills, kKills) << "it ended too early";
  const auto evaluated = evaluations();

  // One that nobody disturbs, in the order in which the emitters came.
  const auto whole = place.path() / "whole";
  if (config.asynchronous) config.order = folder.string();
  go(whole);
  EXPECT_EQ(evaluations() - evaluated, needed);
  EXPECT_TRUE(bytes_of(folder / "archive.npz") == bytes_of(whole / "archive.npz"));
  EXPECT_EQ(metrics_of(folder), metrics_of(whole));
  EXPECT_GE(evaluated, needed);
  // A thread notes its row before it begins another. Of those that are handed back, a few may be
  // on their way on a busy machine.
  const auto under_way = GetParam() == Hands::threads ? kWorkers : 3 * kWorkers;
  EXPECT_LE(evaluated, needed + kills * under_way) << "more than was under way was lost";
  EXPECT_FALSE(fs::exists(folder / "journal.bin"));
  RecordProperty("kills", kills);
  RecordProperty("evaluated_twice", static_cast<int>(evaluated - needed));
  std::cout << kills << " kills; " << evaluated - needed << " of " << needed
            << " evaluations were made twice\n";
}

std::string name_of_hands(const testing::TestParamInfo<Hands>& hands) {
  if (hands.param == Hands::threads) return "Threads";
  return hands.param == Hands::stream ? "Stream" : "Asynchronous";
}

INSTANTIATE_TEST_SUITE_P(Evaluators, Killed,
                         testing::Values(Hands::threads, Hands::stream, Hands::asynchronous),
                         name_of_hands);

}  // namespace
}  // namespace rarefy
