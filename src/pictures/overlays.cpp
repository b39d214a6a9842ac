#include "overlays.hpp"

#include <algorithm>
#include <cstddef>

namespace rarefy::pictures {
namespace {

class Overlays {
 public:
  Overlays(Canvas& canvas, const Measures& m, const Heatmap& map, const ColourScale& scale,
           const Box& plot)
      : canvas_(canvas), m_(m), map_(map), scale_(scale), plot_(plot) {}

  void draw() {
    for (const Dot& dot : map_.dots) canvas_.dot(x_of(dot.x), y_of(dot.y), 2.2 * m_.unit);
    for (const Segment& wall : map_.walls) {
      canvas_.line(x_of(wall.x1), y_of(wall.y1), x_of(wall.x2), y_of(wall.y2), 5.0 * m_.unit,
                   Colour{});
    }
    draw_path();
    for (const Marker& marker : map_.markers) {
      if (!shows(marker)) continue;
      canvas_.disc(x_of(marker.x), y_of(marker.y), 10.0 * m_.unit, marker.colour);
    }
    for (const Marker& marker : map_.markers) {
      if (shows(marker) && !marker.label.empty()) draw_marker_label(marker);
    }
  }

 private:
  [[nodiscard]] double x_of(double x) const {
    return plot_.left + (x - map_.x_low) / (map_.x_high - map_.x_low) * plot_.width;
  }
  [[nodiscard]] double y_of(double y) const {
    return plot_.bottom() - (y - map_.y_low) / (map_.y_high - map_.y_low) * plot_.height;
  }

  // A dark rim below all of it, so that no colour is lost on the background.
  void draw_path() {
    const auto draw = [&](double thickness, auto colour_of) {
      for (std::size_t i = 1; i < map_.path.size(); ++i) {
        const PathPoint& from = map_.path[i - 1];
        const PathPoint& to = map_.path[i];
        canvas_.line(x_of(from.x), y_of(from.y), x_of(to.x), y_of(to.y), thickness * m_.unit,
                     colour_of(to));
      }
    };
    draw(7.0, [](const PathPoint&) { return kInk; });
    draw(4.5, [&](const PathPoint& to) { return viridis(scale_.position(to.value)); });
  }

  [[nodiscard]] bool shows(const Marker& marker) const {
    return marker.x >= map_.x_low && marker.x <= map_.x_high && marker.y >= map_.y_low &&
           marker.y <= map_.y_high;
  }

  void draw_marker_label(const Marker& marker) {
    const double gap = 17.0 * m_.unit;
    const double rim = 4.0 * m_.unit;
    const auto text = canvas_.fit(marker.label, m_.marker(), plot_.width - 2.0 * rim);
    double x = x_of(marker.x) + gap;
    if (x + text.width > plot_.right() - rim) x = x_of(marker.x) - gap - text.width;
    x = std::max(x, plot_.left + rim);
    const double baseline = std::clamp(
        y_of(marker.y) + 0.36 * text.font.size, plot_.top + 0.9 * text.font.size,
        std::max(plot_.top + 0.9 * text.font.size, plot_.bottom() - 0.3 * text.font.size));
    canvas_.rimmed_text(x, baseline, text.text, text.font);
  }

  Canvas& canvas_;
  const Measures& m_;
  const Heatmap& map_;
  const ColourScale& scale_;
  const Box& plot_;
};

}  // namespace

void draw_overlays(Canvas& canvas, const Measures& m, const Heatmap& map, const ColourScale& scale,
                   const Box& plot) {
  canvas.clipped(plot, [&] { Overlays(canvas, m, map, scale, plot).draw(); });
}

}  // namespace rarefy::pictures
