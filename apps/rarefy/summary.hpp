// The few lines a user reads after a run.
#pragma once

#include <string>

#include "rarefy/experiment/run.hpp"

namespace rarefy::command {

/// With the most memory this process has had, where it is the one that ran it.
enum class Memory { untold, told };
[[nodiscard]] std::string summary_of(const Run& run, Memory memory = Memory::untold);
[[nodiscard]] std::string json_of(const Run& run);

}  // namespace rarefy::command
