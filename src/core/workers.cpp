#include "rarefy/core/workers.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

constexpr Index kMostThreads = 1024;

// How long an idle worker watches for the next job before it sleeps. The gaps
// between the stages of an iteration are microseconds; waking a sleeper costs
// about fifty.
constexpr int kSpins = 4000;

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#endif
}

}  // namespace

// A job is (round, task, count). Threads take indices from `next` until none is
// left. `round` goes up by one with every job; workers wait for it to change,
// and the caller waits until every worker has left the job.
struct Workers::Team {
  explicit Team(Index threads) {
    // With more threads than cores a spinning worker would keep a busy one waiting.
    const auto cores = static_cast<Index>(std::max(1U, std::thread::hardware_concurrency()));
    spins = threads <= cores ? kSpins : 0;
    helpers.reserve(static_cast<std::size_t>(threads - 1));
    for (Index i = 1; i < threads; ++i) helpers.emplace_back([this] { serve(); });
  }

  ~Team() {
    stopping.store(true, std::memory_order_relaxed);
    round.fetch_add(1, std::memory_order_release);
    round.notify_all();
    for (auto& helper : helpers) helper.join();
  }

  void serve() {
    std::uint32_t seen = 0;
    while (true) {
      for (int i = 0; i < spins && round.load(std::memory_order_relaxed) == seen; ++i) relax();
      round.wait(seen, std::memory_order_acquire);
      seen = round.load(std::memory_order_acquire);
      if (stopping.load(std::memory_order_relaxed)) return;
      work();
      if (busy.fetch_sub(1, std::memory_order_acq_rel) == 1) busy.notify_one();
    }
  }

  void work() {
    while (true) {
      const Index i = next.fetch_add(1, std::memory_order_relaxed);
      if (i >= count) return;
      try {
        (*task)(i);
      } catch (...) {
        const std::scoped_lock lock(failure_mutex);
        if (!failure) failure = std::current_exception();
        next.store(count, std::memory_order_relaxed);  // nobody starts another
      }
    }
  }

  void run(Index job_count, TaskRef job) {
    task = job;
    count = job_count;
    next.store(0, std::memory_order_relaxed);
    busy.store(static_cast<std::int32_t>(helpers.size()), std::memory_order_relaxed);
    round.fetch_add(1, std::memory_order_release);
    round.notify_all();
    work();
    std::int32_t left = busy.load(std::memory_order_acquire);
    for (int i = 0; i < spins && left != 0; ++i) {
      relax();
      left = busy.load(std::memory_order_acquire);
    }
    while (left != 0) {
      busy.wait(left, std::memory_order_acquire);
      left = busy.load(std::memory_order_acquire);
    }
    if (failure) std::rethrow_exception(std::exchange(failure, nullptr));
  }

  int spins = kSpins;
  std::optional<TaskRef> task;
  Index count = 0;
  std::atomic<Index> next{0};
  std::atomic<std::int32_t> busy{0};
  std::atomic<std::uint32_t> round{0};
  std::atomic<bool> stopping{false};
  std::mutex failure_mutex;
  std::exception_ptr failure;
  std::vector<std::thread> helpers;  // last: they use all of the above
};

Workers::Workers(Index threads) {
  if (threads < 0 || threads > kMostThreads) {
    throw Error(ErrorKind::parameter, "threads", std::to_string(threads),
                "0 (one for each core) to " + std::to_string(kMostThreads));
  }
  if (threads == 0) threads = static_cast<Index>(std::max(1U, std::thread::hardware_concurrency()));
  team_ = std::make_unique<Team>(threads);
}

Workers::~Workers() = default;

Index Workers::threads() const { return static_cast<Index>(team_->helpers.size()) + 1; }

void Workers::run(Index count, TaskRef task) {
  if (team_->helpers.empty() || count <= 1) {
    for (Index i = 0; i < count; ++i) task(i);
    return;
  }
  team_->run(count, task);
}

}  // namespace rarefy
