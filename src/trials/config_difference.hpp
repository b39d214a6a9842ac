// In what two configurations differ, for people.
#pragma once

#include <functional>
#include <string>

#include "rarefy/experiment/config.hpp"
#include "rarefy/experiment/parameters.hpp"

namespace rarefy {

/// "bandwidth 0.1 there, 0.2 here; ...", `there` first; empty where they are the same. Only
/// parameters for which `counts` holds are compared, or all.
[[nodiscard]] std::string config_difference(
    const Config& there, const Config& here,
    const std::function<bool(const Parameter&)>& counts = nullptr);

}  // namespace rarefy
