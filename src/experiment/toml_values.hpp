// Values of parameters as TOML has them.
#pragma once

#define TOML_ENABLE_WINDOWS_COMPAT 0
#include <toml++/toml.h>

#include "rarefy/experiment/parameters.hpp"

namespace rarefy {

/// The value at `node`, before its range is checked. Throws for what is no value of a parameter.
[[nodiscard]] ParameterValue value_of(const toml::node& node, const Parameter& parameter);

}  // namespace rarefy
