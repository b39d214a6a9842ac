// What trials have given so far: those of an experiment, or runs that lie about in folders.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rarefy/experiment/config.hpp"
#include "rarefy/runs/metrics_log.hpp"

namespace rarefy {

enum class TrialState {
  waiting,   ///< not begun
  begun,     ///< under way, or interrupted
  finished,  ///< all its iterations are done
  failed,    ///< it ended with an error
};

/// One run of an experiment.
struct Trial {
  Config config;
  std::filesystem::path folder;  ///< of the run; it need not exist yet
  TrialState state = TrialState::waiting;
  std::string error;                 ///< why it failed
  std::vector<MetricsLine> metrics;  ///< the lines of its metrics.csv, as far as there are any
  std::vector<std::string> warnings = {};  ///< of an experiment's, when it last ended
  /// With which it was begun, as its config.toml says.
  std::string version = {}, instruction_set = {};
};

/// Trials that differ by nothing but their seeds (and by what decides no result: when files are
/// written, and the like).
struct ResultRow {
  std::string algorithm, domain;
  Profile profile = Profile::standard;
  /// Parameters (flat names, values as text) by which this row differs from others of the same
  /// algorithm, domain and profile.
  std::vector<std::pair<std::string, std::string>> parameters;
  std::vector<Trial> trials;  ///< by seed

  /// "dds-kde", and the parameters that tell rows apart: "dds-kde, bandwidth 0.05 width". The
  /// profile is part of it only where `with_profile`.
  [[nodiscard]] std::string label(bool with_profile) const;
};

struct Results {
  std::string title;
  std::vector<ResultRow> rows;  ///< in the order of the experiment's file
  /// What was left out, and why: runs that cannot be read, and further copies of a trial.
  std::vector<std::string> notes;
};

/// Reads experiments (folders that `rarefy experiment run` made), single runs, and folders that
/// hold runs at any depth. Reads only configurations and metrics, never a checkpoint, so that it
/// costs little and disturbs no run that goes on.
[[nodiscard]] Results read_results(std::span<const std::filesystem::path> folders);

/// The command that repeats a trial, for a shell. Empty where no command line can: for a problem
/// that belongs to a program which uses the library, or one that options cannot describe.
[[nodiscard]] std::string command_of(const Config& config);

}  // namespace rarefy
