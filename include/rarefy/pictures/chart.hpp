// Lines over axes: one panel, or several side by side that share a legend.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "rarefy/pictures/line_style.hpp"

namespace rarefy::pictures {

struct ChartAxis {
  std::string label;
  bool logarithmic = false;
  /// Without limits the axis spans what there is to show, with a little room at its ends.
  std::optional<double> low = {}, high = {};
};

/// What was measured, in order of x. A y that is not a number leaves a gap.
struct ChartLine {
  enum class Shape {
    line,  ///< with a band from `low` to `high`
    bars,  ///< with dots, and error bars from `low` to `high`
    dots,  ///< dots alone
  };

  std::size_t entry = 0;  ///< of the legend, which has its style
  Shape shape = Shape::line;
  std::vector<double> x, y;
  /// As many as there are places, or none.
  std::vector<double> low = {}, high = {};
};

struct ChartPanel {
  std::string title;
  ChartAxis x, y;
  std::vector<ChartLine> lines;
};

struct LegendEntry {
  std::string label;  ///< empty: the legend does not mention it
  LineStyle style;
};

struct Chart {
  std::string title, subtitle;
  /// Panels row by row. The label of a y axis is not repeated beside a panel with the same.
  std::vector<ChartPanel> panels;
  std::size_t columns = 1;
  std::vector<LegendEntry> legend;
  /// Pixels of each panel without what is written around it; the picture becomes as large as it
  /// must. 200 pixels are an inch of a vector file.
  int panel_width = 760, panel_height = 520;
};

// The bytes of a file. The same chart gives the same bytes, on one and the same version of the
// drawing library and the fonts. Text in vector files is outlines, so that it looks the same
// wherever the font is missing. Throws Error where a field of the chart cannot be drawn.
[[nodiscard]] std::vector<std::byte> render_png(const Chart& chart);
[[nodiscard]] std::vector<std::byte> render_pdf(const Chart& chart);
[[nodiscard]] std::vector<std::byte> render_svg(const Chart& chart);

}  // namespace rarefy::pictures
