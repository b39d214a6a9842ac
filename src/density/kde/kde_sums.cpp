#include "density/kde/kde_sums.hpp"

#include <cmath>
#include <numbers>
#include <utility>

namespace rarefy {

KernelCoordinates::KernelCoordinates(const KdeOptions& options,
                                     std::vector<double> bandwidths_of_features)
    : bandwidths(std::move(bandwidths_of_features)) {
  // 2^-(d^2) is the Gaussian exp(-u^2 / 2) when d^2 = u^2 log2(e) / 2.
  const double unit =
      options.kernel == Kernel::gaussian ? std::sqrt(0.5 * std::numbers::log2e) : 1.0;
  for (std::size_t i = 0; i < bandwidths.size(); ++i) {
    centre.push_back(0.5 * (options.space.lower[i] + options.space.upper[i]));
    scale.push_back(unit / bandwidths[i]);
  }
}

}  // namespace rarefy
