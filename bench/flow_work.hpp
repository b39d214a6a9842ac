// The two things a flow does in an iteration, apart from the search: training and answering.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "density/flow/flow_matching.hpp"
#include "density/flow/flow_network.hpp"
#include "density/network/adam.hpp"
#include "rarefy/core/batch.hpp"
#include "rarefy/core/workers.hpp"
#include "rarefy/density/flow.hpp"

namespace rarefy::bench {

/// What a step of training is made of: samples, noises and times, a row each.
struct FlowBatch {
  Batch samples, noise;
  std::vector<double> times;
};

/// Steps of training, always on the same batch.
class FlowTraining {
 public:
  FlowTraining(const FlowOptions& options, FlowBatch batch);
  FlowTraining(const FlowTraining&) = delete;
  FlowTraining& operator=(const FlowTraining&) = delete;

  /// Weights and biases as FlowDensity::parameters() orders them.
  void set_parameters(std::span<const float> values);
  double loss_and_gradient(Workers& workers);
  /// Of the last call, in the same order.
  [[nodiscard]] std::vector<float> gradient() const;
  /// The gradient, and a step of Adam down it.
  void step(Workers& workers);

 private:
  FlowBatch batch_;
  double rate_;
  VelocityNetwork network_;
  FlowMatching loss_;
  Adam adam_;
};

/// A flow that answers queries, as one without any training does not: it has seen a few samples
/// and made one step. Its parameters can be set to others.
[[nodiscard]] std::unique_ptr<FlowDensity> informed_flow(FlowOptions options, Workers& workers);

}  // namespace rarefy::bench
