// Feature spaces and rows of features, as Python gives them.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

#include "rarefy/core/batch.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/feature_space.hpp"

namespace rarefy::python {

/// A pair (low, high) for each feature.
using Box = std::vector<std::pair<double, double>>;

inline FeatureSpace space_of(const Box& box) {
  FeatureSpace space;
  for (const auto& [low, high] : box) {
    space.lower.push_back(low);
    space.upper.push_back(high);
  }
  return space;
}

inline Box box_of(const FeatureSpace& space) {
  Box box;
  for (std::size_t d = 0; d < space.lower.size(); ++d) {
    box.emplace_back(space.lower[d], space.upper[d]);
  }
  return box;
}

/// Throws an Error that names the row where features are of another number, or not finite.
inline void check_features(BatchView features, Index dims) {
  if (features.cols() != dims) {
    throw Error(ErrorKind::data, "features",
                fmt::format("{} x {}", features.rows(), features.cols()),
                fmt::format("rows of {} values", dims));
  }
  for (Index i = 0; i < features.rows(); ++i) {
    for (const double value : features.row(i)) {
      if (!std::isfinite(value)) {
        throw Error(ErrorKind::data, fmt::format("features: row {}", i), fmt::format("{}", value),
                    "finite numbers");
      }
    }
  }
}

}  // namespace rarefy::python
