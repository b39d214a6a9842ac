// Trains a network with one output to give wanted values at given places.
#pragma once

#include <optional>
#include <span>

#include "density/network/network.hpp"
#include "density/network/network_gradient.hpp"
#include "density/network/network_training.hpp"
#include "rarefy/core/batch.hpp"
#include "rarefy/core/workers.hpp"

namespace rarefy {

class NetworkRegression {
 public:
  /// In steps of `batch` samples.
  NetworkRegression(const Network& network, Index batch);

  /// One epoch: a step of `training` for every `batch` samples, in the given order, each down the
  /// gradient of the mean of (output - wanted)^2 over its samples. A row of `samples` is the
  /// network's inputs and then what is wanted. Returns the mean over all samples, each under the
  /// network before its step; none when a number is no longer finite.
  [[nodiscard]] std::optional<double> epoch(BatchView samples, std::span<const Index> order,
                                            NetworkTraining& training, Workers& workers);

  /// Of the last step.
  [[nodiscard]] std::span<const float> gradient() const { return gradient_.gradient(); }

 private:
  Index batch_;
  NetworkGradient gradient_;
};

}  // namespace rarefy
