// From values to colours: where a value lies on the colour map, and the cells of a
// heatmap as pixels.
#pragma once

#include <vector>

#include "canvas.hpp"
#include "rarefy/pictures/axis.hpp"
#include "rarefy/pictures/heatmap.hpp"

namespace rarefy::pictures {

class ColourScale {
 public:
  /// Spans the colour limits of `map`, or without them the values that there are.
  /// Throws Error if those are too far apart for a difference.
  explicit ColourScale(const Heatmap& map);

  /// No cell has a colour.
  [[nodiscard]] bool empty() const { return empty_; }
  /// All cells have one and the same value, which gets the middle colour.
  [[nodiscard]] bool single() const { return single_; }
  [[nodiscard]] bool has_range() const { return has_range_; }
  [[nodiscard]] bool reaches_below() const { return below_; }
  [[nodiscard]] bool reaches_above() const { return above_; }

  /// Where on the colour map, in [0, 1], a value lies; NaN if its cell is empty.
  [[nodiscard]] double position(double value) const;

  [[nodiscard]] std::vector<Tick> ticks(int most) const;

 private:
  [[nodiscard]] bool shows(double value) const;

  bool logarithmic_;
  bool empty_ = true;
  bool single_ = false;
  bool has_range_ = false;
  bool below_ = false;
  bool above_ = false;
  double low_ = 0.0;
  double high_ = 1.0;
};

/// The cells of `map` as pixels that fill `area`.
[[nodiscard]] Raster paint_cells(const Heatmap& map, const ColourScale& scale, const Box& area);

}  // namespace rarefy::pictures
