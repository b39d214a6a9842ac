// The loop in which no emitter waits for another: each is told as soon as its own candidates are
// evaluated, and asks again at once.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "rarefy/core/stop.hpp"
#include "rarefy/evaluators/stream_evaluator.hpp"
#include "rarefy/runs/observer.hpp"
#include "rarefy/runs/turns.hpp"
#include "rarefy/search.hpp"
#include "runs/evaluation_journal.hpp"

namespace rarefy {

class AsynchronousLoop {
 public:
  /// All must outlive it. `journal` may be null.
  AsynchronousLoop(Search& search, StreamEvaluator& evaluator, Turns& turns,
                   EvaluationJournal* journal, std::int64_t iterations);
  ~AsynchronousLoop();
  AsynchronousLoop(const AsynchronousLoop&) = delete;
  AsynchronousLoop& operator=(const AsynchronousLoop&) = delete;

  /// Until so many evaluations are told as `iterations` whole batches have; no more are begun, but
  /// for the rest of the last emitter's where emitters have unlike numbers of rows. What is under
  /// way when somebody stops it is given up, and asked for again by whoever goes on.
  DriveEnd go(std::span<Observer* const> observers, StopFlag stop);

 private:
  /// An emitter's candidates under way.
  struct Job {
    Job(Index rows, Index solution_dim, Index feature_dim)
        : solutions(rows, solution_dim), out(rows, feature_dim) {}
    Batch solutions;
    Evaluation out;
    // What the evaluator has of it: those rows that no journal knows.
    std::vector<Index> missing;
    Batch missing_solutions;
    std::optional<Evaluation> missing_out;
    std::vector<std::uint8_t> noted;  // by row, in the journal
    Index left = 0;                   // rows to be evaluated
  };

  void begin(Index emitter);
  void begin_what_is_asked();
  [[nodiscard]] std::optional<Turn> next_turn(StopFlag stop);
  [[nodiscard]] std::optional<Turn> prescribed_turn();
  [[nodiscard]] std::optional<Index> idle_emitter() const;
  [[nodiscard]] bool may_ask() const;
  bool wait_for_rows(StopFlag stop);
  void take(const Turn& turn);
  void row_done(const RowDone& done);
  void judge_the_journal(double seconds_waited, Index rows);
  void note(Index emitter, Job& job, Index row);
  [[nodiscard]] CandidatePlace place(Index emitter, Index row) const;

  Search& search_;
  StreamEvaluator& evaluator_;
  Turns& turns_;
  EvaluationJournal* journal_;
  std::int64_t budget_;                   // evaluations
  std::vector<std::optional<Job>> jobs_;  // by emitter
  std::int64_t under_way_ = 0;            // rows of those
  std::deque<Index> ready_;               // emitters all of whose rows are done, in that order
  double waited_ = 0;                     // seconds, for rows
  double busy_ = 0;                       // the same, times those at work
  Index evaluated_ = 0;                   // in that time
};

}  // namespace rarefy
