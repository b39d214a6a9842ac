// Processes of evaluators: what kills them, what they leave behind, what they inherit.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <atomic>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <thread>

#include "evaluators/programs.hpp"
#include "support/temporary_folder.hpp"

namespace {

using rarefy::Batch;
using rarefy::Evaluation;
using rarefy::Index;
using rarefy::ProgramEvaluator;
using rarefy::ProgramOptions;
using rarefy::ProgramProtocol;

std::vector<pid_t> ids_in(const std::filesystem::path& folder) {
  std::vector<pid_t> ids;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    ids.push_back(std::stoi(entry.path().filename().string()));
  }
  return ids;
}

// Kills children of this process at random moments while `work` is called again and again, until
// there were `kills`.
template <typename Work>
int kill_children_during(int kills, unsigned seed, Work work) {
  std::atomic<int> killed = 0;
  std::thread killer([&] {
    std::mt19937 random(seed);
    while (killed < kills) {
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
      const auto children = children_of(::getpid());
      if (children.empty()) continue;
      // Its keeper is among them, now and then.
      const auto victim = children[random() % children.size()];
      if (lives(victim) && ::kill(victim, SIGKILL) == 0) ++killed;
    }
  });
  while (killed < kills) work();
  killer.join();
  return killed;
}

void expect_same_in_spite_of_kills(ProgramOptions options, Index rows, int kills) {
  options.solution_dim = options.feature_dim = 2;
  options.workers = 3;
  options.retries = 1'000'000;
  const auto solutions = numbered_rows(rows);
  ProgramEvaluator undisturbed(options);
  Evaluation expected(rows, 2);
  undisturbed.evaluate(solutions, expected.span());

  ProgramEvaluator evaluator(options);
  int batches = 0;
  const int killed = kill_children_during(kills, 7, [&] {
    Evaluation out(rows, 2);
    evaluator.evaluate(solutions, out.span());
    ++batches;
    ASSERT_EQ(out.valid, expected.valid);
    ASSERT_EQ(out.objectives, expected.objectives);
    ASSERT_TRUE(std::ranges::equal(out.features.values(), expected.features.values()));
  });
  EXPECT_EQ(killed, kills);
  std::cout << killed << " kills, " << batches << " batches of " << rows << " rows, "
            << evaluator.counts().workers_started << " workers started, "
            << evaluator.counts().rows_retried << " rows tried again\n";
}

TEST(ProgramProcesses, MayBeKilledAtAnyMomentByLines) {
  expect_same_in_spite_of_kills({.command = kEcho}, 300, 200);
}

TEST(ProgramProcesses, MayBeKilledAtAnyMomentByArrays) {
  expect_same_in_spite_of_kills({.arguments = {"cat"}, .protocol = ProgramProtocol::npy}, 300, 80);
}

TEST(ProgramProcesses, MayBeKilledAtAnyMomentByRuns) {
  expect_same_in_spite_of_kills({.arguments = {"echo"}, .protocol = ProgramProtocol::once}, 50, 40);
}

// A process in a group of its own.
const std::string kOwnGroup =
    "import os, time\n"
    "if os.fork() == 0:\n"
    "    os.setpgid(0, 0)\n"
    "    open(str(os.getpid()), \"w\").close()\n"
    "    time.sleep(1000)\n";

// Workers and their children leave their numbers in a folder, and stay.
ProgramOptions staying(const std::filesystem::path& folder) {
  return {.command = "touch $$; sleep 1000 & touch $!; " + python() + " -c '" + kOwnGroup +
                     "'; read -r x; sleep 1000",
          .folder = folder,
          .solution_dim = 1,
          .feature_dim = 1,
          .workers = 2};
}

// In another thread than the main one, nothing but the keeper is there to end them.
void expect_nobody_outlives(bool in_main_thread) {
  const TemporaryFolder folder;
  const auto child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto evaluate = [&] {
      ProgramEvaluator evaluator(staying(folder.path()));
      Evaluation out(2, 1);
      evaluator.evaluate(numbered_rows(2, {}, 1), out.span());
    };
    if (in_main_thread) {
      evaluate();
    } else {
      std::thread(evaluate).join();
    }
    ::_exit(0);
  }
  ASSERT_TRUE(comes_true([&] { return ids_in(folder.path()).size() == 6; }));
  const auto helpers = children_of(child);  // the keeper as well
  EXPECT_EQ(helpers.size(), 3U);
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  for (const auto id : ids_in(folder.path())) EXPECT_TRUE(comes_true([&] { return !lives(id); }));
  for (const auto id : helpers) EXPECT_TRUE(comes_true([&] { return !lives(id); }));
}
TEST(ProgramProcesses, DoNotOutliveAProcessThatIsKilled) { expect_nobody_outlives(true); }
TEST(ProgramProcesses, DoNotOutliveAThreadsProcessThatIsKilled) { expect_nobody_outlives(false); }

TEST(ProgramProcesses, EndWithTheEvaluator) {
  const TemporaryFolder folder;
  {
    ProgramEvaluator evaluator(staying(folder.path()));
    const auto solutions = numbered_rows(2, {}, 1);
    Evaluation out(2, 1);
    evaluator.begin(0, solutions, out.span());
    ASSERT_TRUE(comes_true([&] { return ids_in(folder.path()).size() == 6; }));
  }
  // Those that we started are gone; their children are killed, and die when they come to it.
  for (const auto id : ids_in(folder.path())) EXPECT_TRUE(comes_true([&] { return !lives(id); }));
  EXPECT_TRUE(children_of(::getpid()).empty());
}

TEST(ProgramProcesses, HaveAnotherKeeperWhereOneWasKilled) {
  const TemporaryFolder folder;
  const auto child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::thread([&] {
      ProgramEvaluator evaluator(staying(folder.path()));
      Evaluation out(2, 1);
      evaluator.evaluate(numbered_rows(2, {}, 1), out.span());
    }).join();
    ::_exit(0);
  }
  ASSERT_TRUE(comes_true([&] { return ids_in(folder.path()).size() == 6; }));
  const auto workers = ids_in(folder.path());
  const auto keeper = [&] {
    for (const auto id : children_of(child)) {
      if (std::ranges::count(workers, id) == 0 && lives(id)) return id;
    }
    return pid_t{-1};
  };
  const auto first = keeper();
  ASSERT_GT(first, 0);
  ::kill(first, SIGKILL);
  ASSERT_TRUE(comes_true([&] { return keeper() > 0 && keeper() != first; }));
  const auto helpers = children_of(child);
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  for (const auto id : workers) EXPECT_TRUE(comes_true([&] { return !lives(id); }));
  for (const auto id : helpers) EXPECT_TRUE(comes_true([&] { return !lives(id); }));
}

TEST(ProgramProcesses, MayPutThingsInOrderWhenIdle) {
  const TemporaryFolder folder;
  {
    ProgramEvaluator evaluator({.command = "while read -r x; do echo $x; done; echo done >end",
                                .folder = folder.path(),
                                .solution_dim = 1,
                                .feature_dim = 1,
                                .workers = 1});
    Evaluation out(1, 1);
    evaluator.evaluate(numbered_rows(1, {}, 1), out.span());
  }
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "end"));
}

TEST(ProgramProcesses, LeaveNothingOpenAndNobodyWaitedFor) {
  const auto count = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const auto before = count();
  for (const auto protocol :
       {ProgramProtocol::lines, ProgramProtocol::npy, ProgramProtocol::once}) {
    const bool once = protocol == ProgramProtocol::once;
    ProgramEvaluator evaluator({.arguments = {once ? "echo" : "cat"},
                                .protocol = protocol,
                                .solution_dim = 2,
                                .feature_dim = 2,
                                .workers = 4});
    Evaluation out(40, 2);
    evaluator.evaluate(numbered_rows(40), out.span());
    ProgramEvaluator bad({.command = "exit 3", .solution_dim = 2, .feature_dim = 2, .workers = 2});
    EXPECT_NE(error_of(bad, numbered_rows(40)), "");
    ProgramEvaluator missing(
        {.arguments = {"./nothing"}, .solution_dim = 2, .feature_dim = 2, .workers = 2});
    EXPECT_NE(error_of(missing, numbered_rows(40)), "");
  }
  EXPECT_EQ(count(), before);
  EXPECT_TRUE(children_of(::getpid()).empty());
}

TEST(ProgramProcesses, LeaveOtherChildrenAlone) {
  const auto other = ::fork();
  ASSERT_GE(other, 0);
  if (other == 0) ::_exit(42);
  {
    ProgramEvaluator evaluator({.arguments = {"echo"},
                                .protocol = ProgramProtocol::once,
                                .solution_dim = 2,
                                .feature_dim = 2,
                                .workers = 2});
    Evaluation out(10, 2);
    evaluator.evaluate(numbered_rows(10), out.span());
  }
  int status = 0;
  ASSERT_EQ(::waitpid(other, &status, 0), other);
  EXPECT_EQ(WEXITSTATUS(status), 42);
}

TEST(ProgramProcesses, TouchNoSignalsOfTheirHost) {
  static std::atomic<int> signals = 0;
  struct sigaction action {
  }, before{};
  action.sa_handler = [](int) { ++signals; };
  sigaction(SIGPIPE, &action, &before);
  sigset_t mask_before, mask_after, one;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &one, nullptr);
  pthread_sigmask(SIG_SETMASK, nullptr, &mask_before);
  {
    // A worker that is gone before it is written to.
    ProgramEvaluator evaluator({.command = "exec <&-; exit 0",
                                .solution_dim = 20'000,
                                .feature_dim = 1,
                                .workers = 2,
                                .retries = 0});
    EXPECT_NE(error_of(evaluator, numbered_rows(40, {}, 20'000)), "");
  }
  pthread_sigmask(SIG_SETMASK, nullptr, &mask_after);
  for (int signal = 1; signal < NSIG; ++signal) {
    EXPECT_EQ(sigismember(&mask_before, signal), sigismember(&mask_after, signal)) << signal;
  }
  struct sigaction now {};
  sigaction(SIGPIPE, nullptr, &now);
  EXPECT_EQ(now.sa_handler, action.sa_handler);
  EXPECT_EQ(signals, 0);
  sigaction(SIGPIPE, &before, nullptr);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
}

TEST(ProgramProcesses, StartWithDefaultSignalsAndNoDescriptors) {
  const TemporaryFolder folder;
  struct sigaction ignore {
  }, before{};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGTERM, &ignore, &before);
  sigset_t one, mask_before;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &one, &mask_before);
  const int leaked = ::open("/dev/null", O_RDONLY);  // without O_CLOEXEC
  {
    // Says of itself: ignored signals, blocked ones, whether it leads a group, open descriptors.
    ProgramEvaluator evaluator({.command =
                                    "grep -E 'Sig(Ign|Blk)' /proc/self/status >signals; "
                                    "[ $(cut -d' ' -f5 /proc/$$/stat) = $$ ] && touch leads; "
                                    "ls /proc/self/fd >open; read -r x; echo $x",
                                .folder = folder.path(),
                                .solution_dim = 1,
                                .feature_dim = 1,
                                .workers = 1});
    Evaluation out(1, 1);
    evaluator.evaluate(numbered_rows(1, {}, 1), out.span());
  }
  ::close(leaked);
  pthread_sigmask(SIG_SETMASK, &mask_before, nullptr);
  sigaction(SIGTERM, &before, nullptr);
  const auto text = [&](const char* name) {
    std::ifstream file(folder.path() / name);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  // But for signals 32 and 33: those are the C library's own, and whoever started this test may
  // have left them ignored, which no sigaction() can change.
  std::istringstream signals(text("signals"));
  std::string blocked_name, ignored_name;
  std::uint64_t blocked = 1, ignored = 1;
  signals >> blocked_name >> std::hex >> blocked >> ignored_name >> ignored;
  EXPECT_EQ(blocked_name, "SigBlk:");
  EXPECT_EQ(ignored_name, "SigIgn:");
  EXPECT_EQ(blocked, 0U);
  EXPECT_EQ(ignored & ~std::uint64_t{0x180000000}, 0U);
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "leads"));
  EXPECT_EQ(text("open"), "0\n1\n2\n3\n");  // the last one is the folder that ls reads
}

TEST(ProgramProcesses, AreNotWaitedForWhereTheHostIgnoresTheirEnds) {
  struct sigaction ignore {
  }, before{};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGCHLD, &ignore, &before);  // the system takes the status of children then
  {
    ProgramEvaluator evaluator({.arguments = {"echo"},
                                .protocol = ProgramProtocol::once,
                                .solution_dim = 2,
                                .feature_dim = 2,
                                .workers = 2});
    Evaluation out(10, 2);
    const auto solutions = numbered_rows(10);
    evaluator.evaluate(solutions, out.span());
    EXPECT_TRUE(std::ranges::equal(out.features.values(), solutions.values()));
  }
  sigaction(SIGCHLD, &before, nullptr);
}

}  // namespace
