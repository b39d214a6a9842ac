// The network of a flow: the velocity at a place x and a time t.
//
// A multilayer perceptron on [x, cos(k pi t), sin(k pi t), k = 1 .. frequencies].
#pragma once

#include "density/network/network.hpp"
#include "rarefy/density/flow_options.hpp"

namespace rarefy {

class VelocityNetwork : public Network {
 public:
  VelocityNetwork(Index features, FlowNetworkOptions options);

  [[nodiscard]] Index features() const { return features_; }
  [[nodiscard]] const FlowNetworkOptions& options() const { return options_; }

  /// Fills a column of the first layer's input.
  void write_input(const double* place, double time, float* column) const;

 private:
  Index features_;
  FlowNetworkOptions options_;
};

}  // namespace rarefy
