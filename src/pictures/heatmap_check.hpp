// Whether a heatmap can be drawn.
#pragma once

#include "rarefy/pictures/heatmap.hpp"

namespace rarefy::pictures {

/// Throws Error that names the field where it cannot.
void check_heatmap(const Heatmap& map);

}  // namespace rarefy::pictures
