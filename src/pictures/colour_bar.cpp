#include "colour_bar.hpp"

#include <cmath>

#include "frame.hpp"

namespace rarefy::pictures {

void draw_colour_bar(Canvas& canvas, const Measures& m, const ColourScale& scale, const Box& bar,
                     const std::vector<Tick>& ticks) {
  Raster raster(bar.width, bar.height);
  for (int y = 0; y < bar.height; ++y) {
    const double position = 1.0 - (y + 0.5) / bar.height;
    const Colour colour = scale.has_range() ? viridis(position)
                          : scale.single()  ? viridis(0.5)
                                            : kEmptyCell;
    for (int x = 0; x < bar.width; ++x) raster.set(x, y, colour);
  }
  canvas.place(raster, bar.left, bar.top);
  draw_frame(canvas, bar, m.stroke);
  const double left = bar.left - m.stroke;
  const double right = bar.right() + m.stroke;
  const double middle = 0.5 * (left + right);
  if (scale.reaches_above()) {
    const double base = bar.top - m.stroke;
    canvas.fill_triangle(left, base, right, base, middle, bar.top - m.bar_tip(), viridis(1.0));
  }
  if (scale.reaches_below()) {
    const double base = bar.bottom() + m.stroke;
    canvas.fill_triangle(left, base, right, base, middle, bar.bottom() + m.bar_tip(), viridis(0.0));
  }
  const Font font = m.number();
  for (const Tick& tick : ticks) {
    const double y = bar.bottom() - scale.position(tick.value) * bar.height;
    const double length = std::round(tick.label.empty() ? m.minor_tick() : m.tick());
    canvas.fill(right, std::round(y - 0.5 * m.stroke), length, m.stroke, kInk);
    canvas.text(right + m.tick() + m.gap(), y + 0.36 * font.size, tick.label, font, kInk);
  }
}

}  // namespace rarefy::pictures
