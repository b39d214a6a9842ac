#include "rarefy/pictures/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "canvas.hpp"
#include "chart_layout.hpp"
#include "frame.hpp"
#include "rarefy/core/error.hpp"

namespace rarefy::pictures {
namespace {

void demand(bool good, std::string_view thing, const std::string& given,
            std::string_view expected) {
  if (!good) throw Error(ErrorKind::parameter, thing, given, expected);
}

void check_axis(const ChartAxis& axis) {
  const auto check_limit = [&](const std::optional<double>& limit) {
    demand(!limit || (std::isfinite(*limit) && (!axis.logarithmic || *limit > 0.0)),
           "limit of an axis", fmt::format("{}", limit.value_or(0.0)),
           axis.logarithmic ? "a finite number above 0" : "a finite number");
  };
  check_limit(axis.low);
  check_limit(axis.high);
  demand(!axis.low || !axis.high || is_drawable_range(*axis.low, *axis.high), "limits of an axis",
         fmt::format("[{}, {}]", axis.low.value_or(0.0), axis.high.value_or(0.0)),
         "the second clearly above the first");
}

void check_line(const ChartLine& line, std::size_t entries) {
  demand(line.entry < entries, "line of a chart", fmt::format("entry {}", line.entry),
         fmt::format("one of the {} of the legend", entries));
  demand(line.x.size() == line.y.size(), "line of a chart",
         fmt::format("{} x and {} y", line.x.size(), line.y.size()), "as many of both");
  for (const auto* ends : {&line.low, &line.high}) {
    demand(line.low.size() == line.high.size() && (ends->empty() || ends->size() == line.x.size()),
           "line of a chart",
           fmt::format("{} lower and {} upper ends", line.low.size(), line.high.size()),
           fmt::format("none, or {}", line.x.size()));
  }
  for (const double x : line.x) {
    demand(std::isfinite(x), "x of a chart", fmt::format("{}", x), "a finite number");
  }
}

void check_chart(const Chart& chart) {
  demand(!chart.panels.empty(), "panels of a chart", "none", "at least one");
  demand(chart.columns >= 1, "columns of a chart", "0", "at least 1");
  const auto fits = [](int length) { return length >= 100 && length <= 8192; };
  demand(fits(chart.panel_width) && fits(chart.panel_height), "size of a panel",
         fmt::format("{} x {} pixels", chart.panel_width, chart.panel_height),
         "100 to 8192 pixels a side");
  for (const ChartPanel& panel : chart.panels) {
    check_axis(panel.x);
    check_axis(panel.y);
    for (const ChartLine& line : panel.lines) check_line(line, chart.legend.size());
  }
}

constexpr double kThickness = 3.2;
constexpr double kBandOpacity = 0.18;
constexpr double kDotRadius = 5.0;

class ChartPainter {
 public:
  ChartPainter(const Chart& chart, const ChartLayout& layout, Canvas& canvas)
      : chart_(chart), layout_(layout), m_(chart_measures()), canvas_(canvas) {}

  void draw() {
    draw_heading();
    for (std::size_t i = 0; i < chart_.panels.size(); ++i) {
      draw_panel(chart_.panels[i], layout_.panels[i]);
    }
    for (const LegendPlace& place : layout_.legend) draw_entry(place);
  }

 private:
  void draw_heading() {
    const double most = layout_.width - 2.0 * m_.margin();
    const auto line = [&](const std::string& text, const Font& font, double baseline,
                          const Colour& colour) {
      if (text.empty()) return;
      const auto fitted = canvas_.fit(text, font, most);
      canvas_.text(m_.margin(), baseline, fitted.text, fitted.font, colour);
    };
    line(chart_.title, m_.title(), layout_.title_baseline, kInk);
    line(chart_.subtitle, m_.subtitle(), layout_.subtitle_baseline, kQuiet);
  }

  void draw_panel(const ChartPanel& panel, const PanelLayout& layout) {
    const Box& plot = layout.plot;
    for (const Tick& tick : layout.y.ticks) {
      if (tick.label.empty()) continue;
      const double y = plot.bottom() - layout.y.place(tick.value) * plot.height;
      canvas_.fill(plot.left, std::round(y - 0.5), plot.width, 1.0, kFaint);
    }
    canvas_.clipped(plot, [&] {
      for (const ChartLine& line : panel.lines) draw_band(line, panel, layout);
      for (const ChartLine& line : panel.lines) draw_line(line, panel, layout);
    });
    // Not clipped: a dot at the end of an axis is whole.
    for (const ChartLine& line : panel.lines) draw_dots(line, panel, layout);
    draw_frame(canvas_, plot, m_.stroke);
    draw_x_ticks(canvas_, m_, plot, layout.x.ticks, layout.x.place);
    draw_y_ticks(canvas_, m_, plot, layout.y.ticks, layout.y.place);
    draw_panel_labels(panel, layout);
  }

  void draw_panel_labels(const ChartPanel& panel, const PanelLayout& layout) {
    const Box& plot = layout.plot;
    const Font bold{m_.label().size, true};
    const auto title = canvas_.fit(panel.title, bold, plot.width);
    canvas_.text(plot.left + 0.5 * (plot.width - title.width), plot.top - 0.55 * bold.size,
                 title.text, title.font, kInk);
    if (layout.shows_x_label) {
      const auto text = canvas_.fit(panel.x.label, m_.label(), plot.width);
      canvas_.text(plot.left + 0.5 * (plot.width - text.width),
                   plot.bottom() + m_.tick() + 2.0 * m_.gap() + 1.1 * m_.number().size +
                       0.9 * m_.label().size,
                   text.text, text.font, kInk);
    }
    if (layout.shows_y_label) {
      const auto text = canvas_.fit(panel.y.label, m_.label(), plot.height);
      canvas_.upward_text(
          plot.left - m_.tick() - 2.0 * m_.gap() - layout.y_numbers_width - 0.3 * m_.label().size,
          plot.top + 0.5 * (plot.height + text.width), text.text, text.font, kInk);
    }
  }

  // Not a number where a logarithmic axis cannot show it.
  static Spot spot(const PanelLayout& layout, double x, double y) {
    return {layout.plot.left + layout.x.place(x) * layout.plot.width,
            layout.plot.bottom() - layout.y.place(y) * layout.plot.height};
  }

  // A logarithmic axis has no place for what is not positive: a line ends there.
  static bool can_show(const ChartPanel& panel, double x, double y) {
    return std::isfinite(y) && (!panel.x.logarithmic || x > 0.0) &&
           (!panel.y.logarithmic || y > 0.0);
  }

  // Hands over the pieces of a line between its gaps, as ranges of places.
  template <typename Draw>
  static void for_pieces(const ChartLine& line, const ChartPanel& panel, Draw draw) {
    std::size_t first = 0;
    for (std::size_t i = 0; i <= line.x.size(); ++i) {
      const bool gap = i == line.x.size() || !can_show(panel, line.x[i], line.y[i]) ||
                       (!line.low.empty() && !std::isfinite(line.low[i] + line.high[i]));
      if (!gap) continue;
      if (i > first) draw(first, i);
      first = i + 1;
    }
  }

  void draw_band(const ChartLine& line, const ChartPanel& panel, const PanelLayout& layout) {
    if (line.shape != ChartLine::Shape::line || line.low.empty()) return;
    // What lies below a logarithmic axis ends at its foot.
    const auto end = [&](double y) { return panel.y.logarithmic ? std::max(y, layout.y.low) : y; };
    for_pieces(line, panel, [&](std::size_t first, std::size_t last) {
      std::vector<Spot> rim;
      for (std::size_t i = first; i < last; ++i) {
        rim.push_back(spot(layout, line.x[i], end(line.high[i])));
      }
      for (std::size_t i = last; i-- > first;) {
        rim.push_back(spot(layout, line.x[i], end(line.low[i])));
      }
      canvas_.fill_polygon(rim, style(line).colour, kBandOpacity);
    });
  }

  void draw_line(const ChartLine& line, const ChartPanel& panel, const PanelLayout& layout) {
    if (line.shape == ChartLine::Shape::dots) return;
    for_pieces(line, panel, [&](std::size_t first, std::size_t last) {
      std::vector<Spot> spots;
      for (std::size_t i = first; i < last; ++i) {
        spots.push_back(spot(layout, line.x[i], line.y[i]));
      }
      canvas_.polyline(spots, kThickness, style(line).colour, style(line).dashes);
    });
    if (line.shape != ChartLine::Shape::bars || line.low.empty()) return;
    for (std::size_t i = 0; i < line.x.size(); ++i) {
      if (!can_show(panel, line.x[i], line.low[i])) continue;
      const Spot low = spot(layout, line.x[i], line.low[i]);
      const Spot high = spot(layout, line.x[i], line.high[i]);
      if (std::abs(high.y - low.y) < 2.4 * kDotRadius) continue;  // its dot hides it
      const Colour& colour = style(line).colour;
      const double half = 1.2 * kDotRadius;
      canvas_.line(low.x, low.y, high.x, high.y, 0.75 * kThickness, colour);
      canvas_.line(low.x - half, low.y, low.x + half, low.y, 0.75 * kThickness, colour);
      canvas_.line(high.x - half, high.y, high.x + half, high.y, 0.75 * kThickness, colour);
    }
  }

  void draw_dots(const ChartLine& line, const ChartPanel& panel, const PanelLayout& layout) {
    if (line.shape == ChartLine::Shape::line) return;
    for (std::size_t i = 0; i < line.x.size(); ++i) {
      const double x = line.x[i], y = line.y[i];
      if (!can_show(panel, x, y) || x < layout.x.low || x > layout.x.high || y < layout.y.low ||
          y > layout.y.high) {
        continue;
      }
      const Spot at = spot(layout, x, y);
      canvas_.disc(at.x, at.y, kDotRadius, style(line).colour);
    }
  }

  void draw_entry(const LegendPlace& place) {
    const LegendEntry& entry = chart_.legend[place.entry];
    const double y = place.baseline - 0.33 * m_.subtitle().size;
    if (only_dots(place.entry)) {
      canvas_.disc(place.x + 0.5 * kSampleLength, y, kDotRadius, entry.style.colour);
    } else {
      const Spot ends[] = {{place.x, y}, {place.x + kSampleLength, y}};
      canvas_.polyline(ends, kThickness, entry.style.colour, entry.style.dashes);
    }
    const double x = place.x + kSampleLength + kSampleGap;
    const auto text = canvas_.fit(entry.label, m_.subtitle(), layout_.width - m_.margin() - x);
    canvas_.text(x, place.baseline, text.text, text.font, kInk);
  }

  [[nodiscard]] bool only_dots(std::size_t entry) const {
    bool any = false;
    for (const ChartPanel& panel : chart_.panels) {
      for (const ChartLine& line : panel.lines) {
        if (line.entry != entry) continue;
        if (line.shape != ChartLine::Shape::dots) return false;
        any = true;
      }
    }
    return any;
  }

  [[nodiscard]] const LineStyle& style(const ChartLine& line) const {
    return chart_.legend[line.entry].style;
  }

  const Chart& chart_;
  const ChartLayout& layout_;
  Measures m_;
  Canvas& canvas_;
};

std::vector<std::byte> render_chart(FileFormat format, const Chart& chart) {
  check_chart(chart);
  const ChartLayout layout = lay_out(chart);
  return paint(format, layout.width, layout.height,
               [&](Canvas& canvas) { ChartPainter(chart, layout, canvas).draw(); });
}

}  // namespace

std::vector<std::byte> render_png(const Chart& chart) {
  return render_chart(FileFormat::png, chart);
}

std::vector<std::byte> render_pdf(const Chart& chart) {
  return render_chart(FileFormat::pdf, chart);
}

std::vector<std::byte> render_svg(const Chart& chart) {
  return render_chart(FileFormat::svg, chart);
}

}  // namespace rarefy::pictures
