// Runs that are killed or interrupted: nothing is damaged, and they go on to the same bits.
#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include "command_line.hpp"
#include "run_files.hpp"

namespace {

using std::chrono::milliseconds;

// Begun in vain, the run is begun again: without a configuration there is nothing to resume.
Words begin_or_resume(const Words& arguments, const fs::path& folder) {
  if (fs::exists(folder / "config.toml")) return {"resume", folder.string(), "--quiet"};
  return arguments + Words{"--out", folder.string(), "--quiet"};
}

/// Kills the run at random moments, and goes on with it, until it ends by itself. Returns how
/// often it was killed.
int kill_and_resume_until_done(const Words& arguments, const fs::path& folder, unsigned seed,
                               int longest) {
  std::mt19937 random(seed);  // the moments; how far the run has got by then is up to the machine
  constexpr int kMostKills = 20;
  int kills = 0;
  while (kills < kMostKills) {
    Process process(command_words(begin_or_resume(arguments, folder)));
    const auto moment = std::chrono::steady_clock::now() +
                        milliseconds(1 + random() % static_cast<unsigned>(longest));
    process.wait_until([&] { return std::chrono::steady_clock::now() >= moment; });
    process.send(SIGKILL);
    const auto& end = process.wait();
    if (end.signal != SIGKILL) {
      EXPECT_EQ(end.exit_code, 0) << end.err;
      return kills;
    }
    ++kills;
    expect_whole_files(folder);
  }
  const auto last = rarefy_command(begin_or_resume(arguments, folder));
  EXPECT_EQ(last.exit_code, 0) << last.err;
  return kills;
}

void expect_same_after_kills(const SmallCase& small, const std::string& checkpoint_seconds,
                             int iterations) {
  const RunPlace place;
  const auto arguments = small.arguments(kSanitized ? iterations / 5 : iterations) +
                         Words{"--checkpoint-seconds", checkpoint_seconds, "--metrics-every", "7"};
  const auto begin = std::chrono::steady_clock::now();
  const auto expected = undisturbed_archive(arguments, place / "undisturbed");
  const auto whole =
      std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begin);
  // Within a third of the time that the whole run takes, so that it takes several.
  const int longest = std::max(30, static_cast<int>(whole.count()) / 3);
  const int kills = kill_and_resume_until_done(arguments, place / "killed", 11, longest);
  EXPECT_GE(kills, 3) << "too few for this test to mean much";
  EXPECT_TRUE(bytes_of(place / "killed" / "archive.npz") == expected);
  expect_finished_folder(place / "killed", !small.has_grid());

  // The course of the run is the same as well, but for the time that it took.
  auto one = table_of(bytes_of(place / "undisturbed" / "metrics.csv"));
  auto other = table_of(bytes_of(place / "killed" / "metrics.csv"));
  ASSERT_EQ(one.names.back(), "seconds");
  for (auto* table : {&one, &other}) {
    for (auto& row : table->rows) row.pop_back();
  }
  EXPECT_EQ(one.rows, other.rows);
}

TEST(CommandKilled, WithACheckpointAfterEveryIteration) {
  expect_same_after_kills({"lp", "default"}, "0", 300);
}

TEST(CommandKilled, WithACheckpointAfterEveryIterationPublished) {
  expect_same_after_kills({"arm", "published"}, "0", 300);
}

TEST(CommandKilled, WithACheckpointNowAndThen) {
  expect_same_after_kills({"multi-lp", "default"}, "0.05", 6000);
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
      : process(command_words(arguments + Words{"--iterations", "1000000000", "--metrics-every",
                                                "1", "--checkpoint-seconds", "0.02", "--out",
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

Words without_iterations(Words arguments) {
  arguments.resize(arguments.size() - 2);
  return arguments;
}

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

TEST_P(CommandInterrupted, TwiceItLeavesAtOnceAndHarmsNothing) {
  const RunPlace place;
  // Large, so that saving takes a while.
  const Words large = {"run", "lp", "--seed", "3"};
  int left_at_once = 0;
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
    if (contains(end.err, "left at once")) ++left_at_once;
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
  EXPECT_GE(left_at_once, 1);
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
