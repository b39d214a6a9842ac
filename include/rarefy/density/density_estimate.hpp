// A density in the strict sense: one that integrates to 1 over feature space.
//
// What kernels and flows have in common, and what can be drawn: the value anywhere, and the
// samples it was made of.
#pragma once

#include <cstdint>
#include <span>

#include "rarefy/density/density.hpp"

namespace rarefy {

class DensityEstimate : public Density {
 public:
  /// Natural logarithms of the density, per unit of feature space, at the rows of `features`.
  virtual void log_density(BatchView features, std::span<double> out, Workers& workers) = 0;

  /// What candidates are told apart by, in the unit of log_density(): that itself, unless the
  /// estimate sees more than a density can say.
  virtual void refined_log_density(BatchView features, std::span<double> out, Workers& workers) {
    log_density(features, out, workers);
  }

  /// The features it is an estimate from, or a sample of them where it has not kept all.
  [[nodiscard]] virtual BatchView samples() const = 0;
  /// How many they are in all.
  [[nodiscard]] virtual std::int64_t sample_count() const { return samples().rows(); }
};

}  // namespace rarefy
