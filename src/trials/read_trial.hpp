// What a run has got so far, read without disturbing it.
#pragma once

#include <filesystem>
#include <optional>

#include "rarefy/trials/results.hpp"

namespace rarefy {

/// Nothing where there is no run in the folder (any more). Error where there is one whose
/// configuration or metrics cannot be read.
[[nodiscard]] std::optional<Trial> read_trial(const std::filesystem::path& folder);

}  // namespace rarefy
