// Many heatmaps in rows and columns: those of a row share one colour scale.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "rarefy/pictures/heatmap.hpp"

namespace rarefy::pictures {

struct HeatmapRow {
  std::string title;
  /// One for each column; none: left blank. Titles and labels of their axes are not drawn, markers
  /// are without their labels, and a subtitle stands above its map.
  std::vector<std::optional<Heatmap>> maps;
};

struct HeatmapPanels {
  std::string title, subtitle;
  std::vector<std::string> columns;
  std::vector<HeatmapRow> rows;
  /// The longer side of each map, in pixels; the picture becomes as large as it must.
  int side = 300;
};

// The bytes of a file, as for a single heatmap.
[[nodiscard]] std::vector<std::byte> render_png(const HeatmapPanels& panels);
[[nodiscard]] std::vector<std::byte> render_pdf(const HeatmapPanels& panels);
[[nodiscard]] std::vector<std::byte> render_svg(const HeatmapPanels& panels);

}  // namespace rarefy::pictures
