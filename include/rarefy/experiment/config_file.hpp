// Configurations as TOML.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rarefy/experiment/config.hpp"
#include "rarefy/experiment/parameters.hpp"
#include "rarefy/storage/file_place.hpp"

namespace rarefy {

/// One value that somebody has set.
struct Setting {
  const Parameter* parameter;
  ParameterValue value;
  /// False for a value that was only the default where it was written down, ...
  bool chosen = true;
  /// ... of this domain, algorithm and profile. It binds no other.
  std::string default_of = {};
};

/// What a file or a command line sets, in its order, before any default is known.
struct Settings {
  std::vector<Setting> values;
  /// The description of a problem of the user's own, where there is one.
  std::optional<DomainInfo> own_problem = {};

  void set(std::string_view parameter, ParameterValue value);
  /// Adds what `later` sets, which wins.
  void add(const Settings& later);
  [[nodiscard]] const Setting* find(std::string_view parameter) const;
};

/// Reads a configuration. Keys and tables that do not exist or stand in the wrong table, and values
/// of another type or out of range, are told with their place in the file and the nearest valid
/// name, all of them in one Error. `name` stands for the file in messages.
[[nodiscard]] Settings parse_settings(std::string_view text, std::string_view name);
[[nodiscard]] Settings read_settings(const FilePlace& file);

/// Defaults for the domain, algorithm and profile named in the settings, with the settings on
/// top; later ones win.
[[nodiscard]] Config resolve(const Settings& settings);

/// The values that the domain, algorithm and profile of `sources` have by default.
[[nodiscard]] Config defaults_for(const Config& sources);

/// The complete configuration, with every value and what it means; which values were chosen; the
/// version of the library and the instruction set in use.
[[nodiscard]] std::string to_toml(const Config& config);

/// What a file that to_toml() made says of its maker; empty where it does not.
struct Maker {
  std::string version, instruction_set;
};
[[nodiscard]] Maker maker_of(std::string_view toml);

}  // namespace rarefy
