// What the folder of a run is called where the user gives it no name.
#pragma once

#include <string>

#include "rarefy/experiment/config.hpp"

namespace rarefy::command {

/// Domain, algorithm, profile and seed, then every parameter that decides results and is not at
/// its default: runs that differ have folders of their own.
[[nodiscard]] std::string folder_name(const Config& config);

}  // namespace rarefy::command
