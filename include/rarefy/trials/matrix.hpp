// An experiment as a file of TOML: algorithms x domains x profiles x values of parameters x seeds.
// docs/experiments.md describes the format.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "rarefy/experiment/config.hpp"

namespace rarefy {

/// One run that an experiment wants.
struct PlannedTrial {
  /// Of its folder, below that of all trials: "default/dds-kde/lp/seed-1". It depends on nothing
  /// but the trial itself and how its table of the file is written, so that others can be added.
  std::string name;
  Config config;
};

struct Experiment {
  std::string title;
  /// By row, in the order of the file; within a row by seed, in the order of the file, too.
  std::vector<PlannedTrial> trials;
  std::string text;                ///< the file itself
  std::vector<std::string> bases;  ///< the configurations it builds upon, as the file names them
};

/// More trials than this are a mistake.
inline constexpr std::size_t kMostTrials = 100'000;

/// Gives the text of a configuration that an experiment builds upon: what the file calls it, and
/// its number among all of them, from 0.
using ReadBase = std::function<std::string(const std::string& name, std::size_t number)>;

/// Reads an experiment. Everything that is wrong is told in one Error, with its place in the file
/// and the nearest valid name. `name` stands for the file in messages.
[[nodiscard]] Experiment parse_experiment(std::string_view text, std::string_view name,
                                          const ReadBase& read_base);
/// What it builds upon is looked for from the folder that the file lies in. Its title, where it has
/// none, is the name of the file.
[[nodiscard]] Experiment read_experiment(const std::filesystem::path& file);

}  // namespace rarefy
