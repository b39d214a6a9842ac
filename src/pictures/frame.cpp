#include "frame.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rarefy::pictures {
namespace {

// Lines of ticks begin at whole pixels to be as sharp as the frame.
double stroke_at(double place, int stroke) { return std::round(place - 0.5 * stroke); }

double tick_length(const Measures& m, const Tick& tick) {
  return std::round(tick.label.empty() ? m.minor_tick() : m.tick());
}

}  // namespace

Place linear_place(double low, double high) {
  return [low, high](double value) { return (value - low) / (high - low); };
}

Place log_place(double low, double high) {
  return
      [low, width = std::log(high / low)](double value) { return std::log(value / low) / width; };
}

double widest(Canvas& canvas, const std::vector<Tick>& ticks, const Font& font) {
  double width = 0.0;
  for (const Tick& tick : ticks) width = std::max(width, canvas.text_width(tick.label, font));
  return width;
}

std::vector<Tick> roomy_ticks(const std::function<std::vector<Tick>(int)>& ticks_for,
                              const Place& place, double length,
                              const std::function<double(const std::vector<Tick>&)>& extent) {
  for (int most = 8;; --most) {
    std::vector<Tick> ticks = ticks_for(most);
    if (most == 1) return ticks;
    double nearest = std::numeric_limits<double>::infinity();
    const Tick* previous = nullptr;
    for (const Tick& tick : ticks) {
      if (tick.label.empty()) continue;
      if (previous != nullptr) {
        nearest = std::min(nearest, (place(tick.value) - place(previous->value)) * length);
      }
      previous = &tick;
    }
    if (extent(ticks) <= nearest) return ticks;
  }
}

void draw_frame(Canvas& canvas, const Box& box, int stroke) {
  const int s = stroke;
  canvas.fill(Box{box.left - s, box.top - s, box.width + 2 * s, s}, kInk);
  canvas.fill(Box{box.left - s, box.bottom(), box.width + 2 * s, s}, kInk);
  canvas.fill(Box{box.left - s, box.top, s, box.height}, kInk);
  canvas.fill(Box{box.right(), box.top, s, box.height}, kInk);
}

void draw_x_ticks(Canvas& canvas, const Measures& m, const Box& box, const std::vector<Tick>& ticks,
                  const Place& place) {
  const Font font = m.number();
  const double below = box.bottom() + m.stroke;
  for (const Tick& tick : ticks) {
    const double x = box.left + place(tick.value) * box.width;
    canvas.fill(stroke_at(x, m.stroke), below, m.stroke, tick_length(m, tick), kInk);
    if (tick.label.empty()) continue;
    canvas.text(x - 0.5 * canvas.text_width(tick.label, font),
                below + m.tick() + m.gap() + 0.75 * font.size, tick.label, font, kInk);
  }
}

void draw_y_ticks(Canvas& canvas, const Measures& m, const Box& box, const std::vector<Tick>& ticks,
                  const Place& place) {
  const Font font = m.number();
  const double beside = box.left - m.stroke;
  for (const Tick& tick : ticks) {
    const double y = box.bottom() - place(tick.value) * box.height;
    const double length = tick_length(m, tick);
    canvas.fill(beside - length, stroke_at(y, m.stroke), length, m.stroke, kInk);
    if (tick.label.empty()) continue;
    canvas.text(beside - std::round(m.tick()) - m.gap() - canvas.text_width(tick.label, font),
                y + 0.36 * font.size, tick.label, font, kInk);
  }
}

double centred(double centre, double length, double first, double last) {
  return std::max(first, std::min(centre - 0.5 * length, last - length));
}

}  // namespace rarefy::pictures
