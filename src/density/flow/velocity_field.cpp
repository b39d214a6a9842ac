#include "density/flow/velocity_field.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "kernels/dense.hpp"
#include "kernels/network.hpp"

namespace rarefy {

VelocityField::VelocityField(const VelocityNetwork& network, Index most)
    : network_(&network), most_(padded(most, kColumnMultiple)) {
  const auto floats = [&](Index rows, Index columns) {
    return AlignedFloats(static_cast<std::size_t>(rows * columns), 0.0F);
  };
  const Index all = most_ * (1 + network.features());
  inputs_ = floats(network.layers().front().padded_inputs, most_);
  values_ = floats(network.widest(), all);
  next_values_ = floats(network.widest(), all);
  slopes_ = floats(network.widest(), most_);
  const auto& last = network.layers().back();
  outputs_ = floats(last.padded_outputs, most_);
  last_rows_ = floats(last.padded_inputs, network.features());
  traces_.resize(static_cast<std::size_t>(most_));
  refresh();
}

void VelocityField::refresh() {
  const auto& last = network_->layers().back();
  const float* const weights = network_->weights(last);
  for (Index d = 0; d < features(); ++d) {
    for (Index j = 0; j < last.padded_inputs; ++j) {
      last_rows_[static_cast<std::size_t>(d * last.padded_inputs + j)] =
          weights[j * last.padded_outputs + d];
    }
  }
}

void VelocityField::evaluate(const double* places, const double* times, Index count,
                             double* velocities, double* divergences) {
  assert(count <= most_);
  const auto& dense = kernels::dense();
  const auto activation = network_->activation();
  const auto layers = network_->layers();
  const Index dims = features();
  const Index columns = padded(count, kColumnMultiple);

  const auto& first = layers.front();
  for (Index c = 0; c < columns; ++c) {
    const Index source = std::min(c, count - 1);  // padding repeats the last place
    network_->write_input(places + source * dims, times[source],
                          inputs_.data() + c * first.padded_inputs);
  }
  dense.forward(network_->weights(first), inputs_.data(), values_.data(), first.padded_outputs,
                first.padded_inputs, columns);
  kernels::activate(activation, values_.data(), network_->bias(first), slopes_.data(),
                    first.padded_outputs, columns);
  // The tangent of the input along feature d is a unit vector, and picks a column of weights.
  for (Index d = 0; d < dims; ++d) {
    kernels::scale_rows(slopes_.data(), network_->weights(first) + d * first.padded_outputs,
                        values_.data() + (1 + d) * columns * first.padded_outputs,
                        first.padded_outputs, columns);
  }

  for (std::size_t l = 1; l + 1 < layers.size(); ++l) {
    const auto& layer = layers[l];
    dense.forward(network_->weights(layer), values_.data(), next_values_.data(),
                  layer.padded_outputs, layer.padded_inputs, columns * (1 + dims));
    const Index size = columns * layer.padded_outputs;
    kernels::activate(activation, next_values_.data(), network_->bias(layer), slopes_.data(),
                      layer.padded_outputs, columns);
    for (Index d = 0; d < dims; ++d) {
      kernels::scale(next_values_.data() + (1 + d) * size, slopes_.data(), size);
    }
    std::swap(values_, next_values_);
  }

  const auto& last = layers.back();
  dense.forward(network_->weights(last), values_.data(), outputs_.data(), last.padded_outputs,
                last.padded_inputs, columns);
  std::fill(traces_.begin(), traces_.begin() + columns, 0.0F);
  for (Index d = 0; d < dims; ++d) {
    kernels::add_dot_products(last_rows_.data() + d * last.padded_inputs,
                              values_.data() + (1 + d) * columns * last.padded_inputs,
                              traces_.data(), last.padded_inputs, columns);
  }
  const float* const bias = network_->bias(last);
  for (Index c = 0; c < count; ++c) {
    for (Index d = 0; d < dims; ++d) {
      velocities[c * dims + d] =
          outputs_[static_cast<std::size_t>(c * last.padded_outputs + d)] + bias[d];
    }
    divergences[c] = traces_[static_cast<std::size_t>(c)];
  }
}

}  // namespace rarefy
