// What came out at the end, by the value of a parameter.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "parts.hpp"
#include "rarefy/core/numbers.hpp"

namespace rarefy::reports {
namespace {

constexpr std::size_t kFewestValues = 3;

// Rows that differ by one parameter, in a unit: what an axis is made for.
using Axis = std::pair<std::string, std::string>;
// The points of a line, by the value of the parameter.
using Points = std::map<double, const ResultRow*>;
// By algorithm and domain.
using Lines = std::map<std::pair<std::string, std::string>, Points>;

std::map<Axis, Lines> lines_by_axis(const PlottedRows& rows) {
  std::map<Axis, Lines> found;
  for (const auto* row : rows.rows) {
    if (row->parameters.size() != 1) continue;
    const auto& [name, value] = row->parameters.front();
    const auto quantity = parse_number_with_unit(value);
    if (!quantity) continue;
    found[{name, std::string(quantity->unit)}][{row->algorithm, row->domain}][quantity->value] =
        row;
  }
  for (auto& [axis, lines] : found) {
    std::erase_if(lines, [](const auto& line) { return line.second.size() < kFewestValues; });
  }
  std::erase_if(found, [](const auto& axis) { return axis.second.empty(); });
  return found;
}

pictures::ChartLine line_of(const Points& points, const PlottedMetric& metric) {
  pictures::ChartLine line;
  line.shape = pictures::ChartLine::Shape::bars;
  for (const auto& [x, row] : points) {
    std::vector<double> ends;
    for (const auto* trial : shown_trials(*row)) {
      ends.push_back(metric.factor * trial->metrics.back().*(metric.field));
    }
    const auto spread = mean_and_error(ends);
    line.x.push_back(x);
    line.y.push_back(spread.mean);
    line.low.push_back(spread.mean - spread.error);
    line.high.push_back(spread.mean + spread.error);
  }
  return line;
}

// Values that span a decade, and are all positive, stand on a logarithmic axis.
bool wants_logarithm(const Lines& lines) {
  double least = 0.0, greatest = 0.0;
  for (const auto& [key, points] : lines) {
    const double first = points.begin()->first;
    least = least == 0.0 ? first : std::min(least, first);
    greatest = std::max(greatest, points.rbegin()->first);
    if (first <= 0.0) return false;
  }
  return greatest >= 10.0 * least;
}

pictures::Chart chart_of(const PlottedRows& rows, const Axis& axis, const Lines& lines) {
  pictures::Chart chart;
  std::vector<std::string> algorithms, domains;
  for (const auto* row : rows.rows) {  // in the order of the results
    if (!lines.contains({row->algorithm, row->domain})) continue;
    if (std::find(algorithms.begin(), algorithms.end(), row->algorithm) == algorithms.end()) {
      algorithms.push_back(row->algorithm);
    }
    if (std::find(domains.begin(), domains.end(), row->domain) == domains.end()) {
      domains.push_back(row->domain);
    }
  }
  for (std::size_t i = 0; i < algorithms.size(); ++i) {
    chart.legend.push_back({algorithms[i], pictures::line_style(i, algorithms.size())});
  }
  chart.columns = domains.size();
  chart.panel_width = domains.size() > 1 ? 440 : 760;
  chart.panel_height = domains.size() > 1 ? 330 : 420;
  chart.subtitle = note_on_trials(rows);
  bool first = true;
  for (const auto& metric : plotted_metrics()) {
    for (const auto& domain : domains) {
      pictures::ChartPanel panel;
      if (first) panel.title = title_of(rows, domain);
      panel.x.label =
          axis.second.empty() ? axis.first : fmt::format("{} / {}", axis.first, axis.second);
      panel.x.logarithmic = wants_logarithm(lines);
      panel.y.label = metric.label;
      for (std::size_t i = 0; i < algorithms.size(); ++i) {
        const auto found = lines.find({algorithms[i], domain});
        if (found == lines.end()) continue;
        panel.lines.push_back(line_of(found->second, metric));
        panel.lines.back().entry = i;
      }
      set_limits(panel, metric);
      chart.panels.push_back(std::move(panel));
    }
    first = false;
  }
  return chart;
}

}  // namespace

std::vector<Ablation> ablations(const PlottedRows& rows) {
  std::vector<Ablation> all;
  std::string previous;
  for (const auto& [axis, lines] : lines_by_axis(rows)) {
    const auto& [parameter, unit] = axis;
    // The same parameter in two units makes two pictures; its units come one after the other.
    const bool again = parameter == previous;
    previous = parameter;
    all.push_back(
        {again ? fmt::format("{}-{}", parameter, unit) : parameter, chart_of(rows, axis, lines)});
  }
  return all;
}

}  // namespace rarefy::reports
