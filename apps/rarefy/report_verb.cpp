#include "report_verb.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string_view>
#include <utility>

#include "exit_codes.hpp"
#include "output.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/reports/page.hpp"
#include "rarefy/reports/plots.hpp"
#include "rarefy/reports/write_report.hpp"
#include "rarefy/storage/atomic_file.hpp"

namespace rarefy::command {
namespace {

ReportFormat format_by(const std::string& name, const std::filesystem::path& file) {
  if (!name.empty()) return named<ReportFormat>(name);
  constexpr std::pair<std::string_view, ReportFormat> kEndings[] = {{".md", ReportFormat::markdown},
                                                                    {".tex", ReportFormat::latex},
                                                                    {".csv", ReportFormat::csv},
                                                                    {".json", ReportFormat::json}};
  for (const auto& [ending, format] : kEndings) {
    if (file.extension() == ending) return format;
  }
  return ReportFormat::text;
}

Results results_in(const std::vector<std::string>& folders) {
  const std::vector<std::filesystem::path> paths(folders.begin(), folders.end());
  auto results = read_results(paths);
  if (!results.rows.empty()) return results;
  auto text = fmt::format("there are no runs in '{}'", folders.front());
  for (std::size_t i = 1; i < folders.size(); ++i) text += fmt::format(", '{}'", folders[i]);
  for (const auto& note : results.notes) text += "\n  " + note;
  throw Error(ErrorKind::data, text);
}

}  // namespace

void ReportVerb::add_options(CLI::App& verb) {
  verb.add_option("--format", format,
                  "text, markdown, latex, csv or json (by the ending of --out, or text)")
      ->type_name("");
  verb.add_option("--out", out, "the file for the report, instead of standard output")
      ->type_name("");
  verb.add_option("--reach", reach,
                  "the coverage in percent until which evaluations and seconds are counted (the "
                  "paper's where there is one, or 50)")
      ->type_name("");
  verb.add_option("--level", level, "at which differences count as significant [0.05]")
      ->type_name("");
  verb.add_option("--page", page, "also make a page for a browser: the file for it")->type_name("");
  verb.add_option("--plots", plots, "also draw curves, heat maps and ablations: their folder")
      ->type_name("");
}

int ReportVerb::run() const {
  const auto as = format_by(format, out);
  const auto results = results_in(folders);
  const auto text = write_report(make_report(results, {.level = level, .reach = reach}), as);
  if (!page.empty()) write_file_atomically(std::filesystem::path(page), report_page(results));
  if (!plots.empty()) write_plots(results, plots);
  if (!out.empty()) {
    write_file_atomically(std::filesystem::path(out), text);
  } else if (as == ReportFormat::text) {
    print_out(text);
  } else {
    print_data(text);
  }
  return kDone;
}

}  // namespace rarefy::command
