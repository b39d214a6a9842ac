// The loss a flow is trained by, and its gradient.
//
// Flow matching with optimal-transport paths (Lipman et al., "Flow matching for generative
// modeling", ICLR 2023, equations 20 to 23): from noise x0 to a sample x1, with s = sigma_min,
//
//   x_t  = (1 - (1 - s) t) x0 + t x1
//   loss = mean over the batch and the features of (v(x_t, t) - (x1 - (1 - s) x0))^2
#pragma once

#include <span>
#include <vector>

#include "core/aligned_floats.hpp"
#include "density/flow/flow_network.hpp"
#include "rarefy/core/batch.hpp"
#include "rarefy/core/workers.hpp"

namespace rarefy {

class FlowMatching {
 public:
  FlowMatching(const VelocityNetwork& network, Index batch, double sigma_min);

  /// The loss, for `batch` samples (x1), noises (x0) and times. Samples go through the network in
  /// pieces of fixed size, and every weight's gradient is one sum over all of them, so that
  /// neither depends on the number of threads.
  double evaluate(BatchView samples, BatchView noise, std::span<const double> times,
                  Workers& workers);
  /// Its gradient, in the layout of the network's parameters.
  [[nodiscard]] std::span<const float> gradient() const { return gradient_; }

 private:
  void through(BatchView samples, BatchView noise, std::span<const double> times, Index first,
               Index count);

  // A block of a layer's weights: some of its inputs, and for the first block the bias.
  struct Block {
    std::size_t layer;
    Index first, count;
  };

  const VelocityNetwork* network_;
  Index batch_, columns_;
  double sigma_min_;
  std::vector<Block> blocks_;
  std::vector<AlignedFloats> inputs_;  // of each layer
  std::vector<AlignedFloats> slopes_;  // behind each layer but the last
  std::vector<AlignedFloats> deltas_;  // the loss by what each layer gives, before activation
  std::vector<double> losses_;         // by piece
  AlignedFloats gradient_;
};

}  // namespace rarefy
