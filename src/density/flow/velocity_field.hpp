// The velocity of a flow and its divergence, for many places at once.
//
// The divergence is exact: one tangent for each feature is carried through the layers beside
// the values, so that a layer is one product, (1 + features) columns a place.
#pragma once

#include <vector>

#include "core/aligned_floats.hpp"
#include "density/flow/flow_network.hpp"

namespace rarefy {

class VelocityField {
 public:
  /// Memory for `most` places at a time.
  VelocityField(const VelocityNetwork& network, Index most);

  [[nodiscard]] Index most() const { return most_; }
  [[nodiscard]] Index features() const { return network_->features(); }

  /// To be called when the network has changed.
  void refresh();

  /// Velocities (count x features, row by row) and divergences at `places`, each at its time.
  /// What comes out for a place does not depend on the others.
  void evaluate(const double* places, const double* times, Index count, double* velocities,
                double* divergences);

 private:
  const VelocityNetwork* network_;
  Index most_;
  AlignedFloats inputs_;
  AlignedFloats values_, next_values_;  // of a layer: places first, then their tangents
  AlignedFloats slopes_;
  AlignedFloats outputs_;
  AlignedFloats last_rows_;  // rows of the last layer's weights, one after the other
  std::vector<float> traces_;
};

}  // namespace rarefy
