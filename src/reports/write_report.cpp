#include "rarefy/reports/write_report.hpp"

#include "reports/report_document.hpp"

namespace rarefy {

std::string write_report(const Report& report, ReportFormat format) {
  switch (format) {
    case ReportFormat::text: return reports::as_text(reports::document_of(report));
    case ReportFormat::markdown: return reports::as_markdown(reports::document_of(report));
    case ReportFormat::latex: return reports::as_latex(reports::document_of(report));
    case ReportFormat::csv: return reports::as_csv(report);
    case ReportFormat::json: return reports::as_json(report);
  }
  return {};
}

}  // namespace rarefy
