#include "density/network/adam.hpp"

#include <atomic>
#include <cmath>

#include "core/maths.hpp"
#include "kernels/network.hpp"

namespace rarefy {

Adam::Adam(Index parameters)
    : first(static_cast<std::size_t>(parameters)), second(static_cast<std::size_t>(parameters)) {}

bool Adam::step(double rate, std::span<const float> gradient, std::span<float> parameters,
                Workers& workers) {
  constexpr Index kPiece = 8192;
  ++steps;
  // The corrections m / (1 - beta1^t) and v / (1 - beta2^t), moved to the rate and epsilon.
  const double first_part = 1.0 - maths::power(kBeta1, static_cast<double>(steps));
  const double second_root = std::sqrt(1.0 - maths::power(kBeta2, static_cast<double>(steps)));
  const kernels::AdamStep step{.beta1 = static_cast<float>(kBeta1),
                               .beta2 = static_cast<float>(kBeta2),
                               .rate = static_cast<float>(rate * second_root / first_part),
                               .epsilon = static_cast<float>(kEpsilon * second_root)};
  std::atomic<bool> finite = true;
  workers.for_pieces(static_cast<Index>(parameters.size()), kPiece, [&](Index at, Index count) {
    if (!kernels::adam_step(step, gradient.data() + at, parameters.data() + at, first.data() + at,
                            second.data() + at, count)) {
      finite = false;
    }
  });
  return finite;
}

}  // namespace rarefy
