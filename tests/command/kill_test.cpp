// Runs that are killed or interrupted: nothing is damaged, and they go on to the same bits.
#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include "command_line.hpp"
#include "run_files.hpp"
#include "support/without_seconds.hpp"

namespace {

using std::chrono::milliseconds;

// Longer than any machine takes: such a run ends only when it is killed.
constexpr const char* kForEver = "1000000000";

Words without_iterations(Words arguments) {
  const auto name = std::find(arguments.begin(), arguments.end(), "--iterations");
  arguments.erase(name, name + 2);
  return arguments;
}

// How far the run is when it is killed is up to the machine; that it is killed, and that it gets
// somewhere in between, is not.
void kill_and_resume(const Words& arguments, const fs::path& folder, int most_checkpoints) {
  std::mt19937 random(11);
  for (int kill = 0; kill < 8; ++kill) {
    Process process(command_words(begin_or_resume(arguments, folder)));
    if (kill % 2 == 1) {
      // Once some checkpoints are written: beginning anew would lose them.
      auto seen = last_checkpoint(folder);
      auto left = 1 + random() % static_cast<unsigned>(most_checkpoints);
      ASSERT_TRUE(process.wait_until([&] {
        const auto now = last_checkpoint(folder);
        if (now != seen) --left;
        seen = now;
        return left == 0;
      })) << process.wait().err;
    }
    const auto moment = std::chrono::steady_clock::now() + milliseconds(random() % 60);
    process.wait_until([&] { return std::chrono::steady_clock::now() >= moment; });
    process.send(SIGKILL);
    const auto& end = process.wait();
    ASSERT_EQ(end.signal, SIGKILL) << end.err;
    expect_whole_files(folder);
  }
}

void expect_same_after_kills(const SmallCase& small, const std::string& checkpoint_seconds,
                             int most_checkpoints) {
  const RunPlace place;
  const auto killed = place / "killed", undisturbed = place / "undisturbed";
  const auto arguments = without_iterations(small.arguments()) +
                         Words{"--checkpoint-seconds", checkpoint_seconds, "--metrics-every", "7"};
  kill_and_resume(arguments + Words{"--iterations", kForEver}, killed, most_checkpoints);
  if (testing::Test::HasFatalFailure()) return;
  ASSERT_EQ(rarefy_command({"show", killed.string()}).exit_code, 0);
  const auto done = iteration_in(killed);
  EXPECT_GE(done, 4) << "four kills waited for a checkpoint";
  const auto all = std::to_string(done + 30);
  const auto last = rarefy_command({"resume", killed.string(), "--iterations", all, "--quiet"});
  ASSERT_EQ(last.exit_code, 0) << last.err;
  const auto expected = undisturbed_archive(arguments + Words{"--iterations", all}, undisturbed);
  EXPECT_TRUE(bytes_of(killed / "archive.npz") == expected);
  expect_finished_folder(killed, !small.has_grid());

  // The course of the run is the same as well, but for the time that it took.
  EXPECT_EQ(without_seconds(bytes_of(undisturbed / "metrics.csv")),
            without_seconds(bytes_of(killed / "metrics.csv")));
}

TEST(CommandKilled, WithACheckpointAfterEveryIteration) {
  expect_same_after_kills({"lp", "default"}, "0", 40);
}

TEST(CommandKilled, WithACheckpointAfterEveryIterationPublished) {
  expect_same_after_kills({"arm", "published"}, "0", 40);
}

TEST(CommandKilled, WithACheckpointNowAndThen) {
  expect_same_after_kills({"multi-lp", "default"}, "0.05", 4);
}

// Archive and picture are written at the end of a run: `show` does nothing else, over and over.
TEST(CommandKilled, WhileResultsAreWritten) {
  const RunPlace place;
  const auto folder = place / "run";
  const auto expected = undisturbed_archive(SmallCase{"lp", "default"}.arguments(400), folder);
  const auto picture = bytes_of(folder / "heatmap.png");
  std::mt19937 random(5);
  for (int kill = 0; kill < 20; ++kill) {
    if (kill % 3 == 0) fs::remove(folder / "archive.npz");
    Process process(command_words({"show", folder.string()}));
    std::this_thread::sleep_for(milliseconds(random() % (kSanitized ? 400 : 60)));
    process.send(SIGKILL);
    (void)process.wait();
    expect_whole_files(folder);
    if (fs::exists(folder / "archive.npz")) {
      EXPECT_TRUE(bytes_of(folder / "archive.npz") == expected);
    }
    EXPECT_TRUE(bytes_of(folder / "heatmap.png") == picture);
  }
  EXPECT_EQ(rarefy_command({"show", folder.string()}).exit_code, 0);
  EXPECT_TRUE(bytes_of(folder / "archive.npz") == expected);
  expect_finished_folder(folder, false);
}

/// A run that would go on for ever, once its loop is under way.
class EndlessRun {
 public:
  EndlessRun(const Words& arguments, const fs::path& folder)
      : process(command_words(arguments + Words{"--iterations", kForEver, "--metrics-every", "1",
                                                "--checkpoint-seconds", "0.02", "--out",
                                                folder.string()})),
        under_way(process.wait_until([&] {
          // A line of metrics is on disk: the handlers of signals are in place.
          std::error_code error;
          const auto size = fs::file_size(folder / "metrics.csv", error);
          return !error && size > 200;
        })) {}
  Process process;
  bool under_way;
};

class CommandInterrupted : public testing::TestWithParam<int> {};

TEST_P(CommandInterrupted, OnceItSavesAndSaysHowToGoOn) {
  const RunPlace place;
  const auto folder = place / "run";
  const auto small = without_iterations(SmallCase{"lp", "default"}.arguments());
  EndlessRun run(small, folder);
  ASSERT_TRUE(run.under_way) << run.process.wait().err;
  run.process.send(GetParam());
  const auto& end = run.process.wait();
  EXPECT_EQ(end.exit_code, 130) << end.err;
  EXPECT_TRUE(contains(end.err, "finishing this iteration")) << end.err;
  EXPECT_TRUE(contains(end.err, "rarefy resume " + folder.string())) << end.err;
  EXPECT_TRUE(contains(end.out, "coverage")) << end.out;
  expect_finished_folder(folder, false);

  // Nothing is lost: the archive is as far as the message says.
  const auto done = iteration_in(folder);
  auto said = std::to_string(done);
  for (auto at = static_cast<int>(said.size()) - 3; at > 0; at -= 3) {
    said.insert(static_cast<std::size_t>(at), 1, ',');
  }
  EXPECT_TRUE(contains(end.err, "stopped after " + said + " iterations")) << end.err;
  EXPECT_EQ(table_of(bytes_of(folder / "metrics.csv")).last("iteration"), done);

  const auto all = std::to_string(done + 30);
  const auto resumed = rarefy_command({"resume", folder.string(), "--iterations", all, "--quiet"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  const auto expected = undisturbed_archive(small + Words{"--iterations", all}, place / "whole");
  EXPECT_TRUE(bytes_of(folder / "archive.npz") == expected);
}

// Two signals that come while the process stands still are both there when it goes on, before it
// can save anything. (Two of the same kind would be one; with one thread no other can save.)
TEST_P(CommandInterrupted, TwiceItLeavesAtOnce) {
  const RunPlace place;
  const auto folder = place / "run";
  const auto small = without_iterations(SmallCase{"lp", "default"}.arguments());
  EndlessRun run(small + Words{"--threads", "1"}, folder);
  ASSERT_TRUE(run.under_way) << run.process.wait().err;
  run.process.send(SIGSTOP);
  siginfo_t stopped{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(run.process.id()), &stopped, WSTOPPED), 0);
  const auto before = bytes_of(folder / "checkpoint.bin");
  run.process.send(GetParam());
  run.process.send(GetParam() == SIGINT ? SIGTERM : SIGINT);
  run.process.send(SIGCONT);
  const auto& end = run.process.wait();
  EXPECT_EQ(end.exit_code, 130) << end.err;
  EXPECT_TRUE(contains(end.err, "left at once")) << end.err;
  EXPECT_TRUE(bytes_of(folder / "checkpoint.bin") == before);
  expect_whole_files(folder);
}

// The second signal comes while the first is obeyed, or just after.
TEST_P(CommandInterrupted, TwiceNothingIsHarmed) {
  const RunPlace place;
  // Large, so that saving takes a while.
  const Words large = {"run", "lp", "--seed", "3"};
  for (int attempt = 0; attempt < 4; ++attempt) {
    const auto folder = place / ("run-" + std::to_string(attempt));
    EndlessRun run(large, folder);
    ASSERT_TRUE(run.under_way) << run.process.wait().err;
    run.process.send(GetParam());
    // Two signals at the same time would be one.
    ASSERT_TRUE(run.process.wait_for_text("finishing this iteration"));
    std::this_thread::sleep_for(milliseconds(5 * attempt));
    run.process.send(GetParam());
    const auto& end = run.process.wait();
    EXPECT_EQ(end.exit_code, 130) << end.err;
    expect_whole_files(folder);

    if (attempt > 0) continue;
    ASSERT_EQ(rarefy_command({"show", folder.string()}).exit_code, 0);
    const auto all = std::to_string(iteration_in(folder) + 5);
    const auto resumed =
        rarefy_command({"resume", folder.string(), "--iterations", all, "--quiet"});
    EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
    const auto expected = undisturbed_archive(large + Words{"--iterations", all}, place / "whole");
    EXPECT_TRUE(bytes_of(folder / "archive.npz") == expected);
    expect_finished_folder(folder, false);
  }
}

INSTANTIATE_TEST_SUITE_P(By, CommandInterrupted, testing::Values(SIGINT, SIGTERM),
                         [](const auto& each) {
                           return std::string(each.param == SIGINT ? "SIGINT" : "SIGTERM");
                         });

TEST(CommandInterruptedAndResumed, OverAndOverGivesTheSameBits) {
  const RunPlace place;
  const auto arguments = SmallCase{"lp", "published"}.arguments(kSanitized ? 500 : 2000) +
                         Words{"--checkpoint-seconds", "1000"};
  const auto expected = undisturbed_archive(arguments, place / "whole");
  const auto folder = place / "run";
  int interruptions = 0;
  for (; interruptions < 10; ++interruptions) {
    Process process(command_words(begin_or_resume(arguments, folder)));
    std::this_thread::sleep_for(milliseconds(40));
    process.send(SIGINT);
    const auto& end = process.wait();
    expect_whole_files(folder);
    if (end.exit_code == 0) break;
    // Before its handlers are in place, the signal just ends it.
    EXPECT_TRUE(end.exit_code == 130 || end.signal == SIGINT) << end.exit_code << end.err;
  }
  EXPECT_EQ(rarefy_command(begin_or_resume(arguments, folder)).exit_code, 0);
  EXPECT_TRUE(bytes_of(folder / "archive.npz") == expected);
}

}  // namespace
