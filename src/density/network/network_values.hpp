// What a network makes of many inputs at once.
#pragma once

#include "core/aligned_floats.hpp"
#include "density/network/network.hpp"

namespace rarefy {

/// Memory of one thread. The network may change between calls.
class NetworkValues {
 public:
  /// For `most` samples at a time.
  NetworkValues(const Network& network, Index most);

  [[nodiscard]] Index most() const { return most_; }
  /// The inputs of a sample, to be filled before evaluate().
  [[nodiscard]] float* input(Index sample) {
    return inputs_.data() + sample * network_->layers().front().padded_inputs;
  }
  /// What comes out for a sample does not depend on the others.
  void evaluate(Index count);
  [[nodiscard]] float output(Index sample, Index unit = 0) const;

 private:
  const Network* network_;
  Index most_;
  AlignedFloats inputs_, values_, next_values_, slopes_;
};

}  // namespace rarefy
