// The classes into which a local bandwidth sorts features. Those of a class have kernels of one
// width, a power of sqrt(2) times the bandwidth, so that a table or a list can serve all of them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "core/maths.hpp"
#include "rarefy/core/batch.hpp"
#include "rarefy/density/bandwidth.hpp"

namespace rarefy {

/// By slot of a buffer, the class of the feature in it.
using ClassOfSlot = std::vector<std::int64_t>;

class LocalClasses {
 public:
  static constexpr Index kCount = 5;

  /// What the bandwidth is multiplied by.
  [[nodiscard]] static double multiple(Index number) {
    constexpr double kRoot = 0.5 * std::numbers::sqrt2;
    static_assert(Bandwidth::kWidestMultiple == 2.0 && kCount == 5);
    constexpr std::array<double, kCount> kMultiples = {0.5, kRoot, 1.0, 2.0 * kRoot, 2.0};
    return kMultiples[static_cast<std::size_t>(number)];
  }

  /// multiple^-m: what a kernel of m features is multiplied by, so that all have the same integral.
  [[nodiscard]] static double weight(Index number, Index dims) {
    return maths::exp2(0.5 * static_cast<double>((kCount / 2 - number) * dims));
  }

  /// lambda = (p / g)^(-1/2), rounded to a power of sqrt(2): 2^(k/2) with k = -ln(p / g) / ln 2.
  [[nodiscard]] static Index of(double log_ratio) {
    constexpr double kFarthest = kCount / 2;
    const double steps = std::round(-log_ratio / std::numbers::ln2);
    return kCount / 2 + static_cast<Index>(std::clamp(steps, -kFarthest, kFarthest));
  }
};

}  // namespace rarefy
