#include "chart_layout.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rarefy::pictures {
namespace {

// What an axis has to show.
struct Span {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void take(double value, bool logarithmic) {
    if (!std::isfinite(value) || (logarithmic && value <= 0.0)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

Span x_span(const ChartPanel& panel) {
  Span span;
  for (const ChartLine& line : panel.lines) {
    for (const double x : line.x) span.take(x, panel.x.logarithmic);
  }
  return span;
}

Span y_span(const ChartPanel& panel) {
  Span span;
  for (const ChartLine& line : panel.lines) {
    for (const auto* values : {&line.y, &line.low, &line.high}) {
      for (const double y : *values) span.take(y, panel.y.logarithmic);
    }
  }
  return span;
}

// The limits of an axis, with `room` of its length beyond what it shows.
AxisLayout settle(const ChartAxis& axis, Span span, double room) {
  if (span.low > span.high) span = axis.logarithmic ? Span{1.0, 10.0} : Span{0.0, 1.0};
  AxisLayout layout;
  if (axis.logarithmic) {
    const double factor = std::pow(span.high / span.low, room);
    layout.low = axis.low.value_or(span.low / factor);
    layout.high = axis.high.value_or(span.high * factor);
  } else {
    const double pad = room * (span.high - span.low);
    layout.low = axis.low.value_or(span.low - pad);
    layout.high = axis.high.value_or(span.high + pad);
  }
  if (!is_drawable_range(layout.low, layout.high)) {  // one value: some room around it
    const double about = std::abs(layout.low);
    const double half = about > 0.0 ? 0.1 * about : 1.0;
    layout.high = layout.low + half;
    if (!axis.low || *axis.low != layout.low) layout.low -= axis.logarithmic ? 0.5 * half : half;
  }
  layout.place =
      axis.logarithmic ? log_place(layout.low, layout.high) : linear_place(layout.low, layout.high);
  return layout;
}

std::vector<Tick> ticks_for(const ChartAxis& axis, const AxisLayout& layout, int most) {
  return axis.logarithmic ? log_ticks(layout.low, layout.high, most)
                          : linear_ticks(layout.low, layout.high, most);
}

class Layouter {
 public:
  explicit Layouter(const Chart& chart)
      : chart_(chart),
        columns_(std::min(chart.columns, chart.panels.size())),
        rows_((chart.panels.size() + columns_ - 1) / columns_),
        m_(chart_measures()) {}

  ChartLayout lay_out() {
    for (std::size_t i = 0; i < chart_.panels.size(); ++i) layout_.panels.push_back(panel(i));
    double y = heading();
    y = place_panels(y);
    y = place_legend(y);
    layout_.height = static_cast<int>(std::ceil(y + m_.margin()));
    return layout_;
  }

 private:
  PanelLayout panel(std::size_t i) {
    const ChartPanel& panel = chart_.panels[i];
    PanelLayout layout;
    layout.x = settle(panel.x, x_span(panel), has_bars(panel) ? 0.04 : 0.0);
    layout.y = settle(panel.y, y_span(panel), 0.05);
    layout.x.ticks = roomy_ticks([&](int most) { return ticks_for(panel.x, layout.x, most); },
                                 layout.x.place, chart_.panel_width,
                                 [&](const std::vector<Tick>& ticks) {
                                   return widest(canvas_, ticks, m_.number()) + m_.number().size;
                                 });
    layout.y.ticks =
        roomy_ticks([&](int most) { return ticks_for(panel.y, layout.y, most); }, layout.y.place,
                    chart_.panel_height, [&](const auto&) { return 1.7 * m_.number().size; });
    layout.y_numbers_width = widest(canvas_, layout.y.ticks, m_.number());
    layout.shows_y_label =
        i % columns_ == 0 || chart_.panels[i - 1].y.label != chart_.panels[i].y.label;
    const std::size_t below = i + columns_;
    layout.shows_x_label =
        below >= chart_.panels.size() || chart_.panels[below].x.label != panel.x.label;
    return layout;
  }

  static bool has_bars(const ChartPanel& panel) {
    return std::any_of(panel.lines.begin(), panel.lines.end(),
                       [](const ChartLine& line) { return line.shape != ChartLine::Shape::line; });
  }

  double heading() {
    double y = m_.margin();
    if (!chart_.title.empty()) {
      y += m_.title().size;
      layout_.title_baseline = y;
      y += 0.38 * m_.title().size;
    }
    if (!chart_.subtitle.empty()) {
      y += m_.subtitle().size;
      layout_.subtitle_baseline = y;
      y += 0.38 * m_.subtitle().size;
    }
    return y;
  }

  // Columns and rows are as wide and high as the widest and highest of their panels.
  double place_panels(double y) {
    double x = m_.margin();
    for (std::size_t c = 0; c < columns_; ++c) {
      // Labels of a column stand below each other.
      double numbers = 0.0, label = 0.0;
      for (std::size_t i = c; i < chart_.panels.size(); i += columns_) {
        const PanelLayout& one = layout_.panels[i];
        numbers = std::max(numbers, one.y_numbers_width);
        if (one.shows_y_label) label = std::max(label, m_.label_space(chart_.panels[i].y.label));
      }
      const double left = label + numbers + m_.tick() + m_.gap();
      x += left;
      for (std::size_t i = c; i < chart_.panels.size(); i += columns_) {
        layout_.panels[i].plot.left = static_cast<int>(std::lround(x));
        layout_.panels[i].plot.width = chart_.panel_width;
        layout_.panels[i].y_numbers_width = numbers;
      }
      x += chart_.panel_width + m_.margin();
    }
    // Numbers at the end of an axis reach beyond it.
    layout_.width = static_cast<int>(std::ceil(x + 0.6 * m_.number().size));
    for (std::size_t r = 0; r < rows_; ++r) {
      const std::size_t first = r * columns_;
      const std::size_t end = std::min(first + columns_, chart_.panels.size());
      double above = 0.5 * m_.number().size, below = 0.0;
      for (std::size_t i = first; i < end; ++i) {
        if (!chart_.panels[i].title.empty()) above = std::max(above, 1.7 * m_.label().size);
        below = std::max(
            below,
            m_.tick() + m_.gap() + 1.1 * m_.number().size +
                (layout_.panels[i].shows_x_label ? m_.label_space(chart_.panels[i].x.label) : 0.0));
      }
      y += above;
      for (std::size_t i = first; i < end; ++i) {
        layout_.panels[i].plot.top = static_cast<int>(std::lround(y));
        layout_.panels[i].plot.height = chart_.panel_height;
      }
      y += chart_.panel_height + below + (r + 1 < rows_ ? m_.gap() : 0.0);
    }
    return y;
  }

  // Entries stand below each other in columns of one width, as many as fit.
  double place_legend(double y) {
    std::vector<std::size_t> shown;
    double widest_entry = 0.0;
    for (std::size_t i = 0; i < chart_.legend.size(); ++i) {
      if (chart_.legend[i].label.empty()) continue;
      shown.push_back(i);
      widest_entry =
          std::max(widest_entry, canvas_.text_width(chart_.legend[i].label, m_.subtitle()));
    }
    if (shown.empty()) return y;
    const double width = std::min(kSampleLength + kSampleGap + widest_entry + 2.0 * m_.margin(),
                                  layout_.width - 2.0 * m_.margin());
    const double room = layout_.width - 2.0 * m_.margin();
    const std::size_t fit = std::max<std::size_t>(1, static_cast<std::size_t>(room / width));
    // Rows of equal length: 6 entries where 4 fit stand in two rows of 3.
    const std::size_t rows = (shown.size() + fit - 1) / fit;
    const std::size_t columns = (shown.size() + rows - 1) / rows;
    const double left =
        0.5 * (layout_.width - (static_cast<double>(columns) * width - 2.0 * m_.margin()));
    const double line = 1.5 * m_.subtitle().size;
    y += 1.6 * m_.gap();
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const std::size_t row = i / columns, column = i % columns;
      layout_.legend.push_back({shown[i], left + static_cast<double>(column) * width,
                                y + static_cast<double>(row) * line + 0.9 * m_.subtitle().size});
    }
    return y + static_cast<double>(rows) * line;
  }

  const Chart& chart_;
  std::size_t columns_, rows_;
  Measures m_;
  Canvas canvas_;
  ChartLayout layout_;
};

}  // namespace

ChartLayout lay_out(const Chart& chart) { return Layouter(chart).lay_out(); }

}  // namespace rarefy::pictures
