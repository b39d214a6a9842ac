#include "rarefy/reports/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "rarefy/core/error.hpp"
#include "rarefy/core/text.hpp"
#include "reports/report_parts.hpp"

namespace rarefy {
namespace {

void note_trials(ReportGroup& group, const ReportRow& row, const ResultRow& source) {
  if (row.begun + row.waiting > 0) {
    group.notes.push_back(fmt::format("{}: {} of {} trials are not finished, and not counted",
                                      row.label, row.begun + row.waiting, row.trials()));
  }
  for (const auto& trial : source.trials) {
    if (trial.state != TrialState::failed) continue;
    group.notes.push_back(fmt::format("{}: seed {} failed: {}", row.label, trial.config.seed,
                                      trial.error.empty() ? "it is not known why" : trial.error));
  }
  std::size_t warned = 0;
  const Trial* first = nullptr;
  for (const auto& trial : source.trials) {
    if (trial.warnings.empty()) continue;
    if (first == nullptr) first = &trial;
    ++warned;
  }
  if (first != nullptr) {
    group.notes.push_back(fmt::format("{}: {} of {} trials warned; seed {}: {}", row.label, warned,
                                      row.trials(), first->config.seed, first->warnings.front()));
  }
  if (row.finished == 1) {
    group.notes.push_back(fmt::format(
        "{}: a single trial finished, which says nothing of how much others would differ",
        row.label));
  }
}

// Once for all rows of which it is the same, and without their names where that is all there are.
void note_iterations(ReportGroup& group) {
  std::map<std::int64_t, std::string> labels;
  std::size_t with_paper = 0, others = 0;
  for (const auto& row : group.rows) {
    const bool has_paper = std::any_of(row.metrics.begin(), row.metrics.end(),
                                       [](const MetricReport& metric) { return metric.paper; });
    with_paper += has_paper ? 1 : 0;
    if (!has_paper || row.iterations == kPaperIterations) continue;
    ++others;
    auto& text = labels[row.iterations];
    text += (text.empty() ? "" : ", ") + row.label;
  }
  for (const auto& [iterations, text] : labels) {
    const bool all = labels.size() == 1 && others == with_paper;
    group.notes.push_back(fmt::format("{}{} iterations, where the paper's values are after {}",
                                      all ? "" : text + ": ", with_commas(iterations),
                                      with_commas(kPaperIterations)));
  }
}

ReportGroup group_of(const reports::RowGroup& rows, const Results& results,
                     const ReportOptions& options) {
  ReportGroup group;
  group.title = rows.title;
  group.domain = results.rows[rows.rows.front()].domain;
  group.profile = results.rows[rows.rows.front()].profile;
  std::vector<const ResultRow*> sources;
  for (const auto i : rows.rows) sources.push_back(&results.rows[i]);
  const auto metrics = reports::metrics_told(sources);
  for (const auto i : rows.rows) {
    auto& row = group.rows.emplace_back(reports::report_row(results.rows[i], metrics, options));
    row.source = i;
    row.label = results.rows[i].label(false);
    note_trials(group, row, results.rows[i]);
  }
  note_iterations(group);
  reports::test_group(group, results, options);
  return group;
}

void add_confirmations(Report& report, const ReportGroup& group) {
  for (const auto& test : group.tests) {
    if (!test.tukey_confirms) continue;
    auto& all = report.confirmations;
    auto known = std::find_if(all.begin(), all.end(), [&](const ProfileConfirmation& each) {
      return each.profile == group.profile;
    });
    if (known == all.end()) {
      known = all.insert(all.end(), {.profile = group.profile, .tukey = {}, .games_howell = {}});
    }
    known->tukey += *test.tukey_confirms;
    known->games_howell += *test.games_howell_confirms;
  }
}

}  // namespace

Confirmation& Confirmation::operator+=(const Confirmation& other) {
  confirmed += other.confirmed;
  opposite += other.opposite;
  of += other.of;
  return *this;
}

Report make_report(const Results& results, const ReportOptions& options) {
  if (options.reach && !(*options.reach > 0 && *options.reach <= 100)) {
    throw Error(ErrorKind::parameter, "reach", fmt::format("{}", *options.reach),
                "a coverage above 0 and up to 100 percent");
  }
  if (!(options.level >= 1e-6 && options.level <= 0.5)) {
    throw Error(ErrorKind::parameter, "level", fmt::format("{}", options.level), "1e-6 to 0.5");
  }
  Report report{.title = results.title,
                .level = options.level,
                .groups = {},
                .confirmations = {},
                .notes = results.notes};
  for (const auto& rows : reports::group_rows(results)) {
    report.groups.push_back(group_of(rows, results, options));
    add_confirmations(report, report.groups.back());
  }
  return report;
}

}  // namespace rarefy
