// A grid of values as a picture: coloured cells, two axes and a colour bar.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rarefy/core/batch.hpp"
#include "rarefy/pictures/colour_map.hpp"

namespace rarefy::pictures {

/// The values at the two ends of the colour map; values beyond them get the
/// colour of the end, and the colour bar a pointed tip.
struct ColourLimits {
  double low = 0.0;
  double high = 1.0;
};

/// A black line in data coordinates, the wall of a maze for one.
struct Segment {
  double x1 = 0.0;
  double y1 = 0.0;
  double x2 = 0.0;
  double y2 = 0.0;
};

/// A point in data coordinates; one outside the axes is not drawn.
struct Marker {
  double x = 0.0;
  double y = 0.0;
  Colour colour = {0.84, 0.15, 0.16};
  std::string label;
};

/// A dot in data coordinates: one of many, without a label.
struct Dot {
  double x = 0.0;
  double y = 0.0;
};

/// A point of a path, coloured by a value of its own on the colour scale of the cells.
struct PathPoint {
  double x = 0.0;
  double y = 0.0;
  double value = 0.0;
};

/// Some of the cells of a heatmap: `rows` x `columns` of them.
struct CellTile {
  Index first_row = 0;
  Index rows = 0;
  Index first_column = 0;
  Index columns = 0;
};

struct Heatmap {
  Index columns = 0;
  Index rows = 0;
  /// Row-major; row 0 is the lowest in y. NaN is an empty cell and shows the
  /// background. Where there are more cells than pixels, a pixel shows the mean
  /// position on the colour scale of its cells that are not empty.
  std::vector<double> values;
  /// Instead of `values`, where a copy of all would take too much: writes the values of a tile, row
  /// by row. It is asked for every cell, more than once.
  std::function<void(const CellTile& tile, std::span<double> values)> fill;

  double x_low = 0.0;
  double x_high = 1.0;
  double y_low = 0.0;
  double y_high = 1.0;

  std::string title;
  std::string subtitle;
  std::string x_label;
  std::string y_label;
  std::string colour_label;

  /// Colours by log10 of the value; values that are not positive count as empty.
  bool logarithmic = false;
  /// One unit of x is as long as one of y.
  bool equal_aspect = false;
  /// Without limits the colours span the values that there are.
  std::optional<ColourLimits> colour_limits;

  /// Drawn right above the cells.
  std::vector<Dot> dots;
  std::vector<Segment> walls;
  /// Drawn above the walls and below the markers. Its values need colour limits.
  std::vector<PathPoint> path;
  std::vector<Marker> markers;
};

/// In pixels; text and lines grow with the picture. The page of a vector file
/// measures 1/200 inch a pixel.
struct PictureSize {
  int width = 1400;
  int height = 1200;
};

/// The colour of empty cells.
inline constexpr Colour kEmptyCell = {0.92, 0.92, 0.92};

// The bytes of a file. The same heatmap gives the same bytes, on one and the same
// version of the drawing library and the fonts. Throws Error where a field of the
// heatmap or the size cannot be drawn.
[[nodiscard]] std::vector<std::byte> render_png(const Heatmap& heatmap,
                                                const PictureSize& size = {});
[[nodiscard]] std::vector<std::byte> render_pdf(const Heatmap& heatmap,
                                                const PictureSize& size = {});
[[nodiscard]] std::vector<std::byte> render_svg(const Heatmap& heatmap,
                                                const PictureSize& size = {});

}  // namespace rarefy::pictures
