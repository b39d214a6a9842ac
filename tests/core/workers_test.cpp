#include "rarefy/core/workers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "rarefy/core/error.hpp"
#include "rarefy/core/random.hpp"

using rarefy::Error;
using rarefy::ErrorKind;
using rarefy::Index;
using rarefy::Workers;
using testing::HasSubstr;

namespace {

constexpr std::array<Index, 4> kThreads = {1, 2, 3, 8};

// Waits a while without sleeping, so that idle workers are caught spinning, falling asleep or
// asleep.
void dawdle(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

// False when `condition` stays false for minutes, which no load of the machine explains.
template <typename Condition>
bool comes_true(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(5);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace

TEST(Workers, CountTheCallingThread) {
  for (const Index threads : kThreads) EXPECT_EQ(Workers(threads).threads(), threads);
}

TEST(Workers, AreOneForEachCoreByDefault) {
  const auto cores = std::max(1U, std::thread::hardware_concurrency());
  EXPECT_EQ(Workers().threads(), static_cast<Index>(cores));
  EXPECT_EQ(Workers(0).threads(), static_cast<Index>(cores));
}

TEST(Workers, RefuseImpossibleNumbers) {
  for (const Index threads : {Index{-1}, Index{1025}, Index{-1} << 40, Index{1} << 40}) {
    try {
      const Workers workers(threads);
      ADD_FAILURE() << threads << " threads were started";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::parameter);
      EXPECT_THAT(error.what(), HasSubstr("threads: got " + std::to_string(threads) + ","));
      EXPECT_THAT(error.what(), HasSubstr("1024"));
    }
  }
}

TEST(Workers, DoEveryIndexOnce) {
  for (const Index threads : kThreads) {
    Workers workers(threads);
    for (const Index count : {0, 1, 2, 3, 7, 8, 9, 15, 36, 540, 10'000}) {
      std::vector<std::atomic<int>> done(static_cast<std::size_t>(count));
      workers.for_each(count, [&](Index i) { ++done.at(static_cast<std::size_t>(i)); });
      for (const auto& times : done) ASSERT_EQ(times, 1) << threads << " threads, " << count;
    }
  }
}

TEST(Workers, DoNothingForANegativeCount) {
  for (const Index threads : kThreads) {
    Workers workers(threads);
    workers.for_each(-3, [](Index) { FAIL(); });
  }
}

TEST(Workers, CutPiecesThatCoverEverythingOnce) {
  for (const Index threads : kThreads) {
    Workers workers(threads);
    for (const Index count : {0, 1, 35, 36, 37, 72, 540, 1000}) {
      for (const Index piece : {1, 7, 36, 1000, 5000}) {
        std::vector<std::atomic<int>> done(static_cast<std::size_t>(count));
        std::atomic<int> pieces = 0;
        workers.for_pieces(count, piece, [&](Index first, Index size) {
          ++pieces;
          EXPECT_GE(size, 1);
          EXPECT_LE(size, piece);
          EXPECT_EQ(first % piece, 0);
          for (Index i = first; i < first + size; ++i) ++done.at(static_cast<std::size_t>(i));
        });
        for (const auto& times : done) ASSERT_EQ(times, 1);
        EXPECT_EQ(pieces, (count + piece - 1) / piece);
      }
    }
  }
}

TEST(Workers, TakeTasksOfAnyKind) {
  Workers workers(2);
  std::atomic<Index> sum = 0;
  const auto constant = [&sum](Index i) { sum += i; };
  workers.for_each(10, constant);
  auto changing = [&sum, calls = std::vector<int>(10)](Index i) mutable {
    calls[static_cast<std::size_t>(i)] = 1;
    sum += i;
  };
  workers.for_each(10, changing);
  EXPECT_EQ(sum, 90);
}

TEST(Workers, WorkAtTheSameTime) {
  // Each task waits for the others to have begun: one thread alone would never finish.
  for (const Index threads : {Index{2}, Index{4}}) {
    Workers workers(threads);
    std::atomic<Index> begun = 0;
    std::atomic<bool> together = true;
    workers.for_each(threads, [&](Index) {
      ++begun;
      if (!comes_true([&] { return begun == threads; })) together = false;
    });
    EXPECT_TRUE(together);
  }
}

TEST(Workers, ReturnOnlyWhenAllIsDone) {
  Workers workers(4);
  for (int round = 0; round < 200; ++round) {
    // Not atomic: what tasks wrote must be visible to the caller without further ado.
    std::vector<double> written(64, 0.0);
    workers.for_each(64, [&](Index i) {
      if (i % 16 == 0) dawdle(std::chrono::microseconds(20));
      written[static_cast<std::size_t>(i)] = static_cast<double>(i + round);
    });
    for (std::size_t i = 0; i < written.size(); ++i) {
      ASSERT_EQ(written[i], static_cast<double>(i) + round);
    }
  }
}

TEST(Workers, SeeWhatTheCallerWroteBefore) {
  Workers workers(3);
  std::vector<Index> plain(30);
  for (Index round = 1; round < 500; ++round) {
    std::fill(plain.begin(), plain.end(), round);
    workers.for_each(30, [&](Index i) { plain[static_cast<std::size_t>(i)] *= 2; });
    for (const auto value : plain) ASSERT_EQ(value, 2 * round);
  }
}

TEST(Workers, GiveTheSameResultsWhateverTheirNumber) {
  const auto compute = [](Index threads) {
    Workers workers(threads);
    std::vector<double> results(500);
    workers.for_each(500, [&](Index i) {
      std::vector<double> normals(37);
      rarefy::fill_normals({.seed = 1, .index = static_cast<std::uint32_t>(i)}, normals);
      double sum = 0;
      for (const double z : normals) sum += std::exp(z);
      results[static_cast<std::size_t>(i)] = sum;
    });
    return results;
  };
  const auto alone = compute(1);
  EXPECT_EQ(compute(2), alone);
  EXPECT_EQ(compute(8), alone);
}

TEST(Workers, PassOnAnExceptionAndStayUsable) {
  for (const Index threads : kThreads) {
    Workers workers(threads);
    for (const Index count : {1, 2, 100}) {
      for (const Index bad : {Index{0}, count / 2, count - 1}) {
        try {
          workers.for_each(count, [&](Index i) {
            if (i == bad) {
              throw Error(ErrorKind::data, "row " + std::to_string(i));
            }
          });
          ADD_FAILURE() << "nothing was thrown";
        } catch (const Error& error) {
          EXPECT_EQ(error.kind(), ErrorKind::data);
          EXPECT_STREQ(error.what(), ("row " + std::to_string(bad)).c_str());
        }
        std::atomic<Index> sum = 0;
        workers.for_each(100, [&](Index i) { sum += i; });  // nothing is left of it
        ASSERT_EQ(sum, 4950);
      }
    }
  }
}

TEST(Workers, PassOnOneExceptionOfMany) {
  for (const Index threads : kThreads) {
    Workers workers(threads);
    for (int round = 0; round < 100; ++round) {
      std::atomic<int> calls = 0;
      EXPECT_THROW(workers.for_each(50,
                                    [&](Index) {
                                      ++calls;
                                      throw std::runtime_error("each of them");
                                    }),
                   std::runtime_error);
      ASSERT_GE(calls, 1);
      ASSERT_LE(calls, 50);
    }
    workers.for_each(50, [](Index) {});  // must not throw the rest
  }
}

TEST(Workers, PassOnWhateverIsThrown) {
  Workers workers(2);
  EXPECT_THROW(workers.for_each(10, [](Index i) { throw static_cast<int>(i); }), int);
  EXPECT_THROW(workers.for_pieces(10, 3, [](Index, Index) { throw std::bad_alloc(); }),
               std::bad_alloc);
}

// A lost wake-up would leave the team waiting for ever, and a round begun too early would do an
// index twice or never. The pauses let workers be met spinning, falling asleep and asleep.
TEST(Workers, LoseNoRoundHoweverQuick) {
  for (const Index threads : {Index{2}, Index{3}, Index{8}}) {
    Workers workers(threads);
    const int rounds = threads == 2 ? 10'000 : 1'500;
    std::vector<Index> done(9);
    for (int round = 0; round < rounds; ++round) {
      const Index count = 2 + round % 8;
      std::fill(done.begin(), done.end(), 0);
      workers.for_each(count, [&](Index i) { ++done[static_cast<std::size_t>(i)]; });
      for (Index i = 0; i < 9; ++i) {
        ASSERT_EQ(done[static_cast<std::size_t>(i)], i < count ? 1 : 0) << "round " << round;
      }
      if (round % 16 == 0) dawdle(std::chrono::microseconds(round % 200));
      if (round % 1000 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
}

// The caller is done first and falls asleep: the last helper must wake it.
TEST(Workers, AreAwaitedWhenTheyTakeLonger) {
  const auto caller = std::this_thread::get_id();
  for (const Index threads : {Index{2}, Index{3}, Index{8}}) {
    Workers workers(threads);
    for (int round = 0; round < 30; ++round) {
      std::atomic<Index> begun = 0;
      std::vector<int> done(static_cast<std::size_t>(threads));
      workers.for_each(threads, [&](Index i) {
        ++begun;
        if (std::this_thread::get_id() == caller) {
          // Leaves only when every other index is in a helper's hands.
          EXPECT_TRUE(comes_true([&] { return begun == threads; }));
        } else {
          std::this_thread::sleep_for(std::chrono::milliseconds(1 + round % 2));
        }
        done[static_cast<std::size_t>(i)] = 1;
      });
      for (const int once : done) ASSERT_EQ(once, 1);
    }
  }
}

TEST(Workers, MayBeManyTeamsAtATime) {
  std::vector<std::thread> callers;
  std::atomic<Index> sum = 0;
  for (int caller = 0; caller < 3; ++caller) {
    callers.emplace_back([&sum] {
      Workers workers(2);
      for (int round = 0; round < 300; ++round) {
        workers.for_each(10, [&](Index i) { sum += i; });
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(sum, 3 * 300 * 45);
}

// Four callers share a team. Each gets its own tasks done, all of them, and its own exceptions;
// there are never more threads at work than the team has.
TEST(Workers, MayBeSharedByCallersWhoTakeTurns) {
  constexpr Index kTeam = 3, kCallers = 4, kTasks = 40, kRounds = 100;
  Workers team(kTeam);
  std::atomic<Index> at_work = 0, most_at_work = 0, mistakes = 0;
  const auto call = [&](Index caller) {
    for (Index round = 0; round < kRounds; ++round) {
      std::vector<Index> done(kTasks, 0);
      const bool fails = round % 7 == 3;
      try {
        team.for_each(kTasks, [&](Index i) {
          const Index now = ++at_work;
          Index most = most_at_work;
          while (now > most && !most_at_work.compare_exchange_weak(most, now)) {
          }
          ++done[static_cast<std::size_t>(i)];
          --at_work;
          if (fails && i == kTasks / 2) throw std::runtime_error(std::to_string(caller));
        });
        const bool all = std::all_of(done.begin(), done.end(), [](Index n) { return n == 1; });
        if (fails || !all) ++mistakes;
      } catch (const std::runtime_error& error) {
        if (!fails || error.what() != std::to_string(caller)) ++mistakes;
      }
    }
  };
  std::vector<std::thread> callers;
  for (Index c = 0; c < kCallers; ++c) callers.emplace_back(call, c);
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(mistakes, 0);
  EXPECT_LE(most_at_work, kTeam);
}

// What the calling thread can do alone it does at once, be the team as busy as it likes.
TEST(Workers, NeedNoTurnForASingleTask) {
  Workers team(2);
  std::atomic<bool> begun = false, go_on = false;
  std::thread other([&] {
    team.for_each(2, [&](Index) {
      begun = true;
      comes_true([&] { return go_on.load(); });
    });
  });
  ASSERT_TRUE(comes_true([&] { return begun.load(); }));
  bool done = false;
  team.for_each(1, [&](Index) { done = true; });
  EXPECT_TRUE(done);
  go_on = true;
  other.join();
}

TEST(Workers, GoHomeAtAnyMoment) {
  for (int round = 0; round < 150; ++round) {
    for (const Index threads : kThreads) {
      Workers workers(threads);  // may be gone before a thread has begun
      if (round % 3 == 0) continue;
      std::atomic<int> calls = 0;
      workers.for_each(threads, [&](Index) { ++calls; });
      EXPECT_EQ(calls, threads);
      if (round % 3 == 1) dawdle(std::chrono::microseconds(round));
    }
  }
}

TEST(Workers, GoHomeAfterAnException) {
  for (int round = 0; round < 50; ++round) {
    Workers workers(4);
    EXPECT_THROW(workers.for_each(4, [](Index) { throw std::runtime_error("no"); }),
                 std::runtime_error);
  }
}

// The address and thread sanitizers need more memory than a limit could leave.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(WorkersDeathTest, ReportASystemThatHasNoMoreThreads) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto start_too_many = [] {
    // In 256 MiB of address space the stacks of a thousand threads find no room.
    rlimit limit{};
    limit.rlim_cur = limit.rlim_max = 256U << 20;
    ::setrlimit(RLIMIT_AS, &limit);
    try {
      const Workers workers(1024);
    } catch (const std::exception&) {
      ::_exit(0);
    }
    ::_exit(1);
  };
  EXPECT_EXIT(start_too_many(), testing::ExitedWithCode(0), "");
}
#endif
