// The few lines a user reads after a run.
#pragma once

#include <string>

#include "rarefy/experiment/run.hpp"

namespace rarefy::command {

[[nodiscard]] std::string summary_of(const Run& run);
[[nodiscard]] std::string json_of(const Run& run);

}  // namespace rarefy::command
