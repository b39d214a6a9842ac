// The sum of squares of a vector.
#pragma once

#include <numeric>
#include <span>

namespace rarefy {

[[nodiscard]] inline double squared_norm(std::span<const double> v) {
  return std::inner_product(v.begin(), v.end(), v.begin(), 0.0);
}

}  // namespace rarefy
