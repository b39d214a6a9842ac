// The bar that says which colour is which value.
#pragma once

#include <vector>

#include "canvas.hpp"
#include "colour_scale.hpp"
#include "measures.hpp"
#include "rarefy/pictures/axis.hpp"

namespace rarefy::pictures {

/// With its tips, which reach out of `bar` where values lie beyond the ends, and numbers on its
/// right.
void draw_colour_bar(Canvas& canvas, const Measures& m, const ColourScale& scale, const Box& bar,
                     const std::vector<Tick>& ticks);

}  // namespace rarefy::pictures
