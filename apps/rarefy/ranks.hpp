// The other ranks of a job under mpirun, which evaluate for this one, or run trials. Made with MPI
// or without, by what was found when the command was built.
#pragma once

#include <memory>

#include "rarefy/core/batch.hpp"
#include "rarefy/evaluators/evaluator.hpp"
#include "rarefy/runs/run.hpp"
#include "rarefy/trials/runner.hpp"
#include "seat.hpp"

namespace rarefy::command {

class Ranks {
 public:
  virtual ~Ranks() = default;
  /// Who evaluates what `run` searches: the others, each with so many threads (0: one). It must
  /// not outlive this object, whose end sends the others home.
  [[nodiscard]] virtual std::shared_ptr<Evaluator> evaluator(const Run& run, Index threads) = 0;
  /// Lets the others run the trials of an experiment, one at a time each.
  virtual ExperimentOutcome run_trials(TrialBoard& board, const ExperimentPlaces& places,
                                       StopFlag stop, const ProgressWatcher& watch) = 0;
};

/// On rank 0. Null where there are no others.
[[nodiscard]] std::unique_ptr<Ranks> join_ranks(const Seat& seat);

/// On any other rank: evaluates until rank 0 is done. What goes wrong is rank 0's to tell.
[[nodiscard]] int serve_rank_0(const Seat& seat);
/// The same for one that runs trials.
[[nodiscard]] int serve_trials_of_rank_0(const Seat& seat);

}  // namespace rarefy::command
