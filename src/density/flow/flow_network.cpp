#include "density/flow/flow_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/maths.hpp"
#include "kernels/network.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/random.hpp"

namespace rarefy {

VelocityNetwork::VelocityNetwork(Index features, FlowNetworkOptions options)
    : features_(features), options_(std::move(options)) {
  if (options_.layers.empty() ||
      *std::min_element(options_.layers.begin(), options_.layers.end()) < 1) {
    throw Error(ErrorKind::parameter, "hidden layers of the flow", "none, or one without units",
                "at least one, each of at least one unit");
  }
  if (features < 1 || options_.frequencies < 1) {
    throw Error(ErrorKind::parameter, "flow",
                fmt::format("{} features, {} frequencies", features, options_.frequencies),
                "at least one of each");
  }
  Index place = 0;
  Index inputs = features + 2 * options_.frequencies;
  const auto add = [&](Index outputs) {
    Layer layer{.inputs = inputs,
                .outputs = outputs,
                .padded_inputs = padded(inputs, kernels::kUnitMultiple),
                .padded_outputs = padded(outputs, kernels::kUnitMultiple),
                .weights = place,
                .bias = 0};
    layer.bias = place + layer.padded_inputs * layer.padded_outputs;
    place = layer.bias + layer.padded_outputs;
    compact_size_ += outputs * (inputs + 1);
    widest_ = std::max({widest_, layer.padded_inputs, layer.padded_outputs});
    layers_.push_back(layer);
    inputs = outputs;
  };
  for (const Index width : options_.layers) add(width);
  add(features);
  parameters_.assign(static_cast<std::size_t>(place), 0.0F);
}

// Calls visit(place in the padded layout, place in the compact one, layer).
template <typename Visit>
void VelocityNetwork::for_each_parameter(Visit visit) const {
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

void VelocityNetwork::initialise(std::uint64_t seed) {
  RandomStream random({.seed = seed, .purpose = Purpose::weights, .index = 0, .iteration = 0});
  for_each_parameter([&](std::size_t at, std::size_t /*compact*/, const Layer& layer) {
    const double reach = 1.0 / std::sqrt(static_cast<double>(layer.inputs));
    parameters_[at] = static_cast<float>(reach * (2.0 * random.uniform() - 1.0));
  });
}

void VelocityNetwork::write_input(const double* place, double time, float* column) const {
  for (Index d = 0; d < features_; ++d) column[d] = static_cast<float>(place[d]);
  float* const times = column + features_;
  for (Index k = 0; k < options_.frequencies; ++k) {
    const double half_turns = static_cast<double>(k + 1) * time;
    times[k] = static_cast<float>(maths::cos_pi(half_turns));
    times[options_.frequencies + k] = static_cast<float>(maths::sin_pi(half_turns));
  }
}

void VelocityNetwork::to_compact(std::span<const float> padded_values,
                                 std::span<float> compact) const {
  for_each_parameter([&](std::size_t from, std::size_t to, const Layer& /*layer*/) {
    compact[to] = padded_values[from];
  });
}

void VelocityNetwork::from_compact(std::span<const float> compact,
                                   std::span<float> padded_values) const {
  for_each_parameter([&](std::size_t to, std::size_t from, const Layer& /*layer*/) {
    padded_values[to] = compact[from];
  });
}

}  // namespace rarefy
