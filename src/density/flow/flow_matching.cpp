#include "density/flow/flow_matching.hpp"

#include <cassert>

namespace rarefy {
namespace {

constexpr Index kSamplesAPiece = 64;

}  // namespace

FlowMatching::FlowMatching(const VelocityNetwork& network, Index batch, double sigma_min)
    : network_(&network),
      batch_(batch),
      sigma_min_(sigma_min),
      places_(batch, network.features()),
      gradient_(network, batch, kSamplesAPiece) {}

double FlowMatching::evaluate(BatchView samples, BatchView noise, std::span<const double> times,
                              Workers& workers) {
  assert(samples.rows() == batch_ && noise.rows() == batch_);
  const Index dims = network_->features();
  const double share = 1.0 / static_cast<double>(batch_ * dims);
  const auto write_input = [&](Index i, float* column) {
    const auto t = times[static_cast<std::size_t>(i)];
    for (Index d = 0; d < dims; ++d) {
      places_(i, d) = (1.0 - (1.0 - sigma_min_) * t) * noise(i, d) + t * samples(i, d);
    }
    network_->write_input(places_.row(i).data(), t, column);
  };
  const auto judge = [&](Index i, float* output, double& loss) {
    for (Index d = 0; d < dims; ++d) {
      const double wanted = samples(i, d) - (1.0 - sigma_min_) * noise(i, d);
      const double error = static_cast<double>(output[d]) - wanted;
      loss += share * error * error;
      output[d] = static_cast<float>(2.0 * share * error);
    }
  };
  return gradient_.evaluate(batch_, workers, write_input, judge);
}

}  // namespace rarefy
