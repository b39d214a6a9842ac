// What an emitter has learned of the shape of its steps, for others to begin with.
#pragma once

#include <span>

namespace rarefy {

/// Variances and covariances of the steps, in a layout that all emitters of a kind have in common:
/// a whole matrix (what is below its diagonal does not count), or a diagonal.
struct StepShape {
  std::span<const double> values = {};  ///< empty: there is nothing to tell
  double mean_variance = 1;             ///< of a coordinate: the scale that the values are in
};

}  // namespace rarefy
