#include "density/network/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/network.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/random.hpp"

namespace rarefy {

Network::Network(Index inputs, const std::vector<Index>& hidden, Index outputs,
                 Activation activation)
    : activation_(activation) {
  if (hidden.empty() || *std::min_element(hidden.begin(), hidden.end()) < 1) {
    throw Error(ErrorKind::parameter, "hidden layers", "none, or one without units",
                "at least one, each of at least one unit");
  }
  if (inputs < 1 || outputs < 1) {
    throw Error(ErrorKind::parameter, "network",
                fmt::format("{} inputs, {} outputs", inputs, outputs), "at least one of each");
  }
  Index place = 0;
  const auto add = [&](Index units) {
    Layer layer{.inputs = inputs,
                .outputs = units,
                .padded_inputs = padded(inputs, kernels::kUnitMultiple),
                .padded_outputs = padded(units, kernels::kUnitMultiple),
                .weights = place,
                .bias = 0};
    layer.bias = place + layer.padded_inputs * layer.padded_outputs;
    place = layer.bias + layer.padded_outputs;
    compact_size_ += units * (inputs + 1);
    widest_ = std::max({widest_, layer.padded_inputs, layer.padded_outputs});
    layers_.push_back(layer);
    inputs = units;
  };
  for (const Index width : hidden) add(width);
  add(outputs);
  parameters_.assign(static_cast<std::size_t>(place), 0.0F);
}

// Calls visit(place in the padded layout, place in the compact one, layer).
template <typename Visit>
void Network::for_each_parameter(Visit visit) const {
  Index compact = 0;
  for (const auto& layer : layers_) {
    for (Index row = 0; row < layer.outputs; ++row) {
      for (Index column = 0; column < layer.inputs; ++column) {
        visit(static_cast<std::size_t>(layer.weights + column * layer.padded_outputs + row),
              static_cast<std::size_t>(compact++), layer);
      }
    }
    for (Index row = 0; row < layer.outputs; ++row) {
      visit(static_cast<std::size_t>(layer.bias + row), static_cast<std::size_t>(compact++), layer);
    }
  }
}

void Network::initialise(std::uint64_t seed) {
  RandomStream random({.seed = seed, .purpose = Purpose::weights, .index = 0, .iteration = 0});
  for_each_parameter([&](std::size_t at, std::size_t /*compact*/, const Layer& layer) {
    const double reach = 1.0 / std::sqrt(static_cast<double>(layer.inputs));
    parameters_[at] = static_cast<float>(reach * (2.0 * random.uniform() - 1.0));
  });
}

void Network::to_compact(std::span<const float> padded_values, std::span<float> compact) const {
  for_each_parameter([&](std::size_t from, std::size_t to, const Layer& /*layer*/) {
    compact[to] = padded_values[from];
  });
}

void Network::from_compact(std::span<const float> compact, std::span<float> padded_values) const {
  for_each_parameter([&](std::size_t to, std::size_t from, const Layer& /*layer*/) {
    padded_values[to] = compact[from];
  });
}

}  // namespace rarefy
