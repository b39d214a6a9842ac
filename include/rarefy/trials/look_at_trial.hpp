// Where a trial of an experiment stands, by what lies in its folder.
#pragma once

#include <string>

#include "rarefy/trials/experiment_folder.hpp"
#include "rarefy/trials/matrix.hpp"
#include "rarefy/trials/results.hpp"

namespace rarefy {

struct TrialLook {
  Trial trial;
  /// In what the run in the folder is another than the planned one; empty where it is that, or
  /// there is none. Its own configuration is in `trial` then.
  std::string difference;
};

/// Reads configuration and metrics. Error where there is a run that cannot be read.
[[nodiscard]] TrialLook look_at_trial(const PlannedTrial& planned, const ExperimentPlaces& places);

}  // namespace rarefy
