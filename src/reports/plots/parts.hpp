// What the plots of results have in common: which trials are drawn, of what, in which style.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rarefy/pictures/chart.hpp"
#include "rarefy/pictures/heatmap_panels.hpp"
#include "rarefy/trials/results.hpp"

namespace rarefy::reports {

/// A metric that is drawn.
struct PlottedMetric {
  std::string_view file;
  std::string_view label;
  double MetricsLine::*field;
  double factor = 1.0;
  bool from_zero = false;
};
[[nodiscard]] const std::vector<PlottedMetric>& plotted_metrics();

/// The rows of one profile, in their order.
struct PlottedRows {
  std::vector<const ResultRow*> rows;
  std::vector<std::string> domains;           ///< by name, as they first appear
  std::vector<std::string> labels;            ///< of what is compared, as they first appear
  std::vector<pictures::LegendEntry> legend;  ///< one for each label
  [[nodiscard]] std::size_t entry_of(const ResultRow& row) const;
  [[nodiscard]] const ResultRow* row_of(std::string_view domain, std::size_t entry) const;
};
[[nodiscard]] PlottedRows rows_to_plot(const Results& results, Profile profile);

/// The trials of a row that are drawn.
[[nodiscard]] std::vector<const Trial*> shown_trials(const ResultRow& row);

/// The name of a domain for readers.
[[nodiscard]] std::string title_of(const PlottedRows& rows, std::string_view domain);

struct MeanAndError {
  double mean = 0.0;
  double error = 0.0;  ///< standard error of the mean; 0 where there is one value
};
[[nodiscard]] MeanAndError mean_and_error(const std::vector<double>& values);

/// Limits of a coverage axis, or of any other metric.
void set_limits(pictures::ChartPanel& panel, const PlottedMetric& metric);

/// "mean and standard error of 10 trials", of all rows that are shown.
[[nodiscard]] std::string note_on_trials(const PlottedRows& rows);

/// A panel for each domain that has anything to show, or for one alone.
[[nodiscard]] std::optional<pictures::Chart> curves(const PlottedRows& rows,
                                                    const PlottedMetric& metric,
                                                    std::optional<std::string_view> only = {});

struct Ablation {
  std::string parameter;
  pictures::Chart chart;
};
[[nodiscard]] std::vector<Ablation> ablations(const PlottedRows& rows);

[[nodiscard]] std::optional<pictures::HeatmapPanels> heatmap_panels(const PlottedRows& rows);

}  // namespace rarefy::reports
