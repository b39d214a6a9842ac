// What there is to choose about a Gaussian mixture.
#pragma once

#include <cstdint>

#include "rarefy/core/feature_space.hpp"

namespace rarefy {

struct MixtureOptions {
  FeatureSpace space;
  Index components = 32;
  Index batch = 512;  ///< buffered features that a step of fitting looks at, one step a batch
  /// What a step of fitting counts for, in the long run; the first count for more.
  double rate = 0.02;
  /// The least deviation of a component in any direction, in widths of the box.
  double smoothing = 0.03;
  /// The weight of the component that is always as broad as the box.
  double background = 0.01;
  std::uint64_t seed = 0;

  bool operator==(const MixtureOptions&) const = default;
};

}  // namespace rarefy
