#include "rarefy/trials/runner.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "rarefy/core/error.hpp"
#include "trials/attempt.hpp"
#include "trials/shared_cells.hpp"

namespace rarefy {
namespace {

class TrialCrew {
 public:
  TrialCrew(TrialBoard& board, const ExperimentPlaces& places, Index jobs, StopFlag stop)
      : board_(board), cells_(places.shared()), jobs_(jobs), stop_(stop) {}

  void run(const ProgressWatcher& watch) {
    constexpr auto kLook = std::chrono::milliseconds(200);
    {
      // Ends with all threads joined, whatever the watcher throws.
      std::vector<std::jthread> threads;
      try {
        for (Index i = 0; i < jobs_; ++i) {
          {
            const std::scoped_lock lock(mutex_);
            ++at_work_;
          }
          try {
            threads.emplace_back([this] { work(); });
          } catch (...) {
            const std::scoped_lock lock(mutex_);
            --at_work_;
            if (at_work_ == 0) throw;
            break;  // the system has no more threads: fewer do
          }
        }
        std::unique_lock lock(mutex_);
        while (at_work_ > 0) {
          changed_.wait_for(lock, kLook);
          if (stop_asked(stop_)) end_ = true;
          look(lock, watch);
        }
        look(lock, watch);
      } catch (...) {
        end_ = true;  // before the threads are waited for
        throw;
      }
    }
    const std::scoped_lock lock(mutex_);
    if (trouble_) std::rethrow_exception(trouble_);
  }

 private:
  void look(std::unique_lock<std::mutex>& lock, const ProgressWatcher& watch) {
    const auto progress = board_.progress(static_cast<std::size_t>(jobs_));
    lock.unlock();
    if (watch) watch(progress);
    lock.lock();
  }

  void work() {
    while (true) {
      std::unique_lock lock(mutex_);
      try {
        if (stop_asked(stop_) || end_) break;
        const auto trial = board_.next();
        if (!trial) break;
        const auto order = board_.order(*trial);
        lock.unlock();
        const auto end = attempt(order, team_for(*trial));
        lock.lock();
        note(board_, *trial, end);
      } catch (...) {  // of the board itself: results that cannot be written, say
        if (!lock.owns_lock()) lock.lock();
        if (!trouble_) trouble_ = std::current_exception();
        end_ = true;
        break;
      }
      changed_.notify_all();
    }
    const std::scoped_lock lock(mutex_);
    --at_work_;
    changed_.notify_all();
  }

  [[nodiscard]] TrialTeam team_for(std::size_t trial) {
    return {.threads = jobs_ > 1 ? 1 : 0,
            .cells = &cells_,
            .stop = &end_,
            .hear = [this, trial](const TrialNews& news) {
              const std::scoped_lock lock(mutex_);
              board_.heard(trial, news);
            }};
  }

  TrialBoard& board_;
  SharedCells cells_;
  Index jobs_;
  StopFlag stop_;
  std::atomic<bool> end_ = false;  // trials under way shall stop
  std::mutex mutex_;               // of the board and all below
  std::condition_variable changed_;
  Index at_work_ = 0;
  std::exception_ptr trouble_;
};

}  // namespace

Index jobs_at_a_time(Index jobs, const TrialBoard& board) {
  if (jobs <= 0) jobs = static_cast<Index>(std::max(1U, std::thread::hardware_concurrency()));
  return std::clamp<Index>(jobs, 1, std::max<Index>(1, static_cast<Index>(board.waiting())));
}

ExperimentOutcome run_experiment(TrialBoard& board, const ExperimentPlaces& places,
                                 const RunnerOptions& options, const ProgressWatcher& watch) {
  TrialCrew(board, places, jobs_at_a_time(options.jobs, board), options.stop).run(watch);
  return board.outcome();
}

}  // namespace rarefy
