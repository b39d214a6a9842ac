// An index as the standard containers want it.
#pragma once

#include <cstddef>

#include "rarefy/core/batch.hpp"

namespace rarefy {

[[nodiscard]] constexpr std::size_t at(Index i) { return static_cast<std::size_t>(i); }

}  // namespace rarefy
