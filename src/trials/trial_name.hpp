// What the folder of a trial is called.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "rarefy/experiment/config.hpp"

namespace rarefy {

using TrialNamePart = std::pair<std::string_view, std::string>;  ///< a parameter and its value

/// PROFILE/ALGORITHM[-PARAMETER-VALUE ...]/DOMAIN/seed-N.
[[nodiscard]] std::string trial_name(const Config& config, std::span<const TrialNamePart> parts);

}  // namespace rarefy
