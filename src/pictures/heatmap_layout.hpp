// Where everything in the picture of a heatmap goes, before any of it is drawn.
#pragma once

#include <vector>

#include "canvas.hpp"
#include "colour_scale.hpp"
#include "rarefy/pictures/axis.hpp"
#include "rarefy/pictures/heatmap.hpp"

namespace rarefy::pictures {

inline constexpr Colour kInk{0.13, 0.13, 0.13};
inline constexpr Colour kQuiet{0.42, 0.42, 0.42};

/// Lengths of the picture of 1400 x 1200 pixels, and how they grow with it.
struct Measures {
  explicit Measures(const PictureSize& size);

  double unit = 1.0;
  int stroke = 2;

  [[nodiscard]] double margin() const { return 28.0 * unit; }
  [[nodiscard]] double gap() const { return 9.0 * unit; }
  [[nodiscard]] double tick() const { return 10.0 * unit; }
  [[nodiscard]] double minor_tick() const { return 6.0 * unit; }
  [[nodiscard]] double bar_width() const { return 38.0 * unit; }
  [[nodiscard]] int bar_tip() const { return static_cast<int>(0.6 * bar_width()); }
  [[nodiscard]] double bar_gap() const { return 40.0 * unit; }
  [[nodiscard]] Font title() const { return {36.0 * unit, true}; }
  [[nodiscard]] Font subtitle() const { return {26.0 * unit}; }
  [[nodiscard]] Font label() const { return {30.0 * unit}; }
  [[nodiscard]] Font number() const { return {26.0 * unit}; }
  [[nodiscard]] Font marker() const { return {24.0 * unit}; }
};

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
