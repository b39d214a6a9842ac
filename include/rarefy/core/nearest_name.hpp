// "Did you mean ...?"
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "rarefy/core/error.hpp"

namespace rarefy {

/// The known name that is fewest edits away from `given` (insertions, deletions,
/// substitutions, swaps of neighbours), or "" when none is close.
[[nodiscard]] std::string nearest_name(std::string_view given,
                                       std::span<const std::string_view> known);

/// An Error that says what was given, what is nearest to it, and what there is.
[[nodiscard]] Error unknown_name(std::string_view thing, std::string_view given,
                                 std::span<const std::string_view> known);

}  // namespace rarefy
