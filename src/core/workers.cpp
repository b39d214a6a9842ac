#include "rarefy/core/workers.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

#include "core/thread_clock.hpp"
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

// One job at a time. The caller opens it, works on it itself, closes it when no index is left,
// and waits for the helpers that are inside. A helper that comes too late, because the machine
// had no core for it, finds the job closed and has delayed nobody.
//
// Every thread has a share of the indices, the same one whenever a job of as many comes again: an
// emitter's matrices, say, stay in the cache of the core that had them last. Whoever is done
// with its own share takes from the others'.
struct Workers::Team {
  struct alignas(64) Share {  // a cache line each
    std::atomic<Index> next{0};
    Index end = 0;
  };

  explicit Team(Index threads) : shares(static_cast<std::size_t>(threads)) {
    // With more threads than cores a spinning helper would keep a busy one waiting.
    const auto cores = static_cast<Index>(std::max(1U, std::thread::hardware_concurrency()));
    spins = threads <= cores ? kSpins : 0;
    helpers.reserve(static_cast<std::size_t>(threads - 1));
    try {
      for (std::size_t i = 1; i < shares.size(); ++i) {
        helpers.emplace_back([this, i] { serve(i); });
      }
    } catch (const std::system_error& refusal) {
      dismiss();
      throw Error(ErrorKind::io, "threads", std::to_string(threads),
                  std::string("fewer: the system says ") + refusal.what());
    } catch (...) {  // no memory: those that have started must not be left behind
      dismiss();
      throw;
    }
  }

  ~Team() { dismiss(); }

  void dismiss() {
    stopping.store(true, std::memory_order_relaxed);
    announce();
    for (auto& helper : helpers) helper.join();
  }

  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  void announce() {
    jobs.fetch_add(1, std::memory_order_release);
    jobs.notify_all();
  }

  void serve(std::size_t own) {
    std::uint32_t seen = 0;
    while (true) {
      for (int i = 0; i < spins && jobs.load(std::memory_order_relaxed) == seen; ++i) relax();
      jobs.wait(seen, std::memory_order_acquire);
      seen = jobs.load(std::memory_order_acquire);
      if (stopping.load(std::memory_order_relaxed)) return;
      if (!enter()) continue;
      work(own);
      if (gate.fetch_sub(1, std::memory_order_acq_rel) == 1) gate.notify_one();
    }
  }

  // Goes inside if the job is open.
  bool enter() {
    std::uint32_t now = gate.load(std::memory_order_relaxed);
    while ((now & kOpen) != 0) {
      if (gate.compare_exchange_weak(now, now + 1, std::memory_order_acquire)) return true;
    }
    return false;
  }

  void work(std::size_t own) {
    for (std::size_t k = 0; k < shares.size(); ++k) work_on(shares[(own + k) % shares.size()]);
  }

  void work_on(Share& share) {
    while (true) {
      const Index i = share.next.fetch_add(1, std::memory_order_relaxed);
      if (i >= share.end) return;
      try {
        (*task)(i);
      } catch (...) {
        const std::scoped_lock lock(failure_mutex);
        if (!failure) failure = std::current_exception();
        for (auto& rest : shares) rest.next.store(rest.end, std::memory_order_relaxed);
      }
    }
  }

  void run(Index job_count, TaskRef job) {
    const std::scoped_lock turn(callers);
    task = job;
    const auto threads = static_cast<Index>(shares.size());
    const Index most = (job_count + threads - 1) / threads;
    Index first = 0;
    for (auto& share : shares) {
      share.next.store(first, std::memory_order_relaxed);
      first = share.end = std::min(first + most, job_count);
    }
    gate.store(kOpen, std::memory_order_release);
    announce();
    work(0);
    std::uint32_t inside = gate.fetch_and(~kOpen, std::memory_order_acq_rel) & ~kOpen;
    for (int i = 0; i < spins && inside != 0; ++i) {
      relax();
      inside = gate.load(std::memory_order_acquire);
    }
    while (inside != 0) {
      gate.wait(inside, std::memory_order_acquire);
      inside = gate.load(std::memory_order_acquire);
    }
    if (failure) std::rethrow_exception(std::exchange(failure, nullptr));
  }

  static constexpr std::uint32_t kOpen = 0x80000000U;

  int spins = kSpins;
  std::mutex callers;  // held by the one whose job it is
  std::optional<TaskRef> task;
  std::vector<Share> shares;           // the caller's first
  std::atomic<std::uint32_t> jobs{0};  // announced so far
  std::atomic<std::uint32_t> gate{0};  // kOpen, and how many helpers are inside
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

double Workers::helper_seconds() const {
  double sum = 0;
  for (auto& helper : team_->helpers) sum += ThreadClock::of(helper).seconds();
  return sum;
}

void Workers::run(Index count, TaskRef task) {
  if (team_->helpers.empty() || count <= 1) {
    for (Index i = 0; i < count; ++i) task(i);
    return;
  }
  team_->run(count, task);
}

}  // namespace rarefy
