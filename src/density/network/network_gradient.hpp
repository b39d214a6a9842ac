// The gradient of a loss by a network's parameters, over a batch of samples.
#pragma once

#include <algorithm>
#include <cassert>
#include <span>
#include <vector>

#include "core/aligned_floats.hpp"
#include "density/network/network.hpp"
#include "rarefy/core/batch.hpp"
#include "rarefy/core/workers.hpp"

namespace rarefy {

class NetworkGradient {
 public:
  /// For up to `most` samples at a time, which go through the network `piece` together: enough
  /// for products to be fast, few enough to share out. A multiple of kColumnMultiple.
  NetworkGradient(const Network& network, Index most, Index piece);

  /// The loss of `samples` samples, and its gradient. What is made of them:
  ///   write_input(sample, column)   fills the first layer's inputs
  ///   judge(sample, outputs, loss)  adds the sample's part of the loss, and puts its derivatives
  ///                                 in the place of the outputs
  /// Samples go through the network in pieces of fixed size, and every weight's gradient is one
  /// sum over all of them, so that neither depends on the number of threads.
  template <typename WriteInput, typename Judge>
  double evaluate(Index samples, Workers& workers, WriteInput&& write_input, Judge&& judge) {
    assert(samples <= most_);
    const Index columns = padded(samples, kColumnMultiple);
    workers.for_pieces(columns, piece_, [&](Index first, Index count) {
      const Index real = std::min(count, samples - first);  // the others are padding
      for (Index c = 0; c < real; ++c) write_input(first + c, input_column(first + c));
      forward(first, count, real);
      double loss = 0.0;
      for (Index c = 0; c < real; ++c) judge(first + c, output_column(first + c), loss);
      losses_[static_cast<std::size_t>(first / piece_)] = loss;
      backward(first, count);
    });
    make_gradient(columns, workers);
    double loss = 0.0;
    for (Index first = 0; first < columns; first += piece_) {
      loss += losses_[static_cast<std::size_t>(first / piece_)];
    }
    return loss;
  }

  /// In the layout of the network's parameters.
  [[nodiscard]] std::span<const float> gradient() const { return gradient_; }

 private:
  // A block of a layer's weights: some of its inputs, and for the first block the bias.
  struct Block {
    std::size_t layer;
    Index first, count;
  };

  [[nodiscard]] float* input_column(Index sample) {
    return inputs_.front().data() + sample * network_->layers().front().padded_inputs;
  }
  [[nodiscard]] float* output_column(Index sample) {
    return deltas_.back().data() + sample * network_->layers().back().padded_outputs;
  }
  void forward(Index first, Index count, Index real);
  void backward(Index first, Index count);
  void make_gradient(Index columns, Workers& workers);

  const Network* network_;
  Index most_, piece_;
  std::vector<Block> blocks_;
  std::vector<AlignedFloats> inputs_;  // of each layer
  std::vector<AlignedFloats> slopes_;  // behind each layer but the last
  std::vector<AlignedFloats> deltas_;  // the loss by what each layer gives, before activation
  std::vector<double> losses_;         // by piece
  AlignedFloats gradient_;
};

}  // namespace rarefy
