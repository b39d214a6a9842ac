// rarefy run --command, rarefy check: programs of the user's own.
#include <csignal>

#include "command_line.hpp"
#include "run_files.hpp"

namespace {

// Two features and an objective of each line.
constexpr std::string_view kSimulator = R"(import os, sys
for line in sys.stdin:
    x = [float(word) for word in line.split()]
    if "fails" in sys.argv and x[0] > 1:
        print("the first number is too large", file=sys.stderr)
        sys.exit(3)
    print(x[0], x[1], *([-x[2] ** 2] if "objective" in sys.argv else []), flush=True)
)";

struct CommandProgram : testing::Test {
  RunPlace place;
  std::string simulator = (place / "simulator.py").string();
  Words problem = {"--n", "3", "--low", "-2,-2", "--high", "2,2"};
  Words few = {"--emitters",   "2",
               "--batch",      "8",
               "--iterations", "12",
               "--seed",       "3",
               "--grid",       "10",
               "--workers",    "2",
               "--out",        (place / "run").string()};

  void SetUp() override { write_text(simulator, kSimulator); }
  [[nodiscard]] std::string with(const std::string& words = {}) const {
    return "python3 " + simulator + " " + words;
  }
  [[nodiscard]] ProcessResult run(const std::string& command, const Words& more = {}) const {
    return rarefy_command(Words{"run", "--command", command} + problem + few + more);
  }
};

TEST_F(CommandProgram, EvaluatesTheSameWithAnyNumberOfWorkers) {
  auto result = run(with());
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "simulator, dds-kde")) << result.out;
  EXPECT_TRUE(contains(result.out, "192 answers")) << result.out;
  const auto archive = bytes_of(place / "run/archive.npz");
  EXPECT_FALSE(fs::exists(place / "run/failures.log"));
  result = run(with(), {"--workers", "1", "--out", (place / "alone").string()});
  EXPECT_EQ(result.exit_code, 2);  // an option twice
  few[11] = "1";
  few[13] = (place / "alone").string();
  result = run(with());
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(bytes_of(place / "alone/archive.npz") == archive);
  const auto config = bytes_of(place / "run/config.toml");
  EXPECT_TRUE(contains(config, "[program]")) << config;
  EXPECT_TRUE(contains(config, "simulator.py")) << config;
  EXPECT_TRUE(contains(config, "name = 'simulator'")) << config;
}

TEST_F(CommandProgram, GivesTheFolderItsName) {
  few.resize(few.size() - 2);  // without --out
  const auto result =
      rarefy_command(Words{"run", "--command", with()} + problem + few, {.folder = place.path()});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "runs/simulator-dds-kde-default-seed3")) << result.out;
}

TEST_F(CommandProgram, IsThereAgainWhenARunIsResumed) {
  ASSERT_EQ(run(with()).exit_code, 0);
  const auto folder = (place / "run").string();
  auto result = rarefy_command({"resume", folder, "--iterations", "20", "--quiet"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  few[5] = "20";
  few[13] = (place / "whole").string();
  ASSERT_EQ(run(with()).exit_code, 0);
  EXPECT_TRUE(bytes_of(place / "run/archive.npz") == bytes_of(place / "whole/archive.npz"));
  EXPECT_EQ(rarefy_command({"show", folder}).exit_code, 0);
}

TEST_F(CommandProgram, ThatIsKilledWithItsRunLosesNothing) {
  few[5] = "40";
  ASSERT_EQ(run(with()).exit_code, 0);
  const auto undisturbed = bytes_of(place / "run/archive.npz");
  few[13] = (place / "killed").string();
  const auto words = Words{"run", "--command", with(), "--journal", "on"} + problem + few;
  Process process(command_words(words), {});
  while (!fs::exists(place / "killed/journal.bin")) ::usleep(500);
  process.send(SIGKILL);
  (void)process.wait();
  const auto result = rarefy_command({"resume", (place / "killed").string()});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(bytes_of(place / "killed/archive.npz") == undisturbed);
}

TEST_F(CommandProgram, IsLeftAtOnceByAnInterrupt) {
  const auto words = Words{"run", "--command", with(), "--journal", "on"} + problem + few;
  ASSERT_EQ(rarefy_command(words).exit_code, 0);
  const auto undisturbed = bytes_of(place / "run/archive.npz");
  few[5] = "1000000";  // more than there is time for
  few[13] = (place / "stopped").string();
  Process process(
      command_words(Words{"run", "--command", with(), "--journal", "on"} + problem + few), {});
  while (!fs::exists(place / "stopped/journal.bin")) ::usleep(500);
  process.send(SIGINT);
  const auto result = process.wait();
  EXPECT_EQ(result.exit_code, 130) << result.err;
  EXPECT_TRUE(contains(result.err, "rarefy: stopping and saving")) << result.err;
  const auto done = rarefy_command({"resume", (place / "stopped").string(), "--iterations", "12"});
  if (done.exit_code == 0) {  // unless it was past that by then
    EXPECT_TRUE(bytes_of(place / "stopped/archive.npz") == undisturbed);
  } else {
    EXPECT_TRUE(contains(done.err, "that are done")) << done.err;
  }
}

TEST_F(CommandProgram, ThatFailsNowAndThenIsToldOf) {
  const auto result =
      run(with("fails objective"),
          {"--with-objective", "--retries", "0", "--objective-floor", "-100", "--sigma0", "1.5"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "ended without an answer; see failures.log")) << result.out;
  EXPECT_TRUE(contains(result.out, "QD score")) << result.out;
  const auto log = bytes_of(place / "run/failures.log");
  EXPECT_TRUE(contains(log, "iteration 1, solution ")) << log;
  EXPECT_TRUE(contains(log, "ended with exit status 3")) << log;
  EXPECT_TRUE(contains(log, "standard error: the first number is too large")) << log;
}

TEST_F(CommandProgram, ThatNeverWorksEndsTheRunInItsOwnWords) {
  auto result = run("cat /nowhere");
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_TRUE(contains(result.err, "has not worked once")) << result.err;
  EXPECT_TRUE(contains(result.err, "/nowhere: No such file or directory")) << result.err;
}

// A relative name means the same wherever the run is resumed from; and the program may move.
TEST_F(CommandProgram, IsFoundFromAnyFolderAndMayMove) {
  const auto words = Words{"run", "--command", "python3 simulator.py"} + problem + few;
  ASSERT_EQ(rarefy_command(words, {.folder = place.path()}).exit_code, 0);
  const auto folder = (place / "run").string();
  fs::create_directory(place / "elsewhere");
  const auto resume = [&](const char* iterations, const Words& more = {}) {
    return rarefy_command(Words{"resume", folder, "--iterations", iterations} + more,
                          {.folder = place / "elsewhere"});
  };
  auto result = resume("14");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  fs::rename(place / "simulator.py", place / "elsewhere/moved.py");
  EXPECT_EQ(resume("16").exit_code, 3);
  result = resume("16", {"--command", "python3 elsewhere/moved.py", "--workers", "1"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  result = resume(
      "18", {"--command", "python3 moved.py", "--command-folder", (place / "elsewhere").string()});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  write_text(simulator, kSimulator);
  few[5] = "18";
  few[13] = (place / "whole").string();
  ASSERT_EQ(run(with()).exit_code, 0);
  EXPECT_TRUE(bytes_of(place / "run/archive.npz") == bytes_of(place / "whole/archive.npz"));
}

TEST_F(CommandProgram, OfARunWithoutOneCannotBeNamedWhenResuming) {
  const auto folder = (place / "lp").string();
  ASSERT_EQ(
      rarefy_command({"run", "lp", "--iterations", "1", "--quiet", "--out", folder}).exit_code, 0);
  const auto result = rarefy_command({"resume", folder, "--workers", "3"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(contains(result.err, "workers")) << result.err;
}

// It reads, and keeps its answers to itself. Nobody can tell it from a slow one, but somebody
// should say that nothing comes.
TEST_F(CommandProgram, ThatSaysNothingIsPointedOut) {
  Process process(
      command_words(Words{"run", "--command", "cat > /dev/null; sleep 1000"} + problem + few), {});
  EXPECT_TRUE(process.wait_for_text("no answer in"));
  EXPECT_TRUE(process.wait_for_text("flush every answer"));
  process.send(SIGKILL);
  (void)process.wait();
}

TEST_F(CommandProgram, NeedsADescription) {
  const std::vector<std::pair<Words, std::string>> wrong = {
      {{"run", "--command", "cat", "--low", "0", "--high", "1"}, "needs --n"},
      {{"run", "--command", "cat", "--n", "2", "--low", "0"}, "needs --low and --high"},
      {{"run", "--command", "cat", "--n", "2", "--low", "0,0", "--high", "1"}, "as many as --low"},
      {{"run", "--command", "cat", "--n", "2", "--low", "a", "--high", "1"}, "--low: got 'a'"},
      {{"run", "--command", "cat", "--n", "2", "--low", "1", "--high", "0"}, "low < high"},
      {{"run", "lp", "--command", "cat", "--low", "0", "--high", "1"}, "there is a domain, too"},
      {{"run", "lp", "--low", "0"}, "give one with --command"},
      {{"run", "lp", "--workers", "3"}, "no program evaluates"},
      {{"check", "--n", "3"}, "no program"},
  };
  for (const auto& [words, told] : wrong) {
    const auto result = rarefy_command(words);
    EXPECT_EQ(result.exit_code, 2) << told;
    EXPECT_TRUE(contains(result.err, told)) << result.err;
  }
}

TEST_F(CommandProgram, IsTriedByCheck) {
  const auto check = [&](const std::string& command) {
    return rarefy_command(Words{"check", "--command", command} + problem);
  };
  auto result = check(with());
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "  0 0 0  ->  0 0\n")) << result.out;
  EXPECT_TRUE(contains(result.out, "5 of 5 answered")) << result.out;
  result = check("cat");
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_TRUE(contains(result.out, "FAILED: answered 3 numbers, expected 2")) << result.out;
  result = check("/nowhere/simulate");
  EXPECT_NE(result.exit_code, 0);
  EXPECT_TRUE(contains(result.out + result.err, "/nowhere/simulate")) << result.out << result.err;
}

}  // namespace
