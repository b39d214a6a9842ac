// Evaluates batches, and writes down what was evaluated before it is told and saved.
#pragma once

#include <chrono>
#include <vector>

#include "rarefy/core/stop.hpp"
#include "rarefy/evaluators/evaluator.hpp"
#include "rarefy/runs/observer.hpp"
#include "rarefy/search.hpp"
#include "runs/evaluation_journal.hpp"

namespace rarefy {

/// Between a search and its evaluator. What the journal has of a batch is not evaluated again; the
/// rest is noted as soon as it is done.
class JournaledEvaluation {
 public:
  /// All must outlive it.
  JournaledEvaluation(Evaluator& evaluator, const Search& search, EvaluationJournal& journal)
      : evaluator_(evaluator), search_(search), journal_(journal) {}

  /// False: `*stop` was true before all rows were done. Those that are, are in the journal.
  bool evaluate(BatchView solutions, const EvaluationSpan& out, StopFlag stop);

  /// How far the batch under way is.
  [[nodiscard]] Awaited awaited() const;

 private:
  using Clock = std::chrono::steady_clock;

  /// Fills in what the journal has, and names the rows that it has not.
  void take_what_is_kept(BatchView solutions, const EvaluationSpan& out);
  bool evaluate_missing(BatchView solutions, const EvaluationSpan& out, StopFlag stop);
  /// Nobody writes anything down; but whoever watches sees rows come back.
  void evaluate_counting(BatchView solutions, const EvaluationSpan& out);
  /// Whether an evaluation takes long enough, by all there were and what is under way.
  [[nodiscard]] bool is_expensive(Index done_now) const;
  /// Notes what is done and can be used; whatever else is done waits for the end of the batch.
  void note_rows(BatchView solutions, const EvaluationSpan& out);
  void note_failed_rows(BatchView solutions, const EvaluationSpan& out);

  Evaluator& evaluator_;
  const Search& search_;
  EvaluationJournal& journal_;

  Index rows_ = 0;              // of the batch
  Index back_ = 0;              // of those, evaluated or taken from the journal
  std::vector<Index> missing_;  // rows of the batch that are to be evaluated
  std::vector<Index> done_;     // of those, not yet noted
  std::vector<Index> failed_;   // done, but without a result
  Clock::time_point began_;     // the batch
  double seconds_ = 0;          // that evaluating has taken
  double busy_ = 0;             // the same, times those at work
  Index evaluated_ = 0;         // in that time
};

}  // namespace rarefy
