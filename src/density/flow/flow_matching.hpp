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

#include "density/flow/flow_network.hpp"
#include "density/network/network_gradient.hpp"
#include "rarefy/core/batch.hpp"
#include "rarefy/core/workers.hpp"

namespace rarefy {

class FlowMatching {
 public:
  FlowMatching(const VelocityNetwork& network, Index batch, double sigma_min);

  /// The loss, for `batch` samples (x1), noises (x0) and times. It does not depend on the number
  /// of threads.
  double evaluate(BatchView samples, BatchView noise, std::span<const double> times,
                  Workers& workers);
  /// Its gradient, in the layout of the network's parameters.
  [[nodiscard]] std::span<const float> gradient() const { return gradient_.gradient(); }

 private:
  const VelocityNetwork* network_;
  Index batch_;
  double sigma_min_;
  Batch places_;  // x_t
  NetworkGradient gradient_;
};

}  // namespace rarefy
