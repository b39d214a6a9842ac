// mpirun -n K rarefy: the same bits as without, and nothing lost when ranks die.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <random>

#include "on_ranks.hpp"

namespace {

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// ---- the same bits ------------------------------------------------------------------------------

struct Mpi : testing::Test {
  RunPlace place;
  std::string folder(const std::string& name) const { return (place / name).string(); }
  std::string archive(const std::string& name) const {
    return bytes_of(place / (name + "/archive.npz"));
  }
  // Answers as it is asked, after a nap where there is one to take.
  Words program(const std::string& special = {}, int iterations = 12) const {
    write_text(place / "simulate.sh", "while read -r x y z; do\n" + special +
                                          "  [ -z \"$NAP\" ] || sleep $NAP\n  echo $x $y\ndone\n");
    return Words{"run", "--command", "sh " + folder("simulate.sh"), "--n", "3"} +
           Words{"--low", "-2,-2", "--high", "2,2", "--grid", "10", "--emitters", "2"} +
           Words{"--batch", "8", "--seed", "3", "--iterations", std::to_string(iterations)};
  }
  void expect_same(const Words& arguments, const std::vector<int>& sizes, const Words& more = {}) {
    const auto alone = rarefy_command(arguments + Words{"--out", folder("alone"), "--quiet"});
    ASSERT_EQ(alone.exit_code, 0) << alone.err;
    for (const int size : sizes) {
      const auto name = "ranks-" + std::to_string(size);
      const auto result =
          run_words(rarefy_on(size, arguments + more + Words{"--out", folder(name)}));
      ASSERT_EQ(result.exit_code, 0) << result.err;
      EXPECT_EQ(count_of(result.out, " MPI rank"), 1U) << result.out;
      EXPECT_TRUE(contains(result.out, std::to_string(size - 1) + " MPI rank")) << result.out;
      EXPECT_TRUE(archive(name) == archive("alone")) << size;
    }
  }
};

TEST_F(Mpi, FindsTheSameOnTheProjection) {
  expect_same(SmallCase{"lp", "default"}.arguments(), {2, 3, 5});
}
TEST_F(Mpi, FindsTheSameOnTheArm) {
  // With other instructions than the best, which all ranks must have: results differ by them.
  expect_same(SmallCase{"arm", "default"}.arguments(100) + Words{"--instruction-set", "baseline"},
              {2, 5}, {"--threads", "2"});
}
TEST_F(Mpi, FindsTheSameInTheMaze) {
  expect_same({"run", "maze", "--iterations", "4", "--seed", "2"}, {3, 5});
}
TEST_F(Mpi, FindsTheSameByAProgram) { expect_same(program(), {2, 5}); }
TEST_F(Mpi, FindsTheSameBySeveralProgramsARank) { expect_same(program(), {3}, {"--workers", "3"}); }

TEST_F(Mpi, EmittersNeedNotWaitForEachOther) {
  const auto words = program() + Words{"--asynchronous", "--quiet"};
  const auto go = [&](const Words& command) {
    const auto result = run_words(command);
    EXPECT_EQ(result.exit_code, 0) << result.err;
  };
  go(rarefy_on(4, words + Words{"--out", folder("first")}));
  // Another time, the order is another; with the same order, everything is the same.
  const auto order = Words{"--order", folder("first")};
  go(rarefy_on(3, words + order + Words{"--out", folder("ranks")}));
  go(command_words(words + order + Words{"--out", folder("alone")}));
  EXPECT_TRUE(archive("ranks") == archive("first"));
  EXPECT_TRUE(archive("alone") == archive("first"));
}

TEST_F(Mpi, TellsOfFailures) {
  const auto words =
      program("  case $x in -*) echo \"no $x\" >&2; exit 3;; esac\n", 3) + Words{"--retries", "1"};
  const auto alone = rarefy_command(words + Words{"--out", folder("alone")});
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  const auto result = run_words(rarefy_on(3, words + Words{"--out", folder("ranks")}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(archive("ranks") == archive("alone"));
  // The same line in both summaries, and the same lines in the files, in any order.
  const auto line_of = [](const std::string& text) {
    const auto at = text.find("  program ");
    return at == text.npos ? std::string("none") : text.substr(at, text.find('\n', at) - at);
  };
  EXPECT_TRUE(contains(line_of(result.out), "ended without an answer")) << result.out;
  EXPECT_EQ(line_of(result.out), line_of(alone.out));
  const auto sorted = [&](const std::string& name) {
    std::istringstream text(bytes_of(place / (name + "/failures.log")));
    Words lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    std::ranges::sort(lines);
    return lines;
  };
  EXPECT_GT(sorted("alone").size(), 4U);
  EXPECT_EQ(sorted("ranks"), sorted("alone"));
}

TEST_F(Mpi, TellsOnceOfAProgramThatNeverWorks) {
  const auto words = program("  echo out of order >&2; exit 4\n") + Words{"--out", folder("run")};
  const auto result = run_words(rarefy_on(3, words));
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_EQ(count_of(result.err, "has not worked once in"), 1U) << result.err;
  EXPECT_TRUE(contains(result.err, "out of order")) << result.err;
  // It can be mended, and gone on with.
  (void)program();
  ASSERT_EQ(rarefy_command({"resume", folder("run"), "--quiet"}).exit_code, 0);
  ASSERT_EQ(rarefy_command(program() + Words{"--out", folder("alone"), "--quiet"}).exit_code, 0);
  EXPECT_TRUE(archive("run") == archive("alone"));
}

TEST_F(Mpi, SaysEverythingOnce) {
  const auto words = SmallCase{"lp", "default"}.arguments(5) + Words{"--out", folder("run")};
  ASSERT_EQ(rarefy_command(words + Words{"--quiet"}).exit_code, 0);
  auto result = run_words(rarefy_on(3, words));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(count_of(result.err, "holds a run already"), 1U) << result.err;
  result = run_words(rarefy_on(3, {"run", "lp", "--sede", "3"}));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(count_of(result.err, "unknown option '--sede'"), 1U) << result.err;
  result = run_words(rarefy_on(2, {"list"}));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, rarefy_command({"list"}).out);
}

// ---- who is a rank, and who is not --------------------------------------------------------------

TEST_F(Mpi, IsNotForOneProcessNorForAProgramOfAScript) {
  const auto words = SmallCase{"lp", "default"}.arguments(5);
  auto result = run_words(rarefy_on(1, words + Words{"--out", folder("one")}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_FALSE(contains(result.out, "MPI rank")) << result.out;

  const auto script = std::string(RAREFY_COMMAND_PATH) + " --version; :";
  result = run_words(ranks(2, {"sh", "-c", script}));
  EXPECT_EQ(count_of(result.out, "rarefy "), 2U) << result.out;
  result = run_words(ranks(2, {"env", "RAREFY_MPI=on", "sh", "-c", script}));
  EXPECT_EQ(count_of(result.out, "rarefy "), 1U) << result.out;
}

TEST(MpiSeat, ACommandWithoutMpiRefusesToBeStartedSeveralTimes) {
  auto result = run_words(ranks(3, {RAREFY_MPI_SEAT}));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(count_of(result.out, "was started 3 times as one job"), 1U) << result.out;
  EXPECT_TRUE(contains(result.out, "built without MPI")) << result.out;
  result = run_words({RAREFY_MPI_SEAT});
  EXPECT_EQ(result.out, "alone\n");
}

TEST(MpiSeat, GoesByTheEnvironmentOfALauncherAlone) {
  const auto says = [](std::vector<std::pair<const char*, const char*>> variables) {
    return run_words({RAREFY_MPI_SEAT},
                     [variables] {
                       for (const auto& [name, value] : variables) ::setenv(name, value, 1);
                       return 0;
                     })
        .out;
  };
  // This test is no launcher.
  EXPECT_EQ(says({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "4"}}), "alone\n");
  const std::pair<const char*, const char*> on{"RAREFY_MPI", "on"};
  EXPECT_TRUE(contains(says({on, {"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "4"}}),
                       "started 4 times"));
  EXPECT_TRUE(contains(says({on, {"PMI_RANK", "0"}, {"PMI_SIZE", "7"}}), "started 7 times"));
  EXPECT_TRUE(contains(says({on, {"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "3"}}),
                       "started 3 times"));
  EXPECT_TRUE(contains(says({on, {"PMIX_RANK", "0"}}), "started several times"));
  EXPECT_EQ(says({on, {"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}}), "alone\n");
  EXPECT_EQ(says({on, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}}), "alone\n");
  EXPECT_EQ(says({on, {"OMPI_COMM_WORLD_RANK", "zero"}, {"OMPI_COMM_WORLD_SIZE", "4"}}), "alone\n");
  EXPECT_TRUE(contains(says({{"RAREFY_MPI", "yes"}}), "expected on or off"));
}

// ---- jobs, errors and the end, from rank 0 ------------------------------------------------------

TEST(MpiRanks, EvaluateManyJobsAtATime) {
  const RunPlace place;
  const auto before = std::chrono::steady_clock::now();
  const auto result = run_words(ranks(4, {RAREFY_MPI_RANKS, place.path().string()}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "all is well\n") << result.err;
  // The last evaluation would take three hours.
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::minutes(9));
}

// ---- death --------------------------------------------------------------------------------------

struct MpiDeath : Mpi {
  // Notes every answer.
  Words arguments = program("  echo >>" + folder("answers") + "\n", 30) + Words{"--journal", "on"};
  int kills = 0;

  void make_undisturbed() {
    const auto result =
        rarefy_command(arguments + Words{"--out", folder("undisturbed"), "--quiet"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(answers(), kRows);
    fs::remove(place / "answers");
  }
  static constexpr long kRows = 30L * 2 * 8;
  [[nodiscard]] long answers() const {
    return static_cast<long>(bytes_of(place / "answers").size());
  }
  [[nodiscard]] Words begin_or_resume() const {
    if (fs::exists(place / "run/config.toml")) return {"resume", folder("run"), "--quiet"};
    return arguments + Words{"--out", folder("run"), "--quiet", "--overwrite"};
  }
  static int with_naps() {
    ::setenv("NAP", "0.01", 1);
    return surroundings_in_haste();
  }
  // Nobody of this job is left, neither ranks nor programs.
  void expect_nobody_left() const {
    const auto name = place.path().string();
    EXPECT_TRUE(comes_true([&] { return processes_with(name).empty(); }));
  }
  static pid_t process_of_rank(pid_t mpirun, int rank) {
    for (const auto child : children_of(mpirun)) {
      if (rank_of(child) == rank) return child;
    }
    return -1;
  }
  // The end of a job one of whose ranks was killed.
  static void expect_disturbed_end(Process& job) {
    const auto all_ranks_ended = [&] {
      const auto ranks = children_of(job.id());
      return std::ranges::none_of(ranks, lives);
    };
    ASSERT_TRUE(comes_true(all_ranks_ended));
    // Where a rank dies while MPI begins, the mpirun of Open MPI 4.1.4 may wait for ever for a lock
    // of its own (in PMIx_server_finalize), with nobody left to wait for.
    constexpr std::chrono::seconds kItsTime(10);
    const auto until = std::chrono::steady_clock::now() + kItsTime;
    job.wait_until([&] { return std::chrono::steady_clock::now() >= until; });
    job.send(SIGKILL);
    EXPECT_NE(job.wait().exit_code, 0) << "it was not disturbed";
  }
  void finish(bool with_ranks) {
    const auto words = begin_or_resume();
    const auto result = with_ranks ? run_words(rarefy_on(3, words)) : rarefy_command(words);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_TRUE(archive("run") == archive("undisturbed"));
    expect_nobody_left();
    // What was under way is made again, two rows a rank at most, but nothing that was finished.
    EXPECT_GE(answers(), kRows);
    EXPECT_LE(answers(), kRows + 2 * 3 * kills);
    std::cout << kills << " kills, " << answers() - kRows << " of " << kRows
              << " evaluations made twice\n";
  }
};

TEST_F(MpiDeath, OfAnyRankLosesNothing) {
  make_undisturbed();
  std::mt19937 random(5);
  for (int round = 0; round < 6; ++round) {
    if (round % 3 == 2) {  // a few rows without MPI in between
      Process alone(command_words(begin_or_resume()), {.prepare = with_naps});
      ASSERT_TRUE(alone.wait_until([&] { return fs::exists(place / "run/journal.bin"); }));
      const auto until =
          std::chrono::steady_clock::now() + std::chrono::milliseconds(random() % 90);
      alone.wait_until([&] { return std::chrono::steady_clock::now() >= until; });
      alone.send(SIGKILL);
      (void)alone.wait();
      ++kills;
    }
    const auto size = 3 + static_cast<int>(random() % 2);
    Process job(rarefy_on(size, begin_or_resume()), {.prepare = with_naps});
    const auto victim = round % 3 == 1 ? 0 : 1 + static_cast<int>(random() % 2);
    ASSERT_TRUE(job.wait_until([&] { return process_of_rank(job.id(), victim) > 0; }));
    if (round > 0) {  // the first may die at any moment, others once there is something to lose
      const auto grown = [&] {
        std::error_code none;
        return fs::file_size(place / "run/journal.bin", none);
      };
      const auto before = grown();
      job.wait_until([&] { return grown() != before; });
    }
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(random() % 120);
    job.wait_until([&] { return std::chrono::steady_clock::now() >= until; });
    const auto process = process_of_rank(job.id(), victim);
    ASSERT_GT(process, 1) << "the job ended by itself: " << job.wait().err;
    ::kill(process, SIGKILL);
    ++kills;
    expect_disturbed_end(job);
    expect_nobody_left();
  }
  finish(true);
}

TEST_F(MpiDeath, OfTheLauncherLosesNothing) {
  make_undisturbed();
  Process job(rarefy_on(3, begin_or_resume()), {.prepare = with_naps});
  ASSERT_TRUE(job.wait_until([&] { return fs::exists(place / "run/journal.bin"); }));
  job.send(SIGKILL);
  ++kills;
  (void)job.wait();
  expect_nobody_left();
  finish(false);
}

TEST_F(MpiDeath, BySignalSavesFirst) {
  make_undisturbed();
  Process job(rarefy_on(3, begin_or_resume()), {.prepare = [] {
                ::setenv("NAP", "0.1", 1);
                return surroundings();  // so that rank 0 has a second
              }});
  ASSERT_TRUE(job.wait_until([&] { return fs::exists(place / "run/journal.bin"); }));
  job.send(SIGTERM);
  ++kills;
  const auto& end = job.wait();
  EXPECT_NE(end.exit_code, 0);
  EXPECT_TRUE(contains(end.err, "stopping and saving")) << end.err;
  expect_nobody_left();
  finish(true);
}

}  // namespace
