#include "parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rarefy/experiment/domain_table.hpp"

namespace rarefy::reports {

const std::vector<PlottedMetric>& plotted_metrics() {
  static const std::vector<PlottedMetric> kAll = {
      {"coverage", "coverage (%)", &MetricsLine::coverage, 100.0, true},
      {"cross-entropy", "cross-entropy", &MetricsLine::cross_entropy}};
  return kAll;
}

std::size_t PlottedRows::entry_of(const ResultRow& row) const {
  const auto found = std::find(labels.begin(), labels.end(), row.label(false));
  return static_cast<std::size_t>(found - labels.begin());
}

const ResultRow* PlottedRows::row_of(std::string_view domain, std::size_t entry) const {
  for (const auto* row : rows) {
    if (row->domain == domain && entry_of(*row) == entry) return row;
  }
  return nullptr;
}

PlottedRows rows_to_plot(const Results& results, Profile profile) {
  PlottedRows chosen;
  const auto add = [](std::vector<std::string>& names, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const auto& row : results.rows) {
    if (row.profile != profile || shown_trials(row).empty()) continue;
    chosen.rows.push_back(&row);
    add(chosen.domains, row.domain);
    add(chosen.labels, row.label(false));
  }
  for (std::size_t i = 0; i < chosen.labels.size(); ++i) {
    chosen.legend.push_back({chosen.labels[i], pictures::line_style(i, chosen.labels.size())});
  }
  return chosen;
}

std::vector<const Trial*> shown_trials(const ResultRow& row) {
  for (const auto state : {TrialState::finished, TrialState::begun}) {
    std::vector<const Trial*> trials;
    for (const auto& trial : row.trials) {
      if (trial.state == state && !trial.metrics.empty()) trials.push_back(&trial);
    }
    if (!trials.empty()) return trials;
  }
  return {};
}

std::string title_of(const PlottedRows& rows, std::string_view domain) {
  for (const auto* row : rows.rows) {
    if (row->domain != domain) continue;
    const auto info = domain_info(row->trials.front().config);
    return info.title.empty() ? info.name : info.title;
  }
  return std::string(domain);
}

MeanAndError mean_and_error(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  MeanAndError result;
  for (const double value : values) result.mean += value / count;
  if (values.size() < 2) return result;
  double squares = 0.0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  result.error = std::sqrt(squares / (count - 1.0) / count);
  return result;
}

void set_limits(pictures::ChartPanel& panel, const PlottedMetric& metric) {
  if (!metric.from_zero) return;
  double greatest = 0.0;
  for (const auto& line : panel.lines) {
    for (const auto* values : {&line.y, &line.high}) {
      for (const double value : *values) greatest = std::max(greatest, value);
    }
  }
  panel.y.low = 0.0;
  if (greatest > 0.0) panel.y.high = std::min(100.0, 1.06 * greatest);
}

std::string note_on_trials(const PlottedRows& rows) {
  std::size_t fewest = SIZE_MAX, most = 0;
  for (const auto* row : rows.rows) {
    const auto count = shown_trials(*row).size();
    fewest = std::min(fewest, count);
    most = std::max(most, count);
  }
  if (most == 1) return "one trial each";
  return fewest == most ? fmt::format("mean and standard error of {} trials", most)
                        : fmt::format("mean and standard error of {} to {} trials", fewest, most);
}

}  // namespace rarefy::reports
