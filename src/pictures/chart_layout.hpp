// Where everything in the picture of a chart goes, before any of it is drawn.
#pragma once

#include <vector>

#include "canvas.hpp"
#include "frame.hpp"
#include "measures.hpp"
#include "rarefy/pictures/axis.hpp"
#include "rarefy/pictures/chart.hpp"

namespace rarefy::pictures {

/// An axis with its limits settled.
struct AxisLayout {
  double low = 0.0, high = 1.0;
  Place place;
  std::vector<Tick> ticks;
};

struct PanelLayout {
  Box plot;
  AxisLayout x, y;
  double y_numbers_width = 0.0;
  bool shows_x_label = true, shows_y_label = true;
};

/// A place of the legend.
struct LegendPlace {
  std::size_t entry = 0;
  double x = 0.0, baseline = 0.0;
};

/// Parts of a chart are a little smaller than those of a picture of one heatmap.
inline Measures chart_measures() { return Measures(0.8); }
/// The sample of a line in the legend, and what follows it.
inline constexpr double kSampleLength = 52.0, kSampleGap = 10.0;

struct ChartLayout {
  int width = 0, height = 0;
  double title_baseline = 0.0, subtitle_baseline = 0.0;
  std::vector<PanelLayout> panels;
  std::vector<LegendPlace> legend;
};

[[nodiscard]] ChartLayout lay_out(const Chart& chart);

}  // namespace rarefy::pictures
