// Evaluation by threads that hand back rows as they are done, while others are still under way.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "rarefy/domains/domain.hpp"
#include "rarefy/evaluators/stream_evaluator.hpp"

namespace rarefy {

/// Threads of its own, which sleep while there is nothing to do. (A team of Workers does one thing
/// at a time, and comes back when all of it is done.)
class ThreadsStream : public StreamEvaluator {
 public:
  /// The domain must outlive it. 0 threads: one for each core.
  explicit ThreadsStream(const Domain& domain, Index threads = 0);
  ~ThreadsStream() override;
  ThreadsStream(const ThreadsStream&) = delete;
  ThreadsStream& operator=(const ThreadsStream&) = delete;

  void begin(Index job, BatchView solutions, const EvaluationSpan& out) override;
  /// Throws what the domain has thrown. A stop is heeded when the threads are done with what they
  /// have in hand, which is named; the rest is forgotten.
  std::span<const RowDone> wait(StopFlag stop = nullptr) override;
  /// Waits for what the threads have in hand: nobody can take that from them.
  void abandon() override;
  [[nodiscard]] Index capacity() const override { return static_cast<Index>(threads_.size()); }
  [[nodiscard]] double processor_seconds() const override;

 private:
  struct Piece {
    Index job = 0;
    Index first = 0;
    BatchView solutions;
    EvaluationSpan out;
  };
  void work();
  void dismiss();
  void evaluate_piece(const Piece& piece) const;

  const Domain& domain_;
  std::mutex mutex_;
  std::condition_variable work_there_, something_done_;
  std::deque<Piece> queue_;
  Index in_hand_ = 0;  // pieces
  std::vector<RowDone> done_;
  std::vector<RowDone> named_;  // what the last wait() has handed out
  std::exception_ptr trouble_;
  bool over_ = false;
  mutable std::vector<std::thread>
      threads_;  // to ask for a thread's clock takes one that can change
};

}  // namespace rarefy
