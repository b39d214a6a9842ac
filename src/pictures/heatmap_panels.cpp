#include "rarefy/pictures/heatmap_panels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "canvas.hpp"
#include "colour_bar.hpp"
#include "colour_scale.hpp"
#include "frame.hpp"
#include "heatmap_check.hpp"
#include "measures.hpp"
#include "overlays.hpp"
#include "rarefy/core/error.hpp"

namespace rarefy::pictures {
namespace {

// Large maps of which the values are asked for stay as they are; here the limits must be known
// beforehand, so values are.
void check_panels(const HeatmapPanels& panels) {
  const auto refuse = [](const char* thing, const std::string& given, const std::string& expected) {
    throw Error(ErrorKind::parameter, thing, given, expected);
  };
  if (panels.rows.empty() || panels.columns.empty()) {
    refuse("panels of heatmaps",
           fmt::format("{} rows, {} columns", panels.rows.size(), panels.columns.size()),
           "at least one of each");
  }
  if (panels.side < 60 || panels.side > 4096) {
    refuse("side of a panel", std::to_string(panels.side), "60 to 4096 pixels");
  }
  for (const HeatmapRow& row : panels.rows) {
    if (row.maps.size() != panels.columns.size()) {
      refuse("row of heatmaps", fmt::format("{} maps", row.maps.size()),
             fmt::format("{}, one for each column", panels.columns.size()));
    }
    for (const auto& map : row.maps) {
      if (map) check_heatmap(*map);
      if (map && map->fill) refuse("panel of a heatmap", "values to ask for", "values");
    }
  }
}

// The colours of a row span the values of all its maps.
ColourLimits limits_of(const HeatmapRow& row, bool logarithmic) {
  ColourLimits limits{std::numeric_limits<double>::infinity(),
                      -std::numeric_limits<double>::infinity()};
  for (const auto& map : row.maps) {
    if (!map) continue;
    if (map->colour_limits) {
      limits.low = std::min(limits.low, map->colour_limits->low);
      limits.high = std::max(limits.high, map->colour_limits->high);
      continue;
    }
    for (const double value : map->values) {
      if (std::isnan(value) || (logarithmic && value <= 0.0)) continue;
      limits.low = std::min(limits.low, value);
      limits.high = std::max(limits.high, value);
    }
  }
  return limits;
}

struct PreparedRow {
  std::vector<std::optional<Heatmap>> maps;
  std::optional<ColourScale> scale;  ///< none where there is no map
  std::string colour_label;
  Box size;  ///< of a map, at the origin
  std::vector<Tick> x_ticks, y_ticks, bar_ticks;
  double y_numbers_width = 0.0, bar_numbers_width = 0.0;
  bool subtitles = false;
};

class PanelsPainter {
 public:
  explicit PanelsPainter(const HeatmapPanels& panels) : panels_(panels), m_(0.8) {
    for (const HeatmapRow& row : panels.rows) rows_.push_back(prepare(row));
    measure();
  }

  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] int height() const { return height_; }

  void draw(Canvas& canvas) {
    draw_heading(canvas);
    double y = top_;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      y += above(rows_[r]);
      draw_row(canvas, r, static_cast<int>(std::lround(y)));
      y += rows_[r].size.height + below();
    }
  }

 private:
  PreparedRow prepare(const HeatmapRow& row) {
    PreparedRow ready;
    ready.maps = row.maps;
    ready.size = {0, 0, panels_.side, panels_.side};
    const Heatmap* any = nullptr;
    for (const auto& map : ready.maps) {
      if (map && any == nullptr) any = &*map;
      ready.subtitles = ready.subtitles || (map && !map->subtitle.empty());
    }
    if (any == nullptr) return ready;
    const bool logarithmic = any->logarithmic;
    const auto limits = limits_of(row, logarithmic);
    const bool range = is_drawable_range(limits.low, limits.high);
    for (auto& map : ready.maps) {
      if (!map) continue;
      map->logarithmic = logarithmic;
      if (range) map->colour_limits = limits;
      for (Marker& marker : map->markers) marker.label.clear();
    }
    ready.scale.emplace(*any);
    ready.colour_label = any->colour_label;
    const double x_width = any->x_high - any->x_low, y_width = any->y_high - any->y_low;
    if (any->equal_aspect) {
      const double longer = std::max(x_width, y_width);
      ready.size.width = std::max(8, static_cast<int>(panels_.side * x_width / longer));
      ready.size.height = std::max(8, static_cast<int>(panels_.side * y_width / longer));
    }
    const auto stacked = [&](const std::vector<Tick>&) { return 1.7 * m_.number().size; };
    ready.x_ticks = roomy_ticks(
        [&](int most) { return linear_ticks(any->x_low, any->x_high, std::min(most, 4)); },
        linear_place(any->x_low, any->x_high), ready.size.width,
        [&](const auto& ticks) {
          return widest(measuring_, ticks, m_.number()) + m_.number().size;
        });
    ready.y_ticks = roomy_ticks(
        [&](int most) { return linear_ticks(any->y_low, any->y_high, std::min(most, 4)); },
        linear_place(any->y_low, any->y_high), ready.size.height, stacked);
    ready.bar_ticks = roomy_ticks([&](int most) { return ready.scale->ticks(most); },
                                  [&](double value) { return ready.scale->position(value); },
                                  ready.size.height, stacked);
    ready.y_numbers_width = widest(measuring_, ready.y_ticks, m_.number());
    ready.bar_numbers_width = widest(measuring_, ready.bar_ticks, m_.number());
    return ready;
  }

  [[nodiscard]] double above(const PreparedRow& row) const {
    return row.subtitles ? 1.5 * m_.number().size : 0.5 * m_.number().size;
  }
  [[nodiscard]] double below() const { return m_.tick() + m_.gap() + 1.5 * m_.number().size; }
  // Numbers at the ends of neighbouring axes stay apart.
  [[nodiscard]] double between() const { return x_numbers_ + 0.6 * m_.number().size; }

  void measure() {
    double numbers = 0.0, bar_numbers = 0.0;
    int widest_map = 0;
    for (const PreparedRow& row : rows_) {
      numbers = std::max(numbers, row.y_numbers_width);
      x_numbers_ = std::max(x_numbers_, widest(measuring_, row.x_ticks, m_.number()));
      bar_numbers = std::max(bar_numbers, row.bar_numbers_width);
      widest_map = std::max(widest_map, row.size.width);
    }
    column_width_ = widest_map;
    const auto columns = static_cast<double>(panels_.columns.size());
    left_ = m_.margin() + m_.gap() + 1.3 * m_.label().size + numbers + m_.tick() + m_.gap();
    bar_left_ = left_ + columns * column_width_ + (columns - 1.0) * between() + 0.6 * m_.bar_gap();
    bar_label_ = bar_left_ + m_.bar_width() + m_.tick() + 2.0 * m_.gap() + bar_numbers +
                 0.95 * m_.label().size;
    width_ = static_cast<int>(std::ceil(bar_label_ + 0.4 * m_.label().size + m_.margin()));
    double y = m_.margin();
    if (!panels_.title.empty()) y += 1.38 * m_.title().size;
    if (!panels_.subtitle.empty()) y += 1.38 * m_.subtitle().size;
    top_ = y + 1.5 * m_.label().size;  // the titles of the columns
    y = top_;
    for (const PreparedRow& row : rows_) y += above(row) + row.size.height + below();
    height_ = static_cast<int>(std::ceil(y + m_.margin()));
  }

  void draw_heading(Canvas& canvas) {
    const double most = width_ - 2.0 * m_.margin();
    double y = m_.margin();
    if (!panels_.title.empty()) {
      const auto text = canvas.fit(panels_.title, m_.title(), most);
      canvas.text(m_.margin(), y + m_.title().size, text.text, text.font, kInk);
      y += 1.38 * m_.title().size;
    }
    if (!panels_.subtitle.empty()) {
      const auto text = canvas.fit(panels_.subtitle, m_.subtitle(), most);
      canvas.text(m_.margin(), y + m_.subtitle().size, text.text, text.font, kQuiet);
    }
    for (std::size_t c = 0; c < panels_.columns.size(); ++c) {
      const auto text = canvas.fit(panels_.columns[c], {m_.label().size, true}, column_width_);
      canvas.text(column_left(c) + 0.5 * (column_width_ - text.width),
                  top_ - 0.35 * m_.label().size, text.text, text.font, kInk);
    }
  }

  [[nodiscard]] double column_left(std::size_t column) const {
    return left_ + static_cast<double>(column) * (column_width_ + between());
  }

  void draw_row(Canvas& canvas, std::size_t r, int top) {
    const PreparedRow& row = rows_[r];
    const double middle = top + 0.5 * row.size.height;
    const double longest = row.size.height + above(row);
    const auto title = canvas.fit(panels_.rows[r].title, {m_.label().size, true}, longest);
    canvas.upward_text(m_.margin() + m_.label().size, middle + 0.5 * title.width, title.text,
                       title.font, kInk);
    bool first = true;
    for (std::size_t c = 0; c < row.maps.size(); ++c) {
      Box plot = row.size;
      plot.top = top;
      plot.left =
          static_cast<int>(std::lround(column_left(c) + 0.5 * (column_width_ - plot.width)));
      if (!row.maps[c]) {
        draw_blank(canvas, plot);
        continue;
      }
      draw_map(canvas, *row.maps[c], row, plot);
      if (std::exchange(first, false)) {
        draw_y_ticks(canvas, m_, plot, row.y_ticks,
                     linear_place(row.maps[c]->y_low, row.maps[c]->y_high));
      }
    }
    if (!row.scale) return;
    const Box bar{static_cast<int>(bar_left_), top, static_cast<int>(0.7 * m_.bar_width()),
                  row.size.height};
    draw_colour_bar(canvas, m_, *row.scale, bar, row.bar_ticks);
    const auto label = canvas.fit(row.colour_label, m_.number(), longest);
    canvas.upward_text(bar_label_, middle + 0.5 * label.width, label.text, label.font, kInk);
  }

  void draw_blank(Canvas& canvas, const Box& plot) {
    const auto note = canvas.fit("no data", m_.number(), plot.width);
    canvas.text(plot.left + 0.5 * (plot.width - note.width),
                plot.top + 0.5 * plot.height + 0.36 * note.font.size, note.text, note.font, kQuiet);
  }

  void draw_map(Canvas& canvas, const Heatmap& map, const PreparedRow& row, const Box& plot) {
    canvas.place(paint_cells(map, *row.scale, plot), plot.left, plot.top);
    draw_overlays(canvas, Measures(0.5), map, *row.scale, plot);
    draw_frame(canvas, plot, m_.stroke);
    draw_x_ticks(canvas, m_, plot, row.x_ticks, linear_place(map.x_low, map.x_high));
    const auto text = canvas.fit(map.subtitle, m_.number(), column_width_ + 0.5 * between());
    canvas.text(plot.left + 0.5 * (plot.width - text.width), plot.top - 0.4 * m_.number().size,
                text.text, text.font, kQuiet);
  }

  const HeatmapPanels& panels_;
  Measures m_;
  Canvas measuring_;
  std::vector<PreparedRow> rows_;
  int width_ = 0, height_ = 0, column_width_ = 0;
  double x_numbers_ = 0.0, left_ = 0.0, top_ = 0.0, bar_left_ = 0.0, bar_label_ = 0.0;
};

std::vector<std::byte> render_panels(FileFormat format, const HeatmapPanels& panels) {
  check_panels(panels);
  PanelsPainter painter(panels);
  return paint(format, painter.width(), painter.height(),
               [&](Canvas& canvas) { painter.draw(canvas); });
}

}  // namespace

std::vector<std::byte> render_png(const HeatmapPanels& panels) {
  return render_panels(FileFormat::png, panels);
}

std::vector<std::byte> render_pdf(const HeatmapPanels& panels) {
  return render_panels(FileFormat::pdf, panels);
}

std::vector<std::byte> render_svg(const HeatmapPanels& panels) {
  return render_panels(FileFormat::svg, panels);
}

}  // namespace rarefy::pictures
