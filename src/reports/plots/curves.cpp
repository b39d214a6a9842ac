// The course of a metric.
#include <algorithm>
#include <cstdint>
#include <map>

#include "parts.hpp"

namespace rarefy::reports {
namespace {

// Whether an iteration is as many evaluations in all trials: then iterations compare fairly.
bool same_batches(const PlottedRows& rows) {
  double first = 0.0;
  for (const auto* row : rows.rows) {
    for (const auto* trial : shown_trials(*row)) {
      const auto& line = trial->metrics.back();
      if (line.iteration == 0) continue;
      const double batch =
          static_cast<double>(line.evaluations) / static_cast<double>(line.iteration);
      if (first == 0.0) first = batch;
      if (batch != first) return false;
    }
  }
  return true;
}

pictures::ChartLine curve(const ResultRow& row, const PlottedMetric& metric, bool by_iteration) {
  const auto trials = shown_trials(row);
  std::map<std::int64_t, std::vector<double>> values;
  for (const auto* trial : trials) {
    for (const auto& line : trial->metrics) {
      values[by_iteration ? line.iteration : line.evaluations].push_back(metric.factor *
                                                                         line.*(metric.field));
    }
  }
  pictures::ChartLine curve;
  for (const auto& [at, those] : values) {
    if (those.size() != trials.size()) continue;  // a mean of fewer would jump
    const auto spread = mean_and_error(those);
    curve.x.push_back(static_cast<double>(at));
    curve.y.push_back(spread.mean);
    if (trials.size() < 2) continue;
    curve.low.push_back(spread.mean - spread.error);
    curve.high.push_back(spread.mean + spread.error);
  }
  return curve;
}

bool draws(const pictures::Chart& chart, std::size_t entry) {
  return std::any_of(chart.panels.begin(), chart.panels.end(), [&](const auto& panel) {
    return std::any_of(panel.lines.begin(), panel.lines.end(),
                       [&](const auto& line) { return line.entry == entry; });
  });
}

}  // namespace

std::optional<pictures::Chart> curves(const PlottedRows& rows, const PlottedMetric& metric,
                                      std::optional<std::string_view> only) {
  const bool by_iteration = same_batches(rows);
  pictures::Chart chart;
  chart.legend = rows.legend;
  chart.subtitle = note_on_trials(rows);
  for (const auto& domain : rows.domains) {
    if (only && *only != domain) continue;
    pictures::ChartPanel panel;
    panel.title = title_of(rows, domain);
    panel.x.label = by_iteration ? "iterations" : "evaluations";
    panel.x.low = 0.0;
    panel.y.label = metric.label;
    for (const auto* row : rows.rows) {
      if (row->domain != domain) continue;
      auto line = curve(*row, metric, by_iteration);
      if (line.x.size() < 2) continue;  // no course yet
      line.entry = rows.entry_of(*row);
      panel.lines.push_back(std::move(line));
    }
    if (panel.lines.empty()) continue;
    set_limits(panel, metric);
    chart.panels.push_back(std::move(panel));
  }
  if (chart.panels.empty()) return std::nullopt;
  for (std::size_t i = 0; i < chart.legend.size(); ++i) {
    if (!draws(chart, i)) chart.legend[i].label.clear();
  }
  chart.columns = std::min<std::size_t>(chart.panels.size(), chart.panels.size() == 4 ? 2 : 3);
  if (!only && chart.panels.size() > 1) {
    chart.panel_width = 540;
    chart.panel_height = 380;
  }
  return chart;
}

}  // namespace rarefy::reports
