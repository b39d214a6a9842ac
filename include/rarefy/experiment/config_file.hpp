// Configurations as TOML.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rarefy/experiment/config.hpp"
#include "rarefy/experiment/parameters.hpp"

namespace rarefy {

/// What a file sets, in its order, before any default is known.
using Settings = std::vector<std::pair<const Parameter*, ParameterValue>>;

/// Reads a configuration. A key or table that does not exist, or stands in the wrong table, is
/// an Error with the place in the file and the nearest valid name; so is a value of the
/// wrong type. `name` stands for the file in messages.
[[nodiscard]] Settings parse_settings(std::string_view text, std::string_view name);
[[nodiscard]] Settings read_settings(const std::filesystem::path& path);

/// Defaults for the domain, algorithm and profile named in the settings, with the settings on
/// top; later ones win.
[[nodiscard]] Config resolve(const Settings& settings);

/// The complete configuration, with every value and what it means, and the version of the
/// library and the instruction set in use as comments.
[[nodiscard]] std::string to_toml(const Config& config);

}  // namespace rarefy
