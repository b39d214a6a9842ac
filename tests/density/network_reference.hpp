// A network and its regression as slowly and plainly as can be, in double precision.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "density/flow_reference.hpp"
#include "density/network/network.hpp"

namespace network_reference {

using rarefy::Index;
using Values = std::vector<double>;

/// Layer by layer the weights, row by row, then the biases: as Network::to_compact has them.
struct Reference {
  std::vector<Index> widths;  // of the inputs, the hidden layers and the outputs
  rarefy::Activation activation;
  Values parameters;

  [[nodiscard]] Values outputs(std::span<const double> inputs) const {
    Values values(inputs.begin(), inputs.end());
    std::size_t at = 0;
    for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
      const auto rows = static_cast<std::size_t>(widths[l + 1]), columns = values.size();
      Values next(rows, 0.0);
      for (auto& sum : next) {
        for (std::size_t j = 0; j < columns; ++j) sum += parameters[at++] * values[j];
      }
      for (auto& sum : next) sum += parameters[at++];
      if (l + 2 < widths.size()) {
        for (auto& sum : next) sum = flow_reference::bend(activation, sum);
      }
      values = std::move(next);
    }
    return values;
  }

  /// The mean of (output - wanted)^2 over rows of inputs and what is wanted.
  [[nodiscard]] double loss(const std::vector<Values>& samples) const {
    double sum = 0.0;
    for (const auto& sample : samples) {
      const double error = outputs({sample.data(), sample.size() - 1})[0] - sample.back();
      sum += error * error;
    }
    return sum / static_cast<double>(samples.size());
  }

  /// Its derivative by a parameter, by a central difference.
  [[nodiscard]] double slope(const std::vector<Values>& samples, std::size_t parameter,
                             double step) const {
    Reference up = *this, down = *this;
    up.parameters[parameter] += step;
    down.parameters[parameter] -= step;
    return (up.loss(samples) - down.loss(samples)) / (2.0 * step);
  }
};

inline Reference reference_of(const rarefy::Network& network) {
  std::vector<float> values(static_cast<std::size_t>(network.compact_size()));
  network.to_compact(network.parameters(), values);
  Reference reference{.widths = {network.layers().front().inputs},
                      .activation = network.activation(),
                      .parameters = Values(values.begin(), values.end())};
  for (const auto& layer : network.layers()) reference.widths.push_back(layer.outputs);
  return reference;
}

}  // namespace network_reference
