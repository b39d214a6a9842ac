// A run as JSON, for programs.
#pragma once

#include <string>

#include "rarefy/runs/run.hpp"

namespace rarefy::command {

[[nodiscard]] std::string json_of(const Run& run);

}  // namespace rarefy::command
