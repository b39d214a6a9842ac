#include "density/network/network_values.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "kernels/dense.hpp"
#include "kernels/network.hpp"

namespace rarefy {

NetworkValues::NetworkValues(const Network& network, Index most)
    : network_(&network), most_(padded(most, kColumnMultiple)) {
  const auto floats = [&](Index rows) {
    return AlignedFloats(static_cast<std::size_t>(rows * most_), 0.0F);
  };
  inputs_ = floats(network.layers().front().padded_inputs);
  values_ = floats(network.widest());
  next_values_ = floats(network.widest());
  slopes_ = floats(network.widest());
}

void NetworkValues::evaluate(Index count) {
  assert(count <= most_);
  const auto& dense = kernels::dense();
  const auto layers = network_->layers();
  // Columns beyond the last are those of earlier calls, and nobody looks at what they become.
  const Index columns = padded(count, kColumnMultiple);
  const float* from = inputs_.data();
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const auto& layer = layers[l];
    dense.forward(network_->weights(layer), from, next_values_.data(), layer.padded_outputs,
                  layer.padded_inputs, columns);
    if (l + 1 < layers.size()) {
      kernels::activate(network_->activation(), next_values_.data(), network_->bias(layer),
                        slopes_.data(), layer.padded_outputs, columns);
    }
    std::swap(values_, next_values_);
    from = values_.data();
  }
}

float NetworkValues::output(Index sample, Index unit) const {
  const auto& last = network_->layers().back();
  return values_[static_cast<std::size_t>(sample * last.padded_outputs + unit)] +
         network_->bias(last)[unit];
}

}  // namespace rarefy
