// How large the parts of a picture are, and their colours.
#pragma once

#include "canvas.hpp"
#include "rarefy/pictures/heatmap.hpp"

namespace rarefy::pictures {

inline constexpr Colour kInk{0.13, 0.13, 0.13};
inline constexpr Colour kQuiet{0.42, 0.42, 0.42};
inline constexpr Colour kFaint{0.88, 0.88, 0.88};

/// Lengths of the picture of 1400 x 1200 pixels, and how they grow with it.
struct Measures {
  explicit Measures(const PictureSize& size);
  explicit Measures(double unit_);

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

  /// Room beside an axis for what is written along it; none where there is nothing.
  [[nodiscard]] double label_space(const std::string& label) const {
    return label.empty() ? 0.0 : gap() + 1.2 * this->label().size;
  }
};

}  // namespace rarefy::pictures
