// One table of an experiment's file, read but not multiplied out.
#pragma once

#define TOML_ENABLE_WINDOWS_COMPAT 0
#include <toml++/toml.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiment/toml_problems.hpp"
#include "rarefy/experiment/config_file.hpp"
#include "rarefy/experiment/parameters.hpp"
#include "rarefy/trials/matrix.hpp"

namespace rarefy {

/// A parameter, and the values it is to have.
struct MatrixChoice {
  const Parameter* parameter = nullptr;
  std::vector<ParameterValue> values;
  bool varies = false;
  bool of_matrix = false;  ///< of a [[matrix]], not of the file as a whole
  toml::source_region where;

  /// Whether it is part of the names of trials, for it tells them apart.
  [[nodiscard]] bool in_name() const { return varies || of_matrix; }
};

struct MatrixTable {
  std::vector<std::int64_t> seeds = {1};
  /// Empty where the file names none.
  std::vector<std::string> profiles, domains, algorithms;
  Settings base;
  std::vector<MatrixChoice> choices;  ///< in the order of the file, the first varies most slowly
  toml::source_region where;
};

/// Adds the trials of a table to `trials`, but for those that are there already.
void add_trials(const MatrixTable& table, std::vector<PlannedTrial>& trials,
                TomlProblems& problems);

}  // namespace rarefy
