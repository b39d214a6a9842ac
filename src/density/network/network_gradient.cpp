#include "density/network/network_gradient.hpp"

#include "kernels/dense.hpp"
#include "kernels/network.hpp"

namespace rarefy {
namespace {

// Inputs of a layer whose weights are dealt with together.
constexpr Index kBlock = 64;

}  // namespace

NetworkGradient::NetworkGradient(const Network& network, Index most, Index piece)
    : network_(&network), most_(most), piece_(piece) {
  assert(piece % kColumnMultiple == 0);
  const Index columns = padded(most, kColumnMultiple);
  const auto floats = [&](Index rows) {
    return AlignedFloats(static_cast<std::size_t>(rows * columns), 0.0F);
  };
  const auto layers = network.layers();
  for (std::size_t l = 0; l < layers.size(); ++l) {
    inputs_.push_back(floats(layers[l].padded_inputs));
    deltas_.push_back(floats(layers[l].padded_outputs));
    if (l + 1 < layers.size()) slopes_.push_back(floats(layers[l].padded_outputs));
    for (Index first = 0; first < layers[l].padded_inputs; first += kBlock) {
      blocks_.push_back({l, first, std::min(kBlock, layers[l].padded_inputs - first)});
    }
  }
  // The large ones first, so that threads finish together.
  std::stable_sort(blocks_.begin(), blocks_.end(), [&](const Block& a, const Block& b) {
    return a.count * layers[a.layer].padded_outputs > b.count * layers[b.layer].padded_outputs;
  });
  losses_.resize(static_cast<std::size_t>((columns + piece - 1) / piece));
  gradient_.assign(network.parameters().size(), 0.0F);
}

// Columns [first, first + count) through all layers; of those that are not real, zeros come out.
void NetworkGradient::forward(Index first, Index count, Index real) {
  const auto& dense = kernels::dense();
  const auto layers = network_->layers();
  const auto column = [&](AlignedFloats& matrix, Index rows) {
    return matrix.data() + first * rows;
  };
  for (std::size_t l = 0; l + 1 < layers.size(); ++l) {
    const auto& layer = layers[l];
    float* const values = column(inputs_[l + 1], layer.padded_outputs);
    dense.forward(network_->weights(layer), column(inputs_[l], layer.padded_inputs), values,
                  layer.padded_outputs, layer.padded_inputs, count);
    kernels::activate(network_->activation(), values, network_->bias(layer),
                      column(slopes_[l], layer.padded_outputs), layer.padded_outputs, count);
  }
  const auto& last = layers.back();
  const float* const bias = network_->bias(last);
  dense.forward(network_->weights(last), column(inputs_.back(), last.padded_inputs),
                column(deltas_.back(), last.padded_outputs), last.padded_outputs,
                last.padded_inputs, count);
  for (Index c = 0; c < count; ++c) {
    float* const output = output_column(first + c);
    if (c < real) {
      for (Index d = 0; d < last.outputs; ++d) output[d] += bias[d];
    } else {
      std::fill(output, output + last.padded_outputs, 0.0F);
    }
  }
}

void NetworkGradient::backward(Index first, Index count) {
  const auto layers = network_->layers();
  const auto column = [&](AlignedFloats& matrix, Index rows) {
    return matrix.data() + first * rows;
  };
  for (std::size_t l = layers.size() - 1; l > 0; --l) {
    const auto& layer = layers[l];
    float* const before = column(deltas_[l - 1], layer.padded_inputs);
    kernels::dense().backward(network_->weights(layer), column(deltas_[l], layer.padded_outputs),
                              before, layer.padded_outputs, layer.padded_inputs, count);
    kernels::scale(before, column(slopes_[l - 1], layer.padded_inputs),
                   layer.padded_inputs * count);
  }
}

void NetworkGradient::make_gradient(Index columns, Workers& workers) {
  workers.for_each(static_cast<Index>(blocks_.size()), [&](Index b) {
    const auto& block = blocks_[static_cast<std::size_t>(b)];
    const auto& layer = network_->layers()[block.layer];
    const float* const deltas = deltas_[block.layer].data();
    kernels::dense().outer(deltas, inputs_[block.layer].data() + block.first, layer.padded_inputs,
                           gradient_.data() + layer.weights + block.first * layer.padded_outputs,
                           layer.padded_outputs, block.count, columns);
    if (block.first == 0) {
      kernels::sum_rows(deltas, gradient_.data() + layer.bias, layer.padded_outputs, columns);
    }
  });
}

}  // namespace rarefy
