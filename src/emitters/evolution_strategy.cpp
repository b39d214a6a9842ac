#include "rarefy/emitters/evolution_strategy.hpp"

#include <algorithm>

namespace rarefy {

Stop EvolutionStrategy::stop_by(double longest_axis, std::span<const double> scores,
                                const StopTests& tests) {
  if (!(longest_axis >= tests.step_size) || !(longest_axis <= tests.largest)) {
    return Stop::step_size;
  }
  if (scores.size() >= 2) {
    const auto [least, most] = std::minmax_element(scores.begin(), scores.end());
    if (!(*most - *least >= tests.flat)) return Stop::flat;  // infinite scores are flat, too
  }
  return Stop::none;
}

}  // namespace rarefy
