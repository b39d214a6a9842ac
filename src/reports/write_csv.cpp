#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "rarefy/core/numbers.hpp"
#include "reports/report_document.hpp"

namespace rarefy::reports {
namespace {

std::string csv_word(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    out += c;
    if (c == '"') out += c;
  }
  return out + "\"";
}

// A line a number: whose, of which metric, and what it says.
class NumberLines {
 public:
  explicit NumberLines(const ReportGroup& group) : group_(group) {}

  void put(std::string_view row, std::string_view other, std::string_view metric,
           std::string_view statistic, const std::string& value) {
    text_ += fmt::format("{},{},{},{},{},{},{},{}\n", csv_word(group_.title),
                         csv_word(group_.domain), name_of(group_.profile), csv_word(row),
                         csv_word(other), metric, statistic, value);
  }
  // What is not known has no line.
  void put(std::string_view row, std::string_view other, std::string_view metric,
           std::string_view statistic, double value) {
    if (!std::isnan(value)) put(row, other, metric, statistic, text_of(value));
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  const ReportGroup& group_;
  std::string text_;
};

void put_row(NumberLines& out, const ReportRow& row) {
  const auto put = [&](std::string_view metric, std::string_view statistic, auto value) {
    out.put(row.label, "", metric, statistic, static_cast<double>(value));
  };
  put("", "iterations", row.iterations);
  put("", "finished", row.finished);
  put("", "begun", row.begun);
  put("", "waiting", row.waiting);
  put("", "failed", row.failed);
  for (const auto& metric : row.metrics) {
    const auto& summary = metric.summary;
    put(metric.metric, "count", summary.count);
    put(metric.metric, "mean", summary.mean);
    put(metric.metric, "deviation", summary.deviation);
    put(metric.metric, "standard_error", summary.standard_error);
    put(metric.metric, "least", summary.least);
    put(metric.metric, "lower_quartile", summary.lower_quartile);
    put(metric.metric, "median", summary.median);
    put(metric.metric, "upper_quartile", summary.upper_quartile);
    put(metric.metric, "greatest", summary.greatest);
    if (metric.paper) {
      put(metric.metric, "paper_mean", metric.paper->mean);
      put(metric.metric, "paper_standard_error", metric.paper->standard_error);
    }
    if (metric.off) put(metric.metric, "off", *metric.off);
  }
  if (!row.reach) return;
  put("coverage", "reach", row.reach->coverage);
  put("coverage", "reach_trials", row.reach->reached);
  if (row.reach->evaluations) put("coverage", "reach_evaluations", *row.reach->evaluations);
  if (row.reach->seconds) put("coverage", "reach_seconds", *row.reach->seconds);
  if (row.reach->processor_seconds) {
    put("coverage", "reach_processor_seconds", *row.reach->processor_seconds);
  }
}

void put_anova(NumberLines& out, const TestReport& test, std::string_view name,
               const Anova& anova) {
  const auto put = [&](std::string_view part, double value) {
    out.put("", "", test.metric, fmt::format("{}_{}", name, part), value);
  };
  put("f", anova.f);
  put("between", anova.between);
  put("within", anova.within);
  put("p", anova.p);
}

void put_pairs(NumberLines& out, const ReportGroup& group, const TestReport& test,
               std::string_view name, const std::vector<PairComparison>& pairs) {
  for (const auto& pair : pairs) {
    const auto put = [&](std::string_view part, auto value) {
      out.put(group.rows[test.rows[pair.first]].label, group.rows[test.rows[pair.second]].label,
              test.metric, fmt::format("{}_{}", name, part), value);
    };
    put("difference", pair.difference);
    put("q", pair.q);
    put("df", pair.freedom);
    put("p", pair.p);
    put("lower", pair.lower);
    put("upper", pair.upper);
    put("verdict", std::string(name_of(pair.verdict)));
  }
}

}  // namespace

std::string as_csv(const Report& report) {
  std::string out = "group,domain,profile,row,other,metric,statistic,value\n";
  for (const auto& group : report.groups) {
    NumberLines lines(group);
    for (const auto& row : group.rows) put_row(lines, row);
    for (const auto& test : group.tests) {
      put_anova(lines, test, "anova", test.anova);
      put_anova(lines, test, "welch", test.welch);
      if (test.paper_f) lines.put("", "", test.metric, "paper_f", *test.paper_f);
      put_pairs(lines, group, test, "tukey", test.tukey);
      put_pairs(lines, group, test, "games_howell", test.games_howell);
    }
    out += lines.text();
  }
  return out;
}

}  // namespace rarefy::reports
