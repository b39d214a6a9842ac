// Trials of an experiment on other processes that talk by MPI: rank 0 hands them out, and the
// others run one at a time each, into the same folder. Only the library rarefy::mpi has what is
// declared here.
#pragma once

#include "rarefy/core/stop.hpp"
#include "rarefy/evaluators/mpi_evaluator.hpp"
#include "rarefy/trials/runner.hpp"

namespace rarefy {

/// On rank 0; there must be another. All ranks must see the folder under the same path.
ExperimentOutcome run_experiment_on_ranks(TrialBoard& board, const ExperimentPlaces& places,
                                          MpiSession& session, StopFlag stop,
                                          const ProgressWatcher& watch = {});

/// On any other rank: runs trials, until rank 0 sends it home.
void serve_trials(MpiSession& session);

}  // namespace rarefy
