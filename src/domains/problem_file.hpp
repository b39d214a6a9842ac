// The description of a problem of one's own as a table of TOML, so that its runs can be looked at
// without the program that evaluates it.
#pragma once

#define TOML_ENABLE_WINDOWS_COMPAT 0
#include <toml++/toml.h>

#include <string>
#include <string_view>

#include "rarefy/domains/domain.hpp"

namespace rarefy {

inline constexpr std::string_view kProblemTable = "problem";

/// Throws where something is missing or cannot be.
[[nodiscard]] DomainInfo read_problem(const toml::table& table);
[[nodiscard]] std::string problem_as_toml(const DomainInfo& problem);

}  // namespace rarefy
