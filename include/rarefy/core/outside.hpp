// What becomes of features that lie outside the box of feature space.
#pragma once

#include <string_view>
#include <utility>

#include "rarefy/core/names.hpp"

namespace rarefy {

/// How a density treats them. The archive keeps them in the nearest cell inside either way.
enum class Outside {
  as_is,  ///< like any other: far out there it is sparse, and the search goes there
  clamp,  ///< as if they lay on the border
  last,   ///< clamped, and ranked after all that is inside, the farthest last
};

template <>
struct EnumNames<Outside> {
  static constexpr std::string_view thing = "outside";
  static constexpr std::pair<Outside, std::string_view> all[] = {
      {Outside::as_is, "as-is"}, {Outside::clamp, "clamp"}, {Outside::last, "last"}};
};

}  // namespace rarefy
