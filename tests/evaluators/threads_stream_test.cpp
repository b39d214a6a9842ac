// Threads that hand back rows as they are done.
#include "rarefy/evaluators/threads_stream.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "rarefy/core/error.hpp"
#include "rarefy/domains/function_domain.hpp"

namespace rarefy {
namespace {

FunctionDomain doubling(std::function<void(double)> called = {}) {
  DomainInfo info;
  info.name = "doubling";
  info.solution_dim = 1;
  info.feature_space = {{0}, {1000}};
  return {std::move(info),
          [called = std::move(called)](std::span<const double> x, std::span<double> features) {
            if (called) called(x[0]);
            features[0] = 2 * x[0];
            return -x[0];
          }};
}

struct Job {
  Job(Index rows, double from) : solutions(rows, 1), out(rows, 1) {
    for (Index i = 0; i < rows; ++i) solutions(i, 0) = from + static_cast<double>(i);
  }
  Batch solutions;
  Evaluation out;
};

TEST(ThreadsStream, SeveralJobsAtATime) {
  const auto domain = doubling();
  for (const Index threads : {1, 3}) {
    ThreadsStream stream(domain, threads);
    EXPECT_EQ(stream.capacity(), threads);
    EXPECT_TRUE(stream.wait().empty()) << "nothing is under way";
    Job a(40, 0);
    Job b(7, 100);
    stream.begin(5, a.solutions, a.out.span());
    stream.begin(9, b.solutions, b.out.span());
    std::set<std::pair<Index, Index>> done;
    while (done.size() < 47) {
      const auto rows = stream.wait();
      ASSERT_FALSE(rows.empty());
      for (const auto& row : rows) {
        EXPECT_TRUE(done.insert({row.job, row.row}).second) << "named twice";
        const auto& job = row.job == 5 ? a : b;
        EXPECT_EQ(job.out.features(row.row, 0), 2 * job.solutions(row.row, 0));
        EXPECT_EQ(job.out.objectives[static_cast<std::size_t>(row.row)],
                  -job.solutions(row.row, 0));
      }
    }
    EXPECT_TRUE(stream.wait().empty());
  }
}

TEST(ThreadsStream, TroubleArrivesAndItGoesOn) {
  const auto domain = doubling([](double x) {
    if (x == 3) throw std::runtime_error("three");
  });
  ThreadsStream stream(domain, 2);
  Job job(10, 0);
  EXPECT_THROW(stream.evaluate(job.solutions, job.out.span()), std::runtime_error);
  Job other(10, 10);
  stream.evaluate(other.solutions, other.out.span());
  EXPECT_EQ(other.out.features(9, 0), 38);
}

// Whether a thread of this process sleeps in the kernel.
bool sleeps(pid_t thread) {
  std::ifstream in("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string line;
  std::getline(in, line);
  const auto name_ends = line.rfind(')');
  return name_ends != std::string::npos && line.substr(name_ends + 2, 1) == "S";
}

TEST(ThreadsStream, AStopLeavesWhatWasNotBegun) {
  std::atomic<bool> stop{false}, released{false};
  const auto domain = doubling([&](double) { released.wait(false); });
  ThreadsStream stream(domain, 1);
  Job job(100, 0);
  // The stop comes while the first piece is in hand. That goes on when the stop was seen, which is
  // when whoever waits has nothing to wait for but that piece.
  stream.while_waiting([&] {
    stop = true;
    stop.notify_all();
  });
  std::thread other([&, waiting = gettid()] {
    stop.wait(false);
    while (!sleeps(waiting)) std::this_thread::yield();
    released = true;
    released.notify_all();
  });
  stream.begin(0, job.solutions, job.out.span());
  const auto done = stream.wait(&stop).size();
  other.join();
  EXPECT_GE(done, 25U) << "a piece was in hand, and is not lost";
  EXPECT_LT(done, 100U);
  EXPECT_TRUE(stream.wait().empty()) << "nothing is under way";
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(ThreadsStream, MoreThreadsThanTheSystemHasAreRefused) {
  const auto domain = doubling();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  rlimit little = before;
  little.rlim_cur = rlim_t{2} << 30;  // of the address space: 8 MiB a stack
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &little), 0);
  std::string message = "nothing";
  try {
    ThreadsStream stream(domain, 2000);
  } catch (const Error& error) {
    message = error.what();
  }
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_TRUE(message.starts_with("threads: got 2000, expected fewer")) << message;
}
#endif

TEST(ThreadsStream, MayGoInTheMiddle) {
  const auto domain = doubling();
  Job job(10'000, 0);
  ThreadsStream stream(domain, 2);
  stream.begin(0, job.solutions, job.out.span());
  stream.abandon();
  stream.begin(0, job.solutions, job.out.span());
}

}  // namespace
}  // namespace rarefy
