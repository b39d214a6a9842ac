#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <variant>

#include "rarefy/core/numbers.hpp"
#include "rarefy/experiment/domain_table.hpp"
#include "rarefy/runs/metrics_log.hpp"
#include "reports/report_parts.hpp"

namespace rarefy::reports {
namespace {

constexpr double kUsualReach = 50;  // percent

double value_of(const MetricsLine& line, const MetricsColumn& column) {
  const double value =
      std::visit([&](auto field) { return static_cast<double>(line.*field); }, column.field);
  return column.name == "coverage" || column.name == "outside" ? 100 * value : value;
}

const MetricsColumn& column_named(std::string_view metric) {
  const auto columns = metrics_columns();
  return *std::find_if(columns.begin(), columns.end(),
                       [&](const MetricsColumn& column) { return column.name == metric; });
}

bool is_done(const Trial& trial) {
  return trial.state == TrialState::finished && !trial.metrics.empty();
}

// Of numbers some of which are infinite.
std::optional<double> finite_median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto middle = values.size() / 2;
  const double median =
      values.size() % 2 == 1 ? values[middle] : std::midpoint(values[middle - 1], values[middle]);
  return std::isfinite(median) ? std::optional(median) : std::nullopt;
}

ReachReport reach_of(const ResultRow& row, const ReportOptions& options) {
  ReachReport report;
  const auto* const paper = paper_value_of(row, "coverage");
  report.from_paper = !options.reach && paper != nullptr;
  report.coverage = options.reach.value_or(paper != nullptr ? paper->mean : kUsualReach);
  std::vector<double> evaluations, seconds, processor_seconds;
  report.knows_processors = true;
  for (const auto& trial : row.trials) {
    if (!is_done(trial)) continue;
    const auto line = std::find_if(
        trial.metrics.begin(), trial.metrics.end(),
        [&](const MetricsLine& each) { return 100 * each.coverage >= report.coverage; });
    const bool reached = line != trial.metrics.end();
    constexpr double kNever = std::numeric_limits<double>::infinity();
    report.reached += reached ? 1 : 0;
    evaluations.push_back(reached ? static_cast<double>(line->evaluations) : kNever);
    seconds.push_back(reached ? line->seconds : kNever);
    processor_seconds.push_back(reached ? line->processor_seconds : kNever);
    if (std::isnan(trial.metrics.back().processor_seconds)) report.knows_processors = false;
  }
  report.evaluations = finite_median(std::move(evaluations));
  report.seconds = finite_median(std::move(seconds));
  if (report.knows_processors) {
    report.processor_seconds = finite_median(std::move(processor_seconds));
  }
  return report;
}

MetricReport metric_report(const ResultRow& row, const std::string& metric,
                           const std::vector<double>& values) {
  MetricReport report{.metric = metric, .summary = summarize(values), .paper = {}, .off = {}};
  if (const auto* const paper = paper_value_of(row, metric)) {
    report.paper = *paper;
    const double error = std::hypot(report.summary.standard_error, paper->standard_error);
    if (values.size() > 1 && error > 0) report.off = (report.summary.mean - paper->mean) / error;
  }
  return report;
}

}  // namespace

bool is_papers_domain(const ResultRow& row) {
  const auto domains = paper_domains();
  if (std::find(domains.begin(), domains.end(), row.domain) == domains.end()) return false;
  const auto& config = row.trials.front().config;
  if (config.own_problem || config.program.any()) return false;
  const auto usual = default_config(row.domain);
  const bool as_usual =
      config.archive.kind == CellKind::automatic ||
      config.archive.kind == (row.domain == "multi-lp" ? CellKind::cvt : CellKind::grid);
  return config.problem == usual.problem && as_usual &&
         config.archive.intervals == usual.archive.intervals &&
         config.archive.cvt.cells == usual.archive.cvt.cells;
}

std::vector<double> final_values(const ResultRow& row, std::string_view metric) {
  const auto& column = column_named(metric);
  std::vector<double> values;
  for (const auto& trial : row.trials) {
    if (is_done(trial)) values.push_back(value_of(trial.metrics.back(), column));
  }
  return values;
}

std::vector<std::string> metrics_told(const std::vector<const ResultRow*>& rows) {
  bool constant = true;
  for (const auto* row : rows) {
    constant = constant && domain_info(row->trials.front().config).constant_objective;
  }
  std::vector<std::string> metrics;
  for (const auto& column : metrics_columns()) {
    if (column.name == "iteration" || column.name == "evaluations" || column.name == "left_out") {
      continue;
    }
    const bool of_objectives = column.name == "qd_score" || column.name == "best_objective" ||
                               column.name == "mean_objective";
    if (of_objectives && constant) continue;
    const bool only_if_any =
        column.name == "failed" || column.name == "outside" || column.name == "processor_seconds";
    const bool any = std::any_of(rows.begin(), rows.end(), [&](const ResultRow* row) {
      const auto values = final_values(*row, column.name);
      return std::any_of(values.begin(), values.end(),
                         [](double value) { return std::isfinite(value) && value != 0; });
    });
    if (any || !only_if_any) metrics.emplace_back(column.name);
  }
  return metrics;
}

ReportRow report_row(const ResultRow& row, const std::vector<std::string>& metrics,
                     const ReportOptions& options) {
  ReportRow report;
  report.algorithm = row.algorithm;
  report.parameters = row.parameters;
  report.iterations = row.trials.front().config.iterations;
  for (const auto& trial : row.trials) {
    switch (trial.state) {
      case TrialState::waiting: ++report.waiting; break;
      case TrialState::begun: ++report.begun; break;
      case TrialState::failed: ++report.failed; break;
      case TrialState::finished: ++(trial.metrics.empty() ? report.begun : report.finished); break;
    }
  }
  if (report.finished == 0) return report;
  for (const auto& metric : metrics) {
    const auto values = final_values(row, metric);
    const bool known = std::all_of(values.begin(), values.end(),
                                   [](double value) { return std::isfinite(value); });
    if (known) report.metrics.push_back(metric_report(row, metric, values));
  }
  report.reach = reach_of(row, options);
  return report;
}

}  // namespace rarefy::reports

namespace rarefy {

const MetricReport* ReportRow::metric(std::string_view name) const {
  for (const auto& each : metrics) {
    if (each.metric == name) return &each;
  }
  return nullptr;
}

const PaperValue* paper_value_of(const ResultRow& row, std::string_view metric) {
  if (row.trials.empty() || !reports::is_papers_domain(row)) return nullptr;
  if (row.parameters.empty()) return paper_value(row.algorithm, row.domain, metric);
  if (row.algorithm != "dds-kde" || row.parameters.size() != 1) return nullptr;
  const auto& [name, text] = row.parameters.front();
  const auto number = parse_number_with_unit(text);
  if (name != "bandwidth" || !number) return nullptr;
  if (number->unit == "width") return paper_ablation(number->value, row.domain, metric);
  if (!number->unit.empty()) return nullptr;
  const auto space = domain_info(row.trials.front().config).feature_space;
  return paper_ablation(number->value / (space.upper[0] - space.lower[0]), row.domain, metric);
}

}  // namespace rarefy
