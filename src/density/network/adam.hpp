// Adam (Kingma and Ba, "Adam: a method for stochastic optimization", ICLR 2015, algorithm 1).
#pragma once

#include <cstdint>
#include <span>

#include "core/aligned_floats.hpp"
#include "rarefy/core/batch.hpp"
#include "rarefy/core/workers.hpp"

namespace rarefy {

class Adam {
 public:
  explicit Adam(Index parameters);

  /// One step down the gradient. False when a parameter or a moment is no longer finite.
  [[nodiscard]] bool step(double rate, std::span<const float> gradient, std::span<float> parameters,
                          Workers& workers);

  /// Running means of the gradient and of its square, and how many steps they are made of.
  AlignedFloats first, second;
  std::int64_t steps = 0;

  static constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kEpsilon = 1e-8;  // as the paper proposes
};

}  // namespace rarefy
