#include "reports/report_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "rarefy/core/text.hpp"

namespace rarefy::reports {
namespace {

struct MetricWords {
  std::string_view metric, title;
  int decimals;  // -1: four significant digits
};

constexpr std::array<MetricWords, 10> kMetricWords{{{"coverage", "coverage, %", 2},
                                                    {"cross_entropy", "cross-entropy", 2},
                                                    {"qd_score", "QD score", -1},
                                                    {"best_objective", "best objective", -1},
                                                    {"mean_objective", "mean objective", -1},
                                                    {"restarts", "restarts", 1},
                                                    {"failed", "failed", 1},
                                                    {"outside", "outside, %", 2},
                                                    {"seconds", "seconds", 1},
                                                    {"processor_seconds", "processor s", 1}}};

const MetricWords& words_of(std::string_view metric) {
  return *std::find_if(kMetricWords.begin(), kMetricWords.end(),
                       [&](const MetricWords& each) { return each.metric == metric; });
}

std::string number(const MetricWords& words, double value) {
  if (words.decimals < 0) return fmt::format("{:.4g}", value);
  return fmt::format("{:.{}f}", value, words.decimals);
}

std::string with_error(const MetricWords& words, double mean, double error) {
  if (std::isnan(error)) return number(words, mean);  // of a single trial
  return fmt::format("{} ± {}", number(words, mean), number(words, error));
}

std::string probability(double p) {
  if (p < 0.001) return "p < 0.001";
  return fmt::format("p = {:.3f}", p);
}

std::string anova_words(const Anova& anova) {
  return fmt::format("F({:.4g}, {:.4g}) = {:.5g}, {}", anova.between, anova.within, anova.f,
                     probability(anova.p));
}

// All metrics that some row of the group has, in the order of the table above.
std::vector<MetricWords> metrics_in(const ReportGroup& group) {
  std::vector<MetricWords> found;
  for (const auto& words : kMetricWords) {
    const bool any = std::any_of(group.rows.begin(), group.rows.end(), [&](const ReportRow& row) {
      return row.metric(words.metric) != nullptr;
    });
    if (any) found.push_back(words);
  }
  return found;
}

bool any_paper(const ReportGroup& group, std::string_view metric) {
  return std::any_of(group.rows.begin(), group.rows.end(), [&](const ReportRow& row) {
    const auto* const found = row.metric(metric);
    return found != nullptr && found->paper;
  });
}

std::string trials_words(const ReportRow& row) {
  return row.finished == row.trials() ? fmt::format("{}", row.finished)
                                      : fmt::format("{} of {}", row.finished, row.trials());
}

WordTable table_of_means(const ReportGroup& group) {
  WordTable table{.caption = "mean ± standard error", .heading = {"", "trials"}, .rows = {}};
  const auto metrics = metrics_in(group);
  if (any_paper(group, "coverage")) {
    table.caption += "; off: how many standard errors of the difference from the paper's";
  }
  for (const auto& words : metrics) {
    table.heading.emplace_back(words.title);
    if (any_paper(group, words.metric)) {
      table.heading.insert(table.heading.end(), {"the paper's", "off"});
    }
  }
  for (const auto& row : group.rows) {
    auto& line = table.rows.emplace_back();
    line = {row.label, trials_words(row)};
    for (const auto& words : metrics) {
      const auto* const found = row.metric(words.metric);
      line.push_back(found == nullptr
                         ? ""
                         : with_error(words, found->summary.mean, found->summary.standard_error));
      if (!any_paper(group, words.metric)) continue;
      const bool has = found != nullptr && found->paper;
      line.push_back(has ? with_error(words, found->paper->mean, found->paper->standard_error)
                         : "");
      line.push_back(has && found->off ? fmt::format("{:+.1f}", *found->off) : "");
    }
  }
  return table;
}

WordTable table_of_medians(const ReportGroup& group) {
  WordTable table{.caption = "median [quartiles]", .heading = {""}, .rows = {}};
  const auto metrics = metrics_in(group);
  for (const auto& words : metrics) table.heading.emplace_back(words.title);
  for (const auto& row : group.rows) {
    auto& line = table.rows.emplace_back();
    line = {row.label};
    for (const auto& words : metrics) {
      const auto* const found = row.metric(words.metric);
      if (found == nullptr) {
        line.emplace_back();
        continue;
      }
      const auto& summary = found->summary;
      line.push_back(fmt::format("{} [{}, {}]", number(words, summary.median),
                                 number(words, summary.lower_quartile),
                                 number(words, summary.upper_quartile)));
    }
  }
  return table;
}

WordTable table_of_reach(const ReportGroup& group) {
  const bool from_paper = std::any_of(group.rows.begin(), group.rows.end(), [](const auto& row) {
    return row.reach && row.reach->from_paper;
  });
  // Those of a clock say little of trials that ran side by side on a busy machine.
  const bool by_processors = std::all_of(group.rows.begin(), group.rows.end(), [](const auto& row) {
    return !row.reach || row.reach->knows_processors;
  });
  WordTable table{.caption = fmt::format("until {} coverage: median over trials",
                                         from_paper ? "the paper's" : "a"),
                  .heading = {"", "coverage, %", "reached by", "evaluations",
                              by_processors ? "processor seconds" : "seconds by the clock"},
                  .rows = {}};
  for (const auto& row : group.rows) {
    if (!row.reach) continue;
    const auto& reach = *row.reach;
    const auto& seconds = by_processors ? reach.processor_seconds : reach.seconds;
    table.rows.push_back(
        {row.label, fmt::format("{:.2f}", reach.coverage),
         fmt::format("{} of {}", reach.reached, row.finished),
         reach.evaluations ? with_commas(static_cast<std::int64_t>(*reach.evaluations)) : "not",
         seconds ? fmt::format("{:.1f}", *seconds) : "not"});
  }
  return table;
}

// Rows by name and number, columns by number.
WordTable table_of_signs(const ReportGroup& group, const TestReport& test,
                         const std::vector<PairComparison>& pairs, std::string caption) {
  WordTable table{.caption = std::move(caption),
                  .heading = {"", ""},
                  .rows = {},
                  .left_columns = 2,
                  .signs = true};
  for (std::size_t i = 0; i < test.rows.size(); ++i) {
    table.heading.push_back(fmt::format("{}", i + 1));
    auto& line = table.rows.emplace_back();
    line = {fmt::format("{}", i + 1), group.rows[test.rows[i]].label};
    for (std::size_t j = 0; j < test.rows.size(); ++j) {
      line.emplace_back(i == j ? std::string_view() : name_of(verdict_on(pairs, i, j)));
    }
  }
  return table;
}

std::string confirmation_words(const Confirmation& found) {
  auto text = fmt::format("{} of {} confirmed", found.confirmed, found.of);
  if (found.opposite > 0) text += fmt::format(", {} the other way round", found.opposite);
  return text;
}

void put_test(Section& section, const ReportGroup& group, const TestReport& test, double level) {
  const auto title = words_of(test.metric).title;
  const auto name = title.substr(0, title.find(','));
  section.lines.push_back(
      fmt::format("{}: ANOVA {}{}; Welch's {}", name, anova_words(test.anova),
                  test.paper_f ? fmt::format(" (the paper's F: {})", *test.paper_f) : "",
                  anova_words(test.welch)));
  if (test.tukey_confirms) {
    section.lines.push_back(fmt::format(
        "{}: the paper's verdicts on pairs: by Tukey's HSD {}; by Games-Howell {}", name,
        confirmation_words(*test.tukey_confirms), confirmation_words(*test.games_howell_confirms)));
  }
  section.tables.push_back(table_of_signs(group, test, test.tukey,
                                          fmt::format("{} by Tukey's HSD, level {}", name, level)));
  section.tables.push_back(table_of_signs(
      group, test, test.games_howell, fmt::format("{} by Games-Howell, level {}", name, level)));
}

}  // namespace

std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;  // what goes on with a character
  }));
}

Document document_of(const Report& report) {
  Document document{.title = report.title, .sections = {}, .lines = {}, .notes = report.notes};
  for (const auto& group : report.groups) {
    auto& section = document.sections.emplace_back();
    section.title = group.title;
    section.notes = group.notes;
    section.tables.push_back(table_of_means(group));
    const bool any = std::any_of(group.rows.begin(), group.rows.end(),
                                 [](const ReportRow& row) { return row.finished > 0; });
    if (!any) continue;
    section.tables.push_back(table_of_medians(group));
    section.tables.push_back(table_of_reach(group));
    for (const auto& test : group.tests) put_test(section, group, test, report.level);
  }
  for (const auto& found : report.confirmations) {
    document.lines.push_back(fmt::format(
        "the paper's verdicts on pairs, {} profile: by Tukey's HSD {}; by Games-Howell {}",
        name_of(found.profile), confirmation_words(found.tukey),
        confirmation_words(found.games_howell)));
  }
  return document;
}

}  // namespace rarefy::reports
