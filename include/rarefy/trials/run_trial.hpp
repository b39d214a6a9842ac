// One trial of an experiment: begun, or gone on with where it was begun before.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

#include "rarefy/core/batch.hpp"
#include "rarefy/core/stop.hpp"
#include "rarefy/experiment/config.hpp"
#include "rarefy/runs/observer.hpp"

namespace rarefy {

class SharedCells;

struct TrialOrder {
  Config config;
  std::filesystem::path folder;
  bool anew = false;  ///< what the folder holds of another run is replaced
};

/// How far a trial is.
struct TrialNews {
  std::int64_t iteration = 0;
  double coverage = 0;
};

struct TrialTeam {
  Index threads = 1;
  SharedCells* cells = nullptr;  ///< where they are shared
  StopFlag stop = nullptr;
  /// Told now and then, by the thread that runs the trial.
  std::function<void(const TrialNews& news)> hear = {};
};

/// Runs it to its end, or until somebody stops it. Throws whatever ends a run; it can be tried
/// again.
DriveEnd run_trial(const TrialOrder& order, const TrialTeam& team);

}  // namespace rarefy
