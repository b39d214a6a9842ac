// Results in a few lines.
#pragma once

#include <string>

#include "rarefy/trials/results.hpp"

namespace rarefy::command {

/// A line for each row: how many of its trials are done, and their mean coverage.
[[nodiscard]] std::string short_table(const Results& results);

}  // namespace rarefy::command
