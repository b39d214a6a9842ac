// Where everything in the picture of a heatmap goes, before any of it is drawn.
#pragma once

#include <vector>

#include "canvas.hpp"
#include "colour_scale.hpp"
#include "measures.hpp"
#include "rarefy/pictures/axis.hpp"
#include "rarefy/pictures/heatmap.hpp"

namespace rarefy::pictures {

struct HeadingLine {
  Canvas::Fitted text;
  double baseline = 0.0;
  Colour colour;
};

struct HeatmapLayout {
  Box plot;
  Box bar;            ///< without its tips
  int upper_end = 0;  ///< of the plot and the colour bar together
  int lower_end = 0;
  std::vector<HeadingLine> heading;
  std::vector<Tick> x_ticks;
  std::vector<Tick> y_ticks;
  std::vector<Tick> bar_ticks;
  double y_numbers_width = 0.0;
  double bar_numbers_width = 0.0;
};

/// Throws Error if the text leaves no room for the cells.
[[nodiscard]] HeatmapLayout lay_out(const Heatmap& map, const ColourScale& scale,
                                    const PictureSize& size);

}  // namespace rarefy::pictures
