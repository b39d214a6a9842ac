// mpirun -n K rarefy experiment run: trials on ranks.
#include <gtest/gtest.h>

#include <csignal>

#include "on_ranks.hpp"

namespace {

struct MpiExperiment : testing::Test {
  RunPlace place;
  fs::path file = place / "small.toml";

  void write(int iterations, const std::string& seeds = "1-2", const std::string& more = "") const {
    write_text(file, "seeds = '" + seeds + R"('
algorithms = ['dds-kde', 'cma-mae']
domains = ['lp', 'multi-lp']
[set]
n = 20
batch = 8
emitters = 3
buffer = 100
cells = 30
cvt-samples = 300
checkpoint-seconds = 0
iterations = )" + std::to_string(iterations) +
                         "\n" + more);
  }
  [[nodiscard]] Words words(const std::string& folder, int count) const {
    const auto command =
        command_words({"experiment", "run", file.string(), "--out", (place / folder).string()});
    return count == 0 ? command : ranks(count, command);
  }
  [[nodiscard]] ProcessResult run(const std::string& folder, int count) const {
    return run_words(words(folder, count));
  }
  // Files of trials that are there, by their paths in the experiment.
  [[nodiscard]] std::vector<fs::path> files(const std::string& folder, const char* name) const {
    std::vector<fs::path> found;
    if (!fs::exists(place / folder / "trials")) return found;
    for (const auto& entry : fs::recursive_directory_iterator(place / folder / "trials")) {
      if (entry.path().filename() == name)
        found.push_back(entry.path().lexically_relative(place / folder));
    }
    return found;
  }
  void expect_same_archives(const std::string& one, const std::string& other) const {
    const auto archives = files(one, "archive.npz");
    EXPECT_EQ(archives.size(), 8U);
    for (const auto& name : archives) {
      EXPECT_TRUE(bytes_of(place / one / name) == bytes_of(place / other / name)) << name;
    }
  }
};

// The process of that rank whose command line has `text`; 0 where there is none.
pid_t process_of_rank(const std::string& text, int rank) {
  for (const auto process : processes_with(text)) {
    if (rank_of(process) == rank) return process;
  }
  return 0;
}

TEST_F(MpiExperiment, GivesTheSameAsOneProcess) {
  write(60);
  ASSERT_EQ(run("alone", 0).exit_code, 0);
  for (const int count : {2, 3}) {
    const auto name = "ranks-" + std::to_string(count);
    const auto result = run(name, count);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    expect_same_archives("alone", name);
    EXPECT_TRUE(contains(result.out, "2 of 2")) << result.out;
    EXPECT_TRUE(contains(result.err, "default/dds-kde/lp/seed-2: coverage")) << result.err;
  }
  // Any number of ranks goes on where another has stopped, be it none.
  write(60, "1-3");
  EXPECT_EQ(run("ranks-2", 3).exit_code, 0);
  EXPECT_EQ(files("ranks-2", "archive.npz").size(), 12U);
}

TEST_F(MpiExperiment, AKilledRankEndsTheJobAndTheNextGoesOn) {
  write(200);
  ASSERT_EQ(run("alone", 0).exit_code, 0);
  for (const int rank : {1, 2, 0}) {
    SCOPED_TRACE(rank);
    const auto name = "killed-" + std::to_string(rank);
    {
      Process process(words(name, 3), {.prepare = surroundings_in_haste});
      ASSERT_TRUE(process.wait_until([&] { return files(name, "config.toml").size() >= 2; }));
      const auto victim = process_of_rank((place / name).string(), rank);
      ASSERT_GT(victim, 0);
      ::kill(victim, SIGKILL);
      EXPECT_NE(process.wait().exit_code, 0);
    }
    // Ranks that are left end by themselves, or are ended by mpirun.
    ProcessResult result;
    for (int i = 0; i < 100; ++i) {
      result = run(name, 3);
      if (!contains(result.err, "another rarefy") && !contains(result.err, "in use")) break;
    }
    ASSERT_EQ(result.exit_code, 0) << result.err;
    expect_same_archives("alone", name);
  }
}

TEST_F(MpiExperiment, AnInterruptStopsAllRanksAndSaves) {
  write(1'000'000'000);
  Process process(words("run", 3), {.prepare = surroundings_in_haste});
  ASSERT_TRUE(process.wait_until([&] { return files("run", "config.toml").size() >= 2; }));
  const auto rank_0 = process_of_rank((place / "run").string(), 0);
  ASSERT_GT(rank_0, 0);
  ::kill(rank_0, SIGINT);
  const auto& end = process.wait();
  EXPECT_TRUE(contains(end.err, "stopped, 0 of 8 trials are done")) << end.err;
  EXPECT_EQ(files("run", "archive.npz").size(), 2U);
}

TEST_F(MpiExperiment, AFailedTrialIsTold) {
  write(20, "1",
        "[[matrix]]\n[[matrix]]\ndomains = 'lp'\nset = { initial-solutions = 'none.npy' }\n");
  const auto result = run("run", 3);
  EXPECT_NE(result.exit_code, 0);
  EXPECT_TRUE(contains(result.err, "2 of 6 trials failed")) << result.err;
  EXPECT_TRUE(contains(result.err, "none.npy")) << result.err;
  EXPECT_EQ(files("run", "archive.npz").size(), 4U);
}

TEST_F(MpiExperiment, WhatIsWrongIsToldOnceAndNobodyWaits) {
  write_text(file, "domains = 'amr'\n");
  const auto result = run("run", 3);
  EXPECT_NE(result.exit_code, 0);
  EXPECT_EQ(result.err.find("did you mean 'arm'"), result.err.rfind("did you mean 'arm'"));
  EXPECT_TRUE(contains(result.err, "did you mean 'arm'")) << result.err;
  write(20);
  Process list(words("run", 3) + Words{"--dry-run"}, {.prepare = surroundings_in_haste});
  EXPECT_EQ(list.wait().exit_code, 0);
  EXPECT_TRUE(contains(list.wait().out, "default/dds-kde/lp/seed-1  waits"));
}

}  // namespace
