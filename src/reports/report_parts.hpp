// The parts of which reports/report.hpp is made.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rarefy/reports/report.hpp"

namespace rarefy::reports {

/// Rows that can be compared, by their places in the results.
struct RowGroup {
  std::string title;
  std::string detail;  ///< what tells it from others of its domain and profile; may be empty
  std::vector<std::size_t> rows;
};
[[nodiscard]] std::vector<RowGroup> group_rows(const Results& results);

/// Whether a row's problem and cells are those of the paper's domain of that name.
[[nodiscard]] bool is_papers_domain(const ResultRow& row);

/// The values of a metric at the end of the finished trials, coverage in percent.
[[nodiscard]] std::vector<double> final_values(const ResultRow& row, std::string_view metric);

/// The metrics by which rows are compared.
[[nodiscard]] std::span<const std::string_view> compared_metrics();

/// The metrics that have something to say of these rows.
[[nodiscard]] std::vector<std::string> metrics_told(const std::vector<const ResultRow*>& rows);

/// `source` and label are left to the caller.
[[nodiscard]] ReportRow report_row(const ResultRow& row, const std::vector<std::string>& metrics,
                                   const ReportOptions& options);

/// Fills in tests, and notes on what they leave out.
void test_group(ReportGroup& group, const Results& results, const ReportOptions& options);

}  // namespace rarefy::reports
