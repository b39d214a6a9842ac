// The few lines a user reads after a run.
#pragma once

#include <string>

#include "rarefy/runs/run.hpp"

namespace rarefy {

/// With the most memory this process has had, where it is the one that ran it.
enum class PeakMemory { left_out, included };
[[nodiscard]] std::string summary_of(const Run& run, PeakMemory memory = PeakMemory::left_out);

}  // namespace rarefy
