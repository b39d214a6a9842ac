// SIGKILL at random moments, for workers, for the search, for both: the archive is that of a run
// that nothing disturbs, no row fails, and nobody is left behind.
#include <sys/prctl.h>
#include <sys/wait.h>

#include <chrono>
#include <iostream>
#include <random>

#include "command_line.hpp"
#include "evaluators/programs.hpp"
#include "run_files.hpp"

namespace {

/// Signals that met a living process.
struct Kills {
  int workers = 0, searches = 0;
  int both = 0;     ///< of these, at about the same time
  int keepers = 0;  ///< besides: those who see to it that no worker outlives the search
  [[nodiscard]] int all() const { return workers + searches; }
};

// Two milliseconds a row. The first two stay when their input ends, until somebody ends them.
constexpr const char* kSlowLines =
    "while read -r x y; do sleep 0.002; echo \"$x $y\"; done; sleep 1000";
std::string slow_arrays() { return python() + " " + program("npy.py") + " slow; sleep 1000"; }
constexpr const char* kSlowOnce = "sleep 0.002; echo";

Words run_of_program(const std::string& command, const std::string& protocol) {
  return {"run", "--command", command, "--protocol",   protocol, "--n",
          "2",   "--low",     "-2,-2", "--high",       "2,2",    "--emitters",
          "2",   "--batch",   "8",     "--iterations", "20",     "--seed",
          "3",   "--grid",    "10",    "--threads",    "1",      "--workers",
          "3",   "--retries", "1000",  "--journal",    "on",     "--checkpoint-seconds",
          "0.1"};
}

/// Grows with every row that is done, until a checkpoint has them all.
struct Progress {
  std::uintmax_t journal = 0;
  fs::file_time_type checkpoint;

  [[nodiscard]] static Progress of(const fs::path& folder) {
    std::error_code none;
    const auto size = fs::file_size(folder / "journal.bin", none);
    return {none ? 0 : size, last_checkpoint(folder)};
  }
  [[nodiscard]] bool is_beyond(const Progress& other) const {
    return journal > other.journal || checkpoint != other.checkpoint;
  }
};

bool is_keeper(pid_t id) {
  std::ifstream file("/proc/" + std::to_string(id) + "/cmdline", std::ios::binary);
  std::ostringstream words;
  words << file.rdbuf();  // nothing where it has ended by now
  return words.str().ends_with(std::string("\0keeper\0", 8));
}

/// Orphans of the test's own children come to it instead of going to the system.
struct Orphanage {
  Orphanage() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }
  Orphanage(const Orphanage&) = delete;
  Orphanage& operator=(const Orphanage&) = delete;
  ~Orphanage() { ::prctl(PR_SET_CHILD_SUBREAPER, 0); }
  /// Waits until the last of them has ended.
  [[nodiscard]] static bool empties() {
    return comes_true([] {
      pid_t ended = 0;
      while ((ended = ::waitpid(-1, nullptr, WNOHANG)) > 0) {
      }
      return ended < 0 && errno == ECHILD;
    });
  }
};

/// A run whose processes are killed, and that is taken up again, until it is done.
class DisturbedRun {
 public:
  DisturbedRun(Words words, fs::path folder, std::mt19937& random, Kills& kills)
      : words_(std::move(words)), folder_(std::move(folder)), random_(random), kills_(kills) {}

  void go_to_its_end() {
    while (!testing::Test::HasFatalFailure() && !done_) live_once();
  }

 private:
  [[nodiscard]] unsigned below(unsigned end) { return static_cast<unsigned>(random_() % end); }

  /// Of the search: it is begun or resumed, and killed, unless it comes to its end before.
  void live_once() {
    seen_ = Progress::of(folder_);
    Process search(command_words(begin_or_resume(words_, folder_)));
    bool both = false;
    if (below(4) == 0) {
      pass_time(40'000);  // perhaps it has not even begun
    } else {
      for (auto left = below(12); left > 0; --left) {
        if (wait_for_progress(search)) kill_worker(search.id());
      }
      if (below(8) != 0 && wait_for_progress(search)) {
        if (below(2) == 0) {
          both = kill_worker(search.id());
          pass_time(1000);
        }
      } else {
        (void)search.wait();
      }
    }
    search.send(SIGKILL);
    const auto& end = search.wait();
    EXPECT_TRUE(Orphanage::empties()) << "somebody has outlived the search";
    if (end.signal == SIGKILL) {
      ++kills_.searches;
      kills_.both += both ? 1 : 0;
    } else {
      ASSERT_EQ(end.exit_code, 0) << end.err;
      done_ = true;
    }
  }

  void pass_time(unsigned most_microseconds) {
    std::this_thread::sleep_for(std::chrono::microseconds(below(most_microseconds)));
  }

  /// Until another row is done, and a while longer. Without that, a machine that is slower than
  /// the kills come would never get anywhere. False where the search has ended.
  [[nodiscard]] bool wait_for_progress(Process& search) {
    const auto before = seen_;
    if (!search.wait_until([&] {
          seen_ = Progress::of(folder_);
          return seen_.is_beyond(before);
        })) {
      return false;
    }
    pass_time(8000);
    seen_ = Progress::of(folder_);
    return lives(search.id());
  }

  /// False where the signal met nobody, or no more than the keeper.
  bool kill_worker(pid_t search) {
    const bool keeper = below(10) == 0;
    std::vector<pid_t> some;
    for (const auto id : children_of(search)) {
      if (lives(id) && is_keeper(id) == keeper) some.push_back(id);
    }
    if (some.empty()) return false;
    const auto victim = some[below(static_cast<unsigned>(some.size()))];
    if (!lives(victim) || ::kill(victim, SIGKILL) != 0) return false;
    ++(keeper ? kills_.keepers : kills_.workers);
    return !keeper;
  }

  Words words_;
  fs::path folder_;
  std::mt19937& random_;
  Kills& kills_;
  Progress seen_;
  bool done_ = false;
};

struct CommandProgramKilled : testing::Test {
  RunPlace place;
  Orphanage orphanage;
  std::mt19937 random = std::mt19937(2);  // NOLINT(*-msc51-cpp): the machine makes moments differ
  Kills kills;
  int runs = 0;

  /// Runs until there were so many kills in all, and some of them here.
  void disturb(const std::string& command, const std::string& protocol, int enough,
               const std::string& expected) {
    const auto words = run_of_program(command, protocol);
    const int before = kills.all();
    do {
      const auto folder = place / ("run-" + std::to_string(++runs));
      DisturbedRun(words, folder, random, kills).go_to_its_end();
      if (HasFatalFailure()) return;
      EXPECT_TRUE(bytes_of(folder / "archive.npz") == expected) << protocol;
      EXPECT_FALSE(fs::exists(folder / "failures.log")) << bytes_of(folder / "failures.log");
      EXPECT_FALSE(fs::exists(folder / "journal.bin"));
    } while (kills.all() < enough || kills.all() - before < 10);
  }
};

// Where emitters do not wait for each other, the order is chance; but it is written down, and a run
// that nothing disturbs comes to the same bytes by it.
TEST_F(CommandProgramKilled, WithoutWaitingEmittersFindsWhatItsOrderRepeats) {
  const auto words = run_of_program(kSlowLines, "lines") + Words{"--asynchronous"};
  while (kills.all() < 20 || kills.searches < 3) {
    const auto folder = place / ("run-" + std::to_string(++runs));
    DisturbedRun(words, folder, random, kills).go_to_its_end();
    if (HasFatalFailure()) return;
    const auto again = place / ("again-" + std::to_string(runs));
    const auto result = rarefy_command(
        run_of_program("while read -r x y; do echo \"$x $y\"; done", "lines") +
        Words{"--asynchronous", "--order", folder.string(), "--quiet", "--out", again.string()});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_TRUE(bytes_of(folder / "archive.npz") == bytes_of(again / "archive.npz"));
  }
  std::cout << kills.all() << " kills in " << runs
            << " asynchronous runs, each repeated by its order\n";
}

TEST_F(CommandProgramKilled, AtRandomMomentsFindsTheSame) {
  const auto undisturbed = run_of_program("while read -r x y; do echo \"$x $y\"; done", "lines");
  const auto expected = undisturbed_archive(undisturbed, place / "undisturbed");
  disturb(slow_arrays(), "npy", 20, expected);
  disturb(kSlowOnce, "once", 40, expected);
  disturb(kSlowLines, "lines", 200, expected);
  EXPECT_GE(kills.workers, 50);
  EXPECT_GE(kills.searches, 20);
  EXPECT_GE(kills.both, 5);
  EXPECT_GE(kills.all(), 200);
  std::cout << kills.all() << " kills: " << kills.workers << " of workers, " << kills.searches
            << " of searches (" << kills.both << " with a worker), and " << kills.keepers
            << " of keepers; " << runs << " runs, all with the same bytes\n";
}

}  // namespace
