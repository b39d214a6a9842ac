// What is drawn above the cells of a heatmap: dots, walls, a path, markers.
#pragma once

#include "canvas.hpp"
#include "colour_scale.hpp"
#include "measures.hpp"
#include "rarefy/pictures/heatmap.hpp"

namespace rarefy::pictures {

/// Nothing reaches out of `plot`.
void draw_overlays(Canvas& canvas, const Measures& m, const Heatmap& map, const ColourScale& scale,
                   const Box& plot);

}  // namespace rarefy::pictures
