#include "rarefy/pictures/heatmap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <string_view>
#include <utility>

#include "canvas.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/pictures/axis.hpp"

namespace rarefy::pictures {
namespace {

constexpr Colour kInk{0.13, 0.13, 0.13};
constexpr Colour kQuiet{0.42, 0.42, 0.42};
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

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
  require(std::cmp_equal(map.values.size(), map.columns * map.rows), "values of a heatmap",
          fmt::format("{} values", map.values.size()),
          fmt::format("{} x {} values", map.columns, map.rows));
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
  for (const double value : map.values) {
    if (std::isinf(value)) {
      throw Error(ErrorKind::data, "values of a heatmap", "an infinite value",
                  "finite values, or NaN for an empty cell");
    }
  }
  for (const Segment& wall : map.walls) {
    require(std::isfinite(wall.x1 + wall.y1 + wall.x2 + wall.y2), "wall of a heatmap",
            fmt::format("({}, {}) to ({}, {})", wall.x1, wall.y1, wall.x2, wall.y2), "finite ends");
  }
  for (const Marker& marker : map.markers) {
    require(std::isfinite(marker.x + marker.y), "marker of a heatmap",
            fmt::format("({}, {})", marker.x, marker.y), "a finite place");
  }
  const auto fits = [](int length) { return length >= 300 && length <= 16384; };
  require(fits(size.width) && fits(size.height), "size of a picture",
          fmt::format("{} x {} pixels", size.width, size.height), "300 to 16384 pixels a side");
}

// ---- From values to colours ------------------------------------------------

class ColourScale {
 public:
  explicit ColourScale(const Heatmap& map) : logarithmic_(map.logarithmic) {
    double least = std::numeric_limits<double>::infinity();
    double most = -least;
    for (const double value : map.values) {
      if (!shows(value)) continue;
      least = std::min(least, value);
      most = std::max(most, value);
    }
    empty_ = least > most;
    if (map.colour_limits) {
      low_ = map.colour_limits->low;
      high_ = map.colour_limits->high;
      below_ = !empty_ && least < low_;
      above_ = !empty_ && most > high_;
    } else if (!empty_) {
      low_ = least;
      high_ = most;
      single_ = !is_drawable_range(low_, high_) && std::isfinite(high_ - low_);
      require(single_ || is_drawable_range(low_, high_), "values of a heatmap",
              fmt::format("values from {} to {}", low_, high_), "a finite difference");
    }
    has_range_ = map.colour_limits.has_value() || (!empty_ && !single_);
  }

  /// No cell has a colour.
  [[nodiscard]] bool empty() const { return empty_; }
  /// All cells have one and the same value, which gets the middle colour.
  [[nodiscard]] bool single() const { return single_; }
  [[nodiscard]] bool has_range() const { return has_range_; }
  [[nodiscard]] bool reaches_below() const { return below_; }
  [[nodiscard]] bool reaches_above() const { return above_; }

  /// Where on the colour map, in [0, 1], a value lies; NaN if its cell is empty.
  [[nodiscard]] double position(double value) const {
    if (!shows(value)) return kNaN;
    if (!has_range_) return 0.5;
    // A difference of logarithms: the quotient of far-apart limits would overflow.
    const double share = logarithmic_ ? (std::log10(value) - std::log10(low_)) /
                                            (std::log10(high_) - std::log10(low_))
                                      : (value - low_) / (high_ - low_);
    return std::clamp(share, 0.0, 1.0);
  }

  [[nodiscard]] std::vector<Tick> ticks(int most) const {
    if (single_) return {{low_, format_number(low_)}};
    if (!has_range_) return {};
    return logarithmic_ ? log_ticks(low_, high_, most) : linear_ticks(low_, high_, most);
  }

 private:
  [[nodiscard]] bool shows(double value) const {
    return !std::isnan(value) && (!logarithmic_ || value > 0.0);
  }

  bool logarithmic_;
  bool empty_ = true;
  bool single_ = false;
  bool has_range_ = false;
  bool below_ = false;
  bool above_ = false;
  double low_ = 0.0;
  double high_ = 1.0;
};

// The cells [first, second) that pixel `pixel` of `pixels` shows: the one at its
// centre, or all that it covers where there are more cells than pixels.
std::pair<Index, Index> cells_of_pixel(Index pixel, Index pixels, Index cells) {
  if (cells > pixels) return {pixel * cells / pixels, (pixel + 1) * cells / pixels};
  const Index cell = (2 * pixel + 1) * cells / (2 * pixels);
  return {cell, cell + 1};
}

// Drawing pixels, not one rectangle a cell, leaves no seams between cells.
Raster paint_cells(const Heatmap& map, const ColourScale& scale, const Box& area) {
  Raster raster(area.width, area.height);
  std::vector<double> sums(static_cast<std::size_t>(area.width));
  std::vector<Index> counts(sums.size());
  for (int y = 0; y < area.height; ++y) {
    std::fill(sums.begin(), sums.end(), 0.0);
    std::fill(counts.begin(), counts.end(), 0);
    const auto [first_row, end_row] = cells_of_pixel(area.height - 1 - y, area.height, map.rows);
    for (Index row = first_row; row < end_row; ++row) {
      for (int x = 0; x < area.width; ++x) {
        const auto [first, end] = cells_of_pixel(x, area.width, map.columns);
        for (Index column = first; column < end; ++column) {
          const double position =
              scale.position(map.values[static_cast<std::size_t>(row * map.columns + column)]);
          if (std::isnan(position)) continue;
          sums[static_cast<std::size_t>(x)] += position;
          ++counts[static_cast<std::size_t>(x)];
        }
      }
    }
    for (int x = 0; x < area.width; ++x) {
      const auto i = static_cast<std::size_t>(x);
      raster.set(x, y,
                 counts[i] == 0 ? kEmptyCell : viridis(sums[i] / static_cast<double>(counts[i])));
    }
  }
  return raster;
}

// ---- Where everything goes -------------------------------------------------

// Lengths of the picture of 1400 x 1200 pixels, and how they grow with it.
struct Measures {
  explicit Measures(const PictureSize& size) {
    const double across = size.width / 1400.0;
    const double down = size.height / 1200.0;
    unit = std::min(std::sqrt(across * down), 1.5 * std::min(across, down));
    stroke = std::max(1, static_cast<int>(std::lround(2.0 * unit)));
  }
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

struct Layout {
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

using Place = std::function<double(double)>;  // from a value to a share of an axis

double widest(Canvas& canvas, const std::vector<Tick>& ticks, const Font& font) {
  double width = 0.0;
  for (const Tick& tick : ticks) width = std::max(width, canvas.text_width(tick.label, font));
  return width;
}

// The most ticks whose labels, as long as `extent` says, stay apart.
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

Place linear_place(double low, double high) {
  return [low, high](double value) { return (value - low) / (high - low); };
}

// One line if it fits without becoming much smaller, otherwise two.
void add_heading(Canvas& canvas, const std::string& text, const Font& font, const Colour& colour,
                 double most, double& y, std::vector<HeadingLine>& heading) {
  if (text.empty()) return;
  std::vector<Canvas::Fitted> lines{canvas.fit(text, font, most)};
  if (lines.front().font.size < 0.85 * font.size) {
    std::size_t split = std::string::npos;
    for (std::size_t i = text.find(' '); i != std::string::npos; i = text.find(' ', i + 1)) {
      if (canvas.text_width(text.substr(0, i), font) <= most) split = i;
    }
    if (split != std::string::npos) {
      lines = {canvas.fit(text.substr(0, split), font, most),
               canvas.fit(text.substr(split + 1), font, most)};
      const Font common{std::min(lines[0].font.size, lines[1].font.size), font.bold};
      for (Canvas::Fitted& line : lines) {
        line.font = common;
        line.width = canvas.text_width(line.text, common);
      }
    }
  }
  for (Canvas::Fitted& line : lines) {
    y += line.font.size;
    heading.push_back({std::move(line), y, colour});
    y += 0.38 * font.size;
  }
}

// Rounds a length down to whole pixels a cell if that costs little, so that all
// cells are equally large.
int whole_cells(double length, Index cells) {
  const auto pixels = static_cast<Index>(length);
  const Index whole = pixels / cells * cells;
  return static_cast<int>(static_cast<double>(whole) >= 0.85 * length ? whole : pixels);
}

std::pair<int, int> plot_size(const Heatmap& map, double most_width, double most_height) {
  constexpr int kThinnest = 8;
  if (!map.equal_aspect) {
    return {whole_cells(most_width, map.columns), whole_cells(most_height, map.rows)};
  }
  const double x_width = map.x_high - map.x_low;
  const double y_width = map.y_high - map.y_low;
  const double unit = std::min(most_width / x_width, most_height / y_width);
  int width = static_cast<int>(unit * x_width);
  int height = static_cast<int>(unit * y_width);
  const double cell_ratio =
      (x_width / static_cast<double>(map.columns)) / (y_width / static_cast<double>(map.rows));
  if (std::fabs(cell_ratio - 1.0) < 1e-9) {
    const int whole = whole_cells(width, map.columns);
    if (whole % map.columns == 0) {
      width = whole;
      height = static_cast<int>(whole / map.columns * map.rows);
    }
  }
  return {std::max(width, kThinnest), std::max(height, kThinnest)};
}

Layout lay_out(const Heatmap& map, const ColourScale& scale, const PictureSize& size) {
  Canvas canvas;
  const Measures m(size);
  Layout layout;

  double top = m.margin();
  const double text_width = size.width - 2.0 * m.margin();
  add_heading(canvas, map.title, m.title(), kInk, text_width, top, layout.heading);
  add_heading(canvas, map.subtitle, m.subtitle(), kQuiet, text_width, top, layout.heading);
  top += 0.7 * m.number().size;

  const auto label_space = [&](const std::string& label) {
    return label.empty() ? 0.0 : m.gap() + 1.2 * m.label().size;
  };
  const double beside = m.tick() + m.gap();
  const double bottom = beside + 1.1 * m.number().size + label_space(map.x_label) + m.margin();

  const auto stacked = [&](const std::vector<Tick>&) { return 1.7 * m.number().size; };
  const auto y_ticks = [&](double length) {
    return roomy_ticks([&](int most) { return linear_ticks(map.y_low, map.y_high, most); },
                       linear_place(map.y_low, map.y_high), length, stacked);
  };
  const auto bar_ticks = [&](double length) {
    return roomy_ticks([&](int most) { return scale.ticks(most); },
                       [&](double value) { return scale.position(value); }, length, stacked);
  };

  // Ticks for the tallest possible plot: a lower one has fewer, and no wider, labels.
  const double most_height = size.height - top - bottom;
  layout.y_numbers_width = widest(canvas, y_ticks(most_height), m.number());
  layout.bar_numbers_width = widest(canvas, bar_ticks(most_height), m.number());
  const double left = m.margin() + label_space(map.y_label) + layout.y_numbers_width + beside;
  const double right = m.bar_gap() + m.bar_width() + beside + layout.bar_numbers_width +
                       label_space(map.colour_label) + m.margin();
  const double most_width = size.width - left - right;
  require(most_width >= 8.0 && most_height >= 8.0, "size of a picture",
          fmt::format("{} x {} pixels", size.width, size.height),
          "room for the cells beside the text");

  const auto [width, height] = plot_size(map, most_width, most_height);
  layout.plot = {static_cast<int>(std::lround(left + 0.5 * (most_width - width))),
                 static_cast<int>(std::lround(top + 0.5 * (most_height - height))), width, height};
  const int bar_height = std::max(height, static_cast<int>(0.4 * most_height));
  layout.bar = {layout.plot.right() + static_cast<int>(m.bar_gap()),
                layout.plot.top - (bar_height - height) / 2, static_cast<int>(m.bar_width()),
                bar_height};
  layout.upper_end = std::min(layout.plot.top, layout.bar.top);
  layout.lower_end = std::max(layout.plot.bottom(), layout.bar.bottom());
  // The heading stays close to a plot that is lower than the picture.
  for (HeadingLine& line : layout.heading) line.baseline += layout.upper_end - top;
  if (scale.reaches_above()) {
    layout.bar.top += m.bar_tip();
    layout.bar.height -= m.bar_tip();
  }
  if (scale.reaches_below()) layout.bar.height -= m.bar_tip();

  layout.x_ticks = roomy_ticks([&](int most) { return linear_ticks(map.x_low, map.x_high, most); },
                               linear_place(map.x_low, map.x_high), width,
                               [&](const std::vector<Tick>& ticks) {
                                 return widest(canvas, ticks, m.number()) + m.number().size;
                               });
  layout.y_ticks = y_ticks(height);
  layout.bar_ticks = bar_ticks(layout.bar.height);
  return layout;
}

// ---- Drawing ---------------------------------------------------------------

class Painter {
 public:
  Painter(const Heatmap& map, const ColourScale& scale, const Layout& layout,
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
    for (const Segment& wall : map_.walls) {
      canvas_.line(x_of(wall.x1), y_of(wall.y1), x_of(wall.x2), y_of(wall.y2), 5.0 * m_.unit,
                   Colour{});
    }
    for (const Marker& marker : map_.markers) {
      if (!shows(marker)) continue;
      canvas_.disc(x_of(marker.x), y_of(marker.y), 10.0 * m_.unit, marker.colour);
    }
    for (const Marker& marker : map_.markers) {
      if (shows(marker) && !marker.label.empty()) draw_marker_label(marker);
    }
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
    if (scale_.empty()) {
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
  const Layout& layout_;
  const PictureSize& size_;
  Measures m_;
  Canvas& canvas_;
};

std::vector<std::byte> render(FileFormat format, const Heatmap& map, const PictureSize& size) {
  check(map, size);
  const ColourScale scale(map);
  const Layout layout = lay_out(map, scale, size);
  return paint(format, size.width, size.height,
               [&](Canvas& canvas) { Painter(map, scale, layout, size, canvas).draw(); });
}

}  // namespace

CellArea cell_area(const Heatmap& heatmap, const PictureSize& size) {
  check(heatmap, size);
  const Box plot = lay_out(heatmap, ColourScale(heatmap), size).plot;
  return {plot.left, plot.top, plot.width, plot.height};
}

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
