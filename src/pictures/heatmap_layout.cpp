#include "heatmap_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "frame.hpp"
#include "rarefy/core/error.hpp"

namespace rarefy::pictures {
namespace {

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

}  // namespace

HeatmapLayout lay_out(const Heatmap& map, const ColourScale& scale, const PictureSize& size) {
  Canvas canvas;
  const Measures m(size);
  HeatmapLayout layout;

  double top = m.margin();
  const double text_width = size.width - 2.0 * m.margin();
  add_heading(canvas, map.title, m.title(), kInk, text_width, top, layout.heading);
  add_heading(canvas, map.subtitle, m.subtitle(), kQuiet, text_width, top, layout.heading);
  top += 0.7 * m.number().size;

  const double beside = m.tick() + m.gap();
  const double bottom = beside + 1.1 * m.number().size + m.label_space(map.x_label) + m.margin();

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
  const double left = m.margin() + m.label_space(map.y_label) + layout.y_numbers_width + beside;
  const double right = m.bar_gap() + m.bar_width() + beside + layout.bar_numbers_width +
                       m.label_space(map.colour_label) + m.margin();
  const double most_width = size.width - left - right;
  if (most_width < 8.0 || most_height < 8.0) {
    throw Error(ErrorKind::parameter, "size of a picture",
                fmt::format("{} x {} pixels", size.width, size.height),
                "room for the cells beside the text");
  }

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

}  // namespace rarefy::pictures
