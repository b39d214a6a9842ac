// A problem that the command line describes: how long its solutions are, and where its features
// lie.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "rarefy/domains/domain.hpp"
#include "rarefy/experiment/config_file.hpp"

namespace rarefy::command {

/// --low, --high and what else describes a problem of the user's own, for --command.
struct OwnProblemOptions {
  std::string low, high, feature_names, name, title;
  bool with_objective = false;

  void add_to(CLI::App& verb);
  /// Puts the description into `settings`, in place of its --n, where there is a --command. A file
  /// of settings may have one already. Throws where something is missing, or has nothing to
  /// describe.
  void describe(Settings& settings) const;

 private:
  [[nodiscard]] bool any() const;
};

}  // namespace rarefy::command
