#include "density/flow/flow_matching.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "kernels/dense.hpp"
#include "kernels/network.hpp"

namespace rarefy {
namespace {

// Samples that go through the network together, and inputs of a layer whose weights are dealt
// with together: enough for products to be fast, few enough to share out.
constexpr Index kSamplesAPiece = 64;
constexpr Index kBlock = 64;

}  // namespace

FlowMatching::FlowMatching(const VelocityNetwork& network, Index batch, double sigma_min)
    : network_(&network),
      batch_(batch),
      columns_(padded(batch, kColumnMultiple)),
      sigma_min_(sigma_min) {
  const auto floats = [&](Index rows) {
    return AlignedFloats(static_cast<std::size_t>(rows * columns_), 0.0F);
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
  losses_.resize(static_cast<std::size_t>((columns_ + kSamplesAPiece - 1) / kSamplesAPiece));
  gradient_.assign(network.parameters().size(), 0.0F);
}

double FlowMatching::evaluate(BatchView samples, BatchView noise, std::span<const double> times,
                              Workers& workers) {
  assert(samples.rows() == batch_ && noise.rows() == batch_);
  workers.for_pieces(columns_, kSamplesAPiece, [&](Index first, Index count) {
    through(samples, noise, times, first, count);
  });
  workers.for_each(static_cast<Index>(blocks_.size()), [&](Index b) {
    const auto& block = blocks_[static_cast<std::size_t>(b)];
    const auto& layer = network_->layers()[block.layer];
    const float* const deltas = deltas_[block.layer].data();
    kernels::dense().outer(deltas, inputs_[block.layer].data() + block.first, layer.padded_inputs,
                           gradient_.data() + layer.weights + block.first * layer.padded_outputs,
                           layer.padded_outputs, block.count, columns_);
    if (block.first == 0) {
      kernels::sum_rows(deltas, gradient_.data() + layer.bias, layer.padded_outputs, columns_);
    }
  });
  return std::accumulate(losses_.begin(), losses_.end(), 0.0);
}

// Columns [first, first + count) forward through all layers, and their errors back again.
void FlowMatching::through(BatchView samples, BatchView noise, std::span<const double> times,
                           Index first, Index count) {
  const auto& dense = kernels::dense();
  const auto layers = network_->layers();
  const Index dims = network_->features();
  const auto column = [&](AlignedFloats& matrix, Index rows) {
    return matrix.data() + first * rows;
  };
  const Index real = std::min(count, batch_ - first);  // the others are padding

  std::vector<double> place(static_cast<std::size_t>(dims));
  for (Index c = 0; c < real; ++c) {
    const auto t = times[static_cast<std::size_t>(first + c)];
    for (Index d = 0; d < dims; ++d) {
      place[static_cast<std::size_t>(d)] =
          (1.0 - (1.0 - sigma_min_) * t) * noise(first + c, d) + t * samples(first + c, d);
    }
    const Index rows = layers.front().padded_inputs;
    network_->write_input(place.data(), t, column(inputs_.front(), rows) + c * rows);
  }

  for (std::size_t l = 0; l + 1 < layers.size(); ++l) {
    const auto& layer = layers[l];
    float* const values = column(inputs_[l + 1], layer.padded_outputs);
    dense.forward(network_->weights(layer), column(inputs_[l], layer.padded_inputs), values,
                  layer.padded_outputs, layer.padded_inputs, count);
    kernels::activate(network_->options().activation, values, network_->bias(layer),
                      column(slopes_[l], layer.padded_outputs), layer.padded_outputs, count);
  }
  const auto& last = layers.back();
  const float* const bias = network_->bias(last);
  float* const outputs = column(deltas_.back(), last.padded_outputs);
  dense.forward(network_->weights(last), column(inputs_.back(), last.padded_inputs), outputs,
                last.padded_outputs, last.padded_inputs, count);

  // The errors take the place of the outputs.
  const double share = 1.0 / static_cast<double>(batch_ * dims);
  double loss = 0.0;
  for (Index c = 0; c < count; ++c) {
    float* const output = outputs + c * last.padded_outputs;
    if (c >= real) {
      std::fill(output, output + last.padded_outputs, 0.0F);
      continue;
    }
    for (Index d = 0; d < dims; ++d) {
      const double wanted = samples(first + c, d) - (1.0 - sigma_min_) * noise(first + c, d);
      const double error = static_cast<double>(output[d] + bias[d]) - wanted;
      loss += share * error * error;
      output[d] = static_cast<float>(2.0 * share * error);
    }
  }
  losses_[static_cast<std::size_t>(first / kSamplesAPiece)] = loss;

  for (std::size_t l = layers.size() - 1; l > 0; --l) {
    const auto& layer = layers[l];
    float* const before = column(deltas_[l - 1], layer.padded_inputs);
    dense.backward(network_->weights(layer), column(deltas_[l], layer.padded_outputs), before,
                   layer.padded_outputs, layer.padded_inputs, count);
    kernels::scale(before, column(slopes_[l - 1], layer.padded_inputs),
                   layer.padded_inputs * count);
  }
}

}  // namespace rarefy
