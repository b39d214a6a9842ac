#include "rarefy/pictures/heatmap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "canvas.hpp"
#include "colour_scale.hpp"
#include "heatmap_layout.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/pictures/axis.hpp"

namespace rarefy::pictures {
namespace {

// ---- What can be drawn -----------------------------------------------------

void require(bool good, std::string_view thing, const std::string& given,
             std::string_view expected) {
  if (!good) throw Error(ErrorKind::parameter, thing, given, expected);
}

void check(const Heatmap& map, const PictureSize& size) {
  constexpr Index kMost = Index{1} << 30;
  require(map.columns >= 1 && map.columns <= kMost, "columns of a heatmap",
          std::to_string(map.columns), "at least 1");
  require(map.rows >= 1 && map.rows <= kMost, "rows of a heatmap", std::to_string(map.rows),
          "at least 1");
  require(map.fill ? map.values.empty() : std::cmp_equal(map.values.size(), map.columns * map.rows),
          "values of a heatmap", fmt::format("{} values", map.values.size()),
          fmt::format("{} x {} values{}", map.columns, map.rows,
                      map.fill ? ", and none where they are asked for" : ""));
  const auto range = [](std::string_view thing, double low, double high) {
    require(is_drawable_range(low, high), thing, fmt::format("[{}, {}]", low, high),
            "finite limits, the second clearly above the first");
  };
  range("x range of a heatmap", map.x_low, map.x_high);
  range("y range of a heatmap", map.y_low, map.y_high);
  if (map.colour_limits) {
    range("colour limits of a heatmap", map.colour_limits->low, map.colour_limits->high);
    require(!map.logarithmic || map.colour_limits->low > 0.0, "logarithmic colour limits",
            fmt::format("{}", map.colour_limits->low), "a positive lower limit");
  }
  for (const Segment& wall : map.walls) {
    require(std::isfinite(wall.x1 + wall.y1 + wall.x2 + wall.y2), "wall of a heatmap",
            fmt::format("({}, {}) to ({}, {})", wall.x1, wall.y1, wall.x2, wall.y2), "finite ends");
  }
  for (const Dot& dot : map.dots) {
    require(std::isfinite(dot.x + dot.y), "dot of a heatmap", fmt::format("({}, {})", dot.x, dot.y),
            "a finite place");
  }
  for (const PathPoint& point : map.path) {
    require(std::isfinite(point.x + point.y + point.value), "path of a heatmap",
            fmt::format("({}, {}), value {}", point.x, point.y, point.value), "finite numbers");
  }
  require(map.path.empty() || map.colour_limits.has_value(), "path of a heatmap",
          "no colour limits", "limits that say which value of the path has which colour");
  for (const Marker& marker : map.markers) {
    require(std::isfinite(marker.x + marker.y), "marker of a heatmap",
            fmt::format("({}, {})", marker.x, marker.y), "a finite place");
  }
  const auto fits = [](int length) { return length >= 300 && length <= 16384; };
  require(fits(size.width) && fits(size.height), "size of a picture",
          fmt::format("{} x {} pixels", size.width, size.height), "300 to 16384 pixels a side");
}

// ---- Drawing ---------------------------------------------------------------

class Painter {
 public:
  Painter(const Heatmap& map, const ColourScale& scale, const HeatmapLayout& layout,
          const PictureSize& size, Canvas& canvas)
      : map_(map), scale_(scale), layout_(layout), size_(size), m_(size), canvas_(canvas) {}

  void draw() {
    canvas_.place(paint_cells(map_, scale_, layout_.plot), layout_.plot.left, layout_.plot.top);
    canvas_.clipped(layout_.plot, [&] { draw_overlays(); });
    frame(layout_.plot);
    draw_axes();
    draw_bar();
    draw_labels();
  }

 private:
  [[nodiscard]] double x_of(double x) const {
    return layout_.plot.left + (x - map_.x_low) / (map_.x_high - map_.x_low) * layout_.plot.width;
  }
  [[nodiscard]] double y_of(double y) const {
    return layout_.plot.bottom() -
           (y - map_.y_low) / (map_.y_high - map_.y_low) * layout_.plot.height;
  }

  // Around the box, not on it: no cell loses pixels to the frame.
  void frame(const Box& box) {
    const int s = m_.stroke;
    canvas_.fill(Box{box.left - s, box.top - s, box.width + 2 * s, s}, kInk);
    canvas_.fill(Box{box.left - s, box.bottom(), box.width + 2 * s, s}, kInk);
    canvas_.fill(Box{box.left - s, box.top, s, box.height}, kInk);
    canvas_.fill(Box{box.right(), box.top, s, box.height}, kInk);
  }

  // Lines of ticks begin at whole pixels to be as sharp as the frame.
  [[nodiscard]] double stroke_at(double place) const { return std::round(place - 0.5 * m_.stroke); }

  void draw_overlays() {
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
    const Box& plot = layout_.plot;
    const double gap = 17.0 * m_.unit;
    const double rim = 4.0 * m_.unit;
    const auto text = canvas_.fit(marker.label, m_.marker(), plot.width - 2.0 * rim);
    double x = x_of(marker.x) + gap;
    if (x + text.width > plot.right() - rim) x = x_of(marker.x) - gap - text.width;
    x = std::max(x, plot.left + rim);
    const double baseline =
        std::clamp(y_of(marker.y) + 0.36 * text.font.size, plot.top + 0.9 * text.font.size,
                   std::max(plot.top + 0.9 * text.font.size, plot.bottom() - 0.3 * text.font.size));
    canvas_.rimmed_text(x, baseline, text.text, text.font);
  }

  void draw_axes() {
    const Box& plot = layout_.plot;
    const Font font = m_.number();
    const double below = plot.bottom() + m_.stroke;
    for (const Tick& tick : layout_.x_ticks) {
      const double x = x_of(tick.value);
      canvas_.fill(stroke_at(x), below, m_.stroke, std::round(m_.tick()), kInk);
      canvas_.text(x - 0.5 * canvas_.text_width(tick.label, font),
                   below + m_.tick() + m_.gap() + 0.75 * font.size, tick.label, font, kInk);
    }
    const double beside = plot.left - m_.stroke;
    for (const Tick& tick : layout_.y_ticks) {
      const double y = y_of(tick.value);
      const double length = std::round(m_.tick());
      canvas_.fill(beside - length, stroke_at(y), length, m_.stroke, kInk);
      canvas_.text(beside - length - m_.gap() - canvas_.text_width(tick.label, font),
                   y + 0.36 * font.size, tick.label, font, kInk);
    }
  }

  void draw_bar() {
    const Box& bar = layout_.bar;
    Raster raster(bar.width, bar.height);
    for (int y = 0; y < bar.height; ++y) {
      const double position = 1.0 - (y + 0.5) / bar.height;
      const Colour colour = scale_.has_range() ? viridis(position)
                            : scale_.single()  ? viridis(0.5)
                                               : kEmptyCell;
      for (int x = 0; x < bar.width; ++x) raster.set(x, y, colour);
    }
    canvas_.place(raster, bar.left, bar.top);
    frame(bar);
    const double left = bar.left - m_.stroke;
    const double right = bar.right() + m_.stroke;
    const double middle = 0.5 * (left + right);
    if (scale_.reaches_above()) {
      const double base = bar.top - m_.stroke;
      canvas_.fill_triangle(left, base, right, base, middle, bar.top - m_.bar_tip(), viridis(1.0));
    }
    if (scale_.reaches_below()) {
      const double base = bar.bottom() + m_.stroke;
      canvas_.fill_triangle(left, base, right, base, middle, bar.bottom() + m_.bar_tip(),
                            viridis(0.0));
    }
    const Font font = m_.number();
    for (const Tick& tick : layout_.bar_ticks) {
      const double y = bar.bottom() - scale_.position(tick.value) * bar.height;
      const double length = std::round(tick.label.empty() ? m_.minor_tick() : m_.tick());
      canvas_.fill(right, stroke_at(y), length, m_.stroke, kInk);
      canvas_.text(right + m_.tick() + m_.gap(), y + 0.36 * font.size, tick.label, font, kInk);
    }
  }

  // Where text of `length` begins that is centred on `centre` but stays within
  // [first, last].
  static double centred(double centre, double length, double first, double last) {
    return std::max(first, std::min(centre - 0.5 * length, last - length));
  }

  void draw_labels() {
    draw_heading();
    draw_x_label();
    const Box& plot = layout_.plot;
    draw_upward_label(map_.y_label, plot.left - m_.tick() - 2.0 * m_.gap() -
                                        layout_.y_numbers_width - 0.3 * m_.label().size);
    draw_upward_label(map_.colour_label, layout_.bar.right() + m_.tick() + 2.0 * m_.gap() +
                                             layout_.bar_numbers_width + 0.95 * m_.label().size);
    if (scale_.empty() && map_.path.empty()) {
      const auto note = canvas_.fit("no values", m_.label(), plot.width);
      canvas_.text(plot.left + 0.5 * (plot.width - note.width),
                   plot.top + 0.5 * plot.height + 0.36 * note.font.size, note.text, note.font,
                   kQuiet);
    }
  }

  // All lines begin above the left edge of the plot, or together further left
  // if one of them is too long for that.
  void draw_heading() {
    double x = layout_.plot.left - m_.stroke;
    for (const HeadingLine& line : layout_.heading) {
      x = std::min(x, size_.width - m_.margin() - line.text.width);
    }
    x = std::max(x, m_.margin());
    for (const HeadingLine& line : layout_.heading) {
      canvas_.text(x, line.baseline, line.text.text, line.text.font, line.colour);
    }
  }

  void draw_x_label() {
    const Box& plot = layout_.plot;
    double first = m_.margin();
    double last = size_.width - m_.margin();
    // Beside a plot that is lower than the colour bar, other text has this height.
    if (layout_.lower_end > plot.bottom()) {
      first = plot.left;
      last = plot.right();
    }
    const auto text = canvas_.fit(map_.x_label, m_.label(), last - first);
    const double baseline =
        plot.bottom() + m_.tick() + 2.0 * m_.gap() + 1.1 * m_.number().size + 0.9 * m_.label().size;
    canvas_.text(centred(plot.left + 0.5 * plot.width, text.width, first, last), baseline,
                 text.text, text.font, kInk);
  }

  // Stays below the heading and above the label of the x axis.
  void draw_upward_label(const std::string& label, double baseline) {
    const double first = layout_.upper_end;
    const double last = layout_.lower_end + m_.tick() + m_.gap() + 0.75 * m_.number().size;
    const auto text = canvas_.fit(label, m_.label(), last - first);
    const double middle = layout_.plot.top + 0.5 * layout_.plot.height;
    canvas_.upward_text(baseline, centred(middle, text.width, first, last) + text.width, text.text,
                        text.font, kInk);
  }

  const Heatmap& map_;
  const ColourScale& scale_;
  const HeatmapLayout& layout_;
  const PictureSize& size_;
  Measures m_;
  Canvas& canvas_;
};

std::vector<std::byte> render(FileFormat format, const Heatmap& map, const PictureSize& size) {
  check(map, size);
  const ColourScale scale(map);
  const HeatmapLayout layout = lay_out(map, scale, size);
  return paint(format, size.width, size.height,
               [&](Canvas& canvas) { Painter(map, scale, layout, size, canvas).draw(); });
}

}  // namespace

std::vector<std::byte> render_png(const Heatmap& heatmap, const PictureSize& size) {
  return render(FileFormat::png, heatmap, size);
}

std::vector<std::byte> render_pdf(const Heatmap& heatmap, const PictureSize& size) {
  return render(FileFormat::pdf, heatmap, size);
}

std::vector<std::byte> render_svg(const Heatmap& heatmap, const PictureSize& size) {
  return render(FileFormat::svg, heatmap, size);
}

}  // namespace rarefy::pictures
