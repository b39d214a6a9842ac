// A report for people and for programs to read.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "rarefy/core/names.hpp"
#include "rarefy/reports/report.hpp"

namespace rarefy {

enum class ReportFormat {
  text,  ///< aligned, for a terminal
  markdown,
  latex,  ///< tables of the package booktabs
  csv,    ///< one number a line, with all its digits
  json,   ///< everything there is
};

template <>
struct EnumNames<ReportFormat> {
  static constexpr std::string_view thing = "format";
  static constexpr std::pair<ReportFormat, std::string_view> all[] = {
      {ReportFormat::text, "text"},
      {ReportFormat::markdown, "markdown"},
      {ReportFormat::latex, "latex"},
      {ReportFormat::csv, "csv"},
      {ReportFormat::json, "json"}};
};

[[nodiscard]] std::string write_report(const Report& report, ReportFormat format);

}  // namespace rarefy
