// What a user should know about a search that goes on all the same.
#pragma once

#include <string>
#include <vector>

#include "rarefy/search.hpp"

namespace rarefy {

struct Warning {
  std::string kind;  ///< a word by which it is told only once
  std::string text;
};

/// None where all is well: something wrong with the density, many evaluations that failed, many
/// features outside the box.
[[nodiscard]] std::vector<Warning> warnings_of(const Search& search);

}  // namespace rarefy
