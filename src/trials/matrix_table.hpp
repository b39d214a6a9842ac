// One table of an experiment's file, read but not multiplied out.
#pragma once

#define TOML_ENABLE_WINDOWS_COMPAT 0
#include <toml++/toml.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "experiment/toml_problems.hpp"
#include "rarefy/experiment/config_file.hpp"
#include "rarefy/experiment/parameters.hpp"
#include "rarefy/trials/matrix.hpp"
#include "trials/trial_name.hpp"

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

/// Multiplies tables out.
class MatrixTrials {
 public:
  explicit MatrixTrials(TomlProblems& problems) : problems_(problems) {}
  /// Adds the trials of a table, but for those that are there already.
  void add(const MatrixTable& table);
  /// All of them. What was chosen must have had an effect on one of them.
  [[nodiscard]] std::vector<PlannedTrial> take();

 private:
  struct Row;
  struct Use {
    const Parameter* parameter = nullptr;
    toml::source_region where;
    bool effective = false;  // on some trial
    std::string why_not;     // it has none on the first
  };

  void add_row(const MatrixTable& table, const Row& row);
  void add_trial(Config config, std::span<const TrialNamePart> parts, std::int64_t seed);
  [[nodiscard]] Use& use_of(const MatrixChoice& choice);

  TomlProblems& problems_;
  std::vector<PlannedTrial> trials_;
  std::map<std::string, std::size_t, std::less<>> known_;  // trials by name
  std::vector<Use> uses_;
  bool full_ = false;
};

}  // namespace rarefy
