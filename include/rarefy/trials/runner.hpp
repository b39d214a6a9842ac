// Runs the trials of an experiment side by side on the threads of this process.
#pragma once

#include <functional>

#include "rarefy/core/batch.hpp"
#include "rarefy/core/stop.hpp"
#include "rarefy/trials/board.hpp"

namespace rarefy {

struct RunnerOptions {
  /// Trials at a time; 0: one for each core. A single one has all cores to itself, each of several
  /// has one thread: results do not depend on it.
  Index jobs = 0;
  StopFlag stop = nullptr;  ///< every trial under way finishes its iteration, and is saved
};

/// Hears how things stand, a few times a second and at the end, from the thread that called.
using ProgressWatcher = std::function<void(const ExperimentProgress& progress)>;

/// Runs what waits. A trial that fails stops no other.
ExperimentOutcome run_experiment(TrialBoard& board, const ExperimentPlaces& places,
                                 const RunnerOptions& options, const ProgressWatcher& watch = {});

/// How many trials that is at a time: never more than wait.
[[nodiscard]] Index jobs_at_a_time(Index jobs, const TrialBoard& board);

}  // namespace rarefy
