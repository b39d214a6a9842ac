// Which parameters matter to a run.
#pragma once

#include <string>
#include <string_view>

#include "rarefy/experiment/config.hpp"

namespace rarefy {

/// Why a parameter has no effect on the run that `config` describes; empty where it has one.
/// What a user asks for by name must do something, so the command refuses such options.
[[nodiscard]] std::string why_idle(const Config& config, std::string_view parameter);

}  // namespace rarefy
