// rarefy experiment run: killed, interrupted, extended, and looked at.
#include <algorithm>
#include <chrono>
#include <random>
#include <set>

#include "command_line.hpp"
#include "run_files.hpp"
#include "support/without_seconds.hpp"

namespace {

constexpr const char* kTitle = "title = 'Small'\n";
constexpr const char* kMatrix = R"(
algorithms = ['dds-kde', 'map-elites-line']
domains = ['lp', 'multi-lp']
[set]
n = 20
batch = 8
emitters = 3
buffer = 100
cells = 30
cvt-samples = 300
frames = 4
checkpoint-seconds = 0
)";

struct CommandExperiment : testing::Test {
  RunPlace place;
  fs::path file = place / "small.toml";
  fs::path folder = place / "experiment";

  void write(const std::string& seeds, const std::string& iterations,
             const std::string& more = "") const {
    write_text(file, kTitle + ("seeds = '" + seeds + "'\n") + kMatrix +
                         "iterations = " + iterations + "\n" + more);
  }
  [[nodiscard]] Words words(const Words& more = {}) const {
    return Words{"experiment", "run", file.string(), "--out", folder.string()} + more;
  }
  [[nodiscard]] ProcessResult run(const Words& more = {"--jobs", "2"}) const {
    return rarefy_command(words(more));
  }
  [[nodiscard]] fs::path trial(const std::string& name) const { return folder / "trials" / name; }
  /// The trials that there are, by their names.
  [[nodiscard]] std::set<std::string> trials() const {
    std::set<std::string> names;
    if (!fs::exists(folder / "trials")) return names;
    for (const auto& entry : fs::recursive_directory_iterator(folder / "trials")) {
      if (entry.path().filename() != "config.toml") continue;
      names.insert(entry.path().parent_path().lexically_relative(folder / "trials").string());
    }
    return names;
  }
  [[nodiscard]] std::size_t recorded() const {
    const auto text = bytes_of(folder / "results.csv");
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) - 1;
  }
};

// All trials of two experiments are the same, but for how long they took.
void expect_same_trials(const fs::path& one, const fs::path& other) {
  std::size_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(one / "trials")) {
    if (!entry.is_regular_file()) continue;
    const auto name = entry.path().lexically_relative(one);
    SCOPED_TRACE(name.string());
    if (name.filename() == "checkpoint.bin") continue;  // has the time in it
    ++count;
    const auto ours = bytes_of(entry.path()), theirs = bytes_of(other / name);
    if (name.filename() == "metrics.csv") {
      EXPECT_EQ(without_seconds(ours), without_seconds(theirs));
    } else {
      EXPECT_TRUE(ours == theirs);
    }
  }
  EXPECT_GT(count, 0U);
}

TEST_F(CommandExperiment, RunsAllTrialsAndTellsTheirCoverage) {
  write("1-2", "40");
  const auto result = run();
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (const auto* part : {"domain", "coverage %", "lp", "multi-lp", "dds-kde", "map-elites-line",
                           "2 of 2", " +- ", "rarefy experiment report "}) {
    EXPECT_TRUE(contains(result.out, part)) << part << "\n" << result.out;
  }
  EXPECT_TRUE(contains(result.err, "default/dds-kde/lp/seed-2: coverage ")) << result.err;
  EXPECT_EQ(result.err.find_first_of("\r\x1b"), std::string::npos) << result.err;
  EXPECT_EQ(trials().size(), 8U);
  EXPECT_EQ(recorded(), 8U);
  // Each is an ordinary run.
  const auto show = rarefy_command({"show", trial("default/dds-kde/lp/seed-1").string()});
  EXPECT_EQ(show.exit_code, 0) << show.err;
}

TEST_F(CommandExperiment, TheCommandOfALineRepeatsItsTrial) {
  write("3", "40");
  ASSERT_EQ(run({"--quiet"}).exit_code, 0);
  std::istringstream lines(bytes_of(folder / "results.csv"));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    const auto name = line.substr(0, line.find(','));
    SCOPED_TRACE(name);
    const auto command = line.substr(line.find(",rarefy run ") + 7);
    Process shell({"sh", "-c", RAREFY_COMMAND_PATH + command + " --quiet --overwrite --out again"},
                  {.folder = place.path()});
    ASSERT_EQ(shell.wait().exit_code, 0) << command << shell.wait().err;
    EXPECT_TRUE(bytes_of(place / "again" / "archive.npz") == bytes_of(trial(name) / "archive.npz"));
  }
}

TEST_F(CommandExperiment, KilledAtAnyMomentItGoesOnToTheSameBits) {
  write("1-2", "60");
  ASSERT_EQ(run({"--jobs", "2", "--quiet"}).exit_code, 0);
  const auto undisturbed = place / "undisturbed";
  fs::rename(folder, undisturbed);
  std::mt19937 random(5);
  for (int kill = 0; kill < 12; ++kill) {
    Process process(command_words(words({"--jobs", "2", "--quiet"})));
    // Every other time, only when it has got somewhere, whatever the machine.
    if (kill % 2 == 1) {
      const auto before = trials().size();
      process.wait_until([&] { return trials().size() > before; });
    }
    const auto moment =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(random() % 120);
    process.wait_until([&] { return std::chrono::steady_clock::now() >= moment; });
    process.send(SIGKILL);
    (void)process.wait();
    for (const auto& name : trials()) {
      SCOPED_TRACE(name);
      for (const auto& entry : fs::directory_iterator(trial(name))) {
        if (entry.path().filename() == "metrics.csv") (void)table_of(bytes_of(entry.path()));
      }
    }
  }
  const auto last = run({"--jobs", "2", "--quiet"});
  ASSERT_EQ(last.exit_code, 0) << last.err << last.signal;
  expect_same_trials(undisturbed, folder);
  EXPECT_EQ(recorded(), 8U);
}

TEST_F(CommandExperiment, InterruptedItSavesAndGoesOn) {
  write("1-2", "100");
  ASSERT_EQ(run({"--jobs", "2", "--quiet"}).exit_code, 0);
  fs::rename(folder, place / "undisturbed");
  Process process(command_words(words({"--jobs", "2"})));
  ASSERT_TRUE(process.wait_until([&] { return !trials().empty(); }));
  process.send(SIGINT);
  const auto& end = process.wait();
  if (end.exit_code != 0) {  // it may have been done already
    EXPECT_EQ(end.exit_code, 130) << end.err;
    EXPECT_TRUE(contains(end.err, "every trial finishes its iteration")) << end.err;
    EXPECT_TRUE(contains(end.err, "the same command goes on")) << end.err;
  }
  for (const auto& name : trials()) EXPECT_TRUE(fs::exists(trial(name) / "archive.npz")) << name;
  EXPECT_EQ(run().exit_code, 0);
  expect_same_trials(place / "undisturbed", folder);
}

TEST_F(CommandExperiment, ASecondInterruptLeavesAtOnce) {
  write_text(file, "domains = 'lp'\n[set]\niterations = 1000000000\n");
  Process process(command_words(words()));
  ASSERT_TRUE(process.wait_until([&] { return !trials().empty(); }));
  process.send(SIGINT);
  ASSERT_TRUE(process.wait_for_text("every trial finishes its iteration"));
  process.send(SIGINT);
  EXPECT_EQ(process.wait().exit_code, 130);
}

TEST_F(CommandExperiment, RunsOnlyWhatIsMissing) {
  write("1", "40");
  ASSERT_EQ(run().exit_code, 0);
  const auto checkpoint = trial("default/dds-kde/lp/seed-1") / "checkpoint.bin";
  const auto written = fs::last_write_time(checkpoint);
  write("1-3", "40");
  const auto listed = run({"--dry-run"});
  EXPECT_EQ(listed.exit_code, 0);
  EXPECT_TRUE(contains(listed.out, "default/dds-kde/lp/seed-1  finished\n")) << listed.out;
  EXPECT_TRUE(contains(listed.out, "default/dds-kde/lp/seed-2  waits\n")) << listed.out;
  EXPECT_EQ(trials().size(), 4U) << "a dry run runs nothing";
  const auto result = run();
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_FALSE(contains(result.err, "seed-1:")) << result.err;
  EXPECT_EQ(recorded(), 12U);
  EXPECT_EQ(fs::last_write_time(checkpoint), written);
  // Nothing is missing: it says so at once.
  const auto again = run();
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_TRUE(contains(again.err, "12 of 12 done") || again.err.empty()) << again.err;
}

TEST_F(CommandExperiment, ADryRunMakesNoFolder) {
  write("1", "40");
  EXPECT_EQ(run({"--dry-run"}).exit_code, 0);
  EXPECT_FALSE(fs::exists(folder));
}

TEST_F(CommandExperiment, AFailedTrialIsToldAndTriedAgain) {
  const auto numbers = place / "x.npy";
  const auto more =
      "[[matrix]]\n[[matrix]]\nseeds = 9\nalgorithms = 'dds-kde'\ndomains = 'lp'\n"
      "set = { initial-solutions = '" +
      numbers.string() + "' }\n";
  write("1", "30", more);
  const auto result = run();
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_TRUE(contains(result.err, "failed: " + numbers.string())) << result.err;
  EXPECT_TRUE(contains(result.err, "1 of 5 trials failed")) << result.err;
  EXPECT_TRUE(contains(result.err, (folder / "failures").string())) << result.err;
  EXPECT_EQ(recorded(), 4U);
  std::vector<fs::path> failures;
  for (const auto& entry : fs::recursive_directory_iterator(folder / "failures")) {
    if (entry.is_regular_file()) failures.push_back(entry.path());
  }
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_TRUE(contains(bytes_of(failures[0]), numbers.string()));
  EXPECT_TRUE(contains(run({"--dry-run"}).out, "failed: " + numbers.string()));

  rarefy::write_npy(numbers, rarefy::Batch(1, 20));
  EXPECT_EQ(run().exit_code, 0);
  EXPECT_EQ(recorded(), 5U);
  EXPECT_FALSE(fs::exists(failures[0]));
}

TEST_F(CommandExperiment, AProgramThatNeverWorksFailsItsTrialAndNoOther) {
  const auto begun = rarefy_command({"run", "--command", "while read -r x y; do echo $x; done",
                                     "--name", "one", "--n", "2", "--low", "0", "--high", "1",
                                     "--iterations", "5", "--out", (place / "run").string()});
  ASSERT_EQ(begun.exit_code, 0) << begun.err;
  write_text(file,
             "base = 'run/config.toml'\n[[matrix]]\n[[matrix]]\nseeds = 2\n"
             "set = { command = 'exit 7' }\n");
  const auto result = run();
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_TRUE(contains(result.err, "1 of 2 trials failed")) << result.err;
  EXPECT_TRUE(fs::exists(trial("default/dds-kde/one/seed-1") / "archive.npz"));
  EXPECT_TRUE(bytes_of(trial("default/dds-kde/one/seed-1") / "archive.npz") ==
              bytes_of(place / "run" / "archive.npz"));
}

TEST_F(CommandExperiment, WarningsOfTrialsAreKeptAndTold) {
  const auto begun = rarefy_command({"run", "--command", "while read -r x y; do echo 7; done",
                                     "--name", "far", "--n", "2", "--low", "0", "--high", "1",
                                     "--iterations", "25", "--out", (place / "run").string()});
  ASSERT_EQ(begun.exit_code, 0) << begun.err;
  write_text(file, "base = 'run/config.toml'\nseeds = '1-2'\n");
  const auto result = run();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const std::string warning = "100 % of the evaluations have features outside the box";
  EXPECT_TRUE(contains(result.err, "default/dds-kde/far/seed-2: warning: " + warning))
      << result.err;
  EXPECT_TRUE(contains(result.err, "2 of 2 finished trials have warnings")) << result.err;
  EXPECT_TRUE(contains(bytes_of(trial("default/dds-kde/far/seed-1") / "warnings.txt"), warning));
  EXPECT_TRUE(contains(bytes_of(folder / "results.csv"), ",warnings,"));
  const auto report = rarefy_command({"experiment", "report", folder.string()});
  EXPECT_TRUE(contains(report.out, "2 of 2 trials warned; seed 1: " + warning)) << report.out;
  // Looked at once more, with nothing left to do, they are still counted.
  EXPECT_TRUE(contains(run().err, "2 of 2 finished trials have warnings"));
}

TEST_F(CommandExperiment, ChangedTrialsAreRefusedUnlessOverwritten) {
  write("1", "30");
  ASSERT_EQ(run().exit_code, 0);
  write("1", "30", "sigma0 = 0.75\n");
  const auto refused = run();
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(contains(refused.err, "default/dds-kde/lp/seed-1: sigma0 ")) << refused.err;
  EXPECT_TRUE(contains(refused.err, "0.75 here")) << refused.err;
  EXPECT_TRUE(contains(refused.err, "--overwrite")) << refused.err;
  EXPECT_TRUE(contains(run({"--dry-run"}).out, "another run is there: sigma0")) << refused.err;
  const auto again = run({"--overwrite"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_TRUE(
      contains(bytes_of(trial("default/dds-kde/lp/seed-1") / "config.toml"), "sigma0 = 0.75"));
  EXPECT_EQ(run().exit_code, 0);
}

TEST_F(CommandExperiment, TwoCannotRunInOneFolder) {
  write("1", "1000000000");
  Process process(command_words(words({"--jobs", "1"})));
  ASSERT_TRUE(process.wait_until([&] { return !trials().empty(); }));
  const auto second = run();
  EXPECT_EQ(second.exit_code, 4);
  EXPECT_TRUE(contains(second.err, "is being run by another rarefy")) << second.err;
  EXPECT_EQ(run({"--dry-run"}).exit_code, 0) << "looking is allowed";
  process.send(SIGKILL);
  (void)process.wait();
}

TEST_F(CommandExperiment, WrongFilesAreToldAtOnce) {
  write_text(file, "domains = ['lp', 'amr']\nseedz = 3\n");
  const auto result = run();
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(contains(result.err, "small.toml:1: ")) << result.err;
  EXPECT_TRUE(contains(result.err, "did you mean 'arm'")) << result.err;
  EXPECT_TRUE(contains(result.err, "small.toml:2: ")) << result.err;
  EXPECT_FALSE(fs::exists(folder));
  EXPECT_EQ(rarefy_command({"experiment", "run", (place / "none.toml").string()}).exit_code, 4);
  write("1", "30");
  EXPECT_EQ(run({"--jobs", "-1"}).exit_code, 2);
}

TEST_F(CommandExperiment, QuietSaysNothing) {
  write("1", "30");
  const auto result = run({"--quiet"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out + result.err, "");
}

TEST_F(CommandExperiment, TheFolderIsNamedAfterTheFile) {
  write("1", "30");
  const auto result =
      rarefy_command({"experiment", "run", file.string(), "--quiet"}, {.folder = place.path()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(fs::exists(place / "runs" / "small" / "results.csv"));
}

TEST_F(CommandExperiment, OnATerminalLinesAreDrawnAgain) {
  if (!have_terminal()) GTEST_SKIP() << kNoTerminal;
  write("1", "1000000000");
  Process process(command_words(words({"--jobs", "2"})), {.terminal = true, .columns = 70});
  const auto& text = process.so_far().out;
  ASSERT_TRUE(process.wait_until([&] {
    return contains(text, "\x1b[3A") && contains(text, "0 of 4 done, 2 running, 2 waiting");
  }));
  EXPECT_TRUE(contains(text, "  default/dds-kde/lp/seed-1")) << text;
  // No line is wider than the terminal.
  process.send(SIGINT);
  const auto& end = process.wait();
  EXPECT_EQ(end.exit_code, 130);
  std::istringstream lines(end.out.substr(0, end.out.find("every trial")));
  for (std::string line; std::getline(lines, line);) {
    const auto begins = line.rfind("\x1b[K");
    if (begins == std::string::npos) continue;
    EXPECT_LE(line.size() - begins - 3, 70U) << line;
  }
}

}  // namespace
