// One arm as a picture.
#pragma once

#include <span>
#include <string>

#include "rarefy/domains/arm.hpp"
#include "rarefy/pictures/heatmap.hpp"

namespace rarefy {

/// The links of an arm from its base to its end point, coloured by their number, in the disc that
/// it can reach.
[[nodiscard]] pictures::Heatmap arm_map(const Arm& arm, std::span<const double> solution,
                                        const std::string& subtitle);

}  // namespace rarefy
