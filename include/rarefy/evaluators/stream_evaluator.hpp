// Evaluators that work on many rows at a time and hand each back as soon as it is done: programs,
// other machines.
#pragma once

#include <functional>
#include <span>
#include <utility>

#include "rarefy/core/stop.hpp"
#include "rarefy/evaluators/evaluator.hpp"

namespace rarefy {

/// A row of a job that is done: what it turned out to be stands in the job's `out`.
struct RowDone {
  Index job = 0;
  Index row = 0;
};

/// begin() any number of jobs, then wait() for rows of any of them, from one thread.
class StreamEvaluator : public Evaluator {
 public:
  /// Takes on a job: rows to evaluate, and room for what they turn out to be. Both must stay where
  /// they are until all rows of the job are done, or abandon() is called. `job` is a number of the
  /// caller's, that no job under way has. Rows are handed out in the order of jobs and rows; when
  /// they come back is another matter.
  virtual void begin(Index job, BatchView solutions, const EvaluationSpan& out) = 0;

  /// Waits until at least one row is done, and names those that are, each once. None: nothing is
  /// under way, or `*stop` is true. A row that could not be evaluated is done as well: its `valid`
  /// is 0. What is named is there until the next call.
  /// Throws where going on makes no sense (nothing that was tried ever worked).
  virtual std::span<const RowDone> wait(StopFlag stop = nullptr) = 0;

  /// Forgets all jobs, and ends what is under way.
  virtual void abandon() = 0;

  [[nodiscard]] Index capacity() const override = 0;

  /// Called by wait() now and then, from the same thread, for as long as nothing is done: for
  /// somebody who wants to show that it goes on. It must not call the evaluator.
  void while_waiting(std::function<void()> call) { while_waiting_ = std::move(call); }

  /// One job from beginning to end. Nothing else may be under way.
  void evaluate(BatchView solutions, const EvaluationSpan& out) final;
  /// The same; a stop gives up what is under way.
  bool evaluate_telling(BatchView solutions, const EvaluationSpan& out, const RowsDone& done,
                        StopFlag stop) final;

 protected:
  void still_waiting() const {
    if (while_waiting_) while_waiting_();
  }

 private:
  std::function<void()> while_waiting_;
};

}  // namespace rarefy
