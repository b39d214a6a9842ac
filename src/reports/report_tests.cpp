#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <string_view>

#include "reports/report_parts.hpp"

namespace rarefy::reports {
namespace {

constexpr std::size_t kMostRows = 100;  // of which the studentized range is known

// What every row of a test was given, in evaluations.
std::int64_t evaluations_planned(const Config& config) {
  return config.iterations * config.emitters.count * config.emitters.batch;
}

Confirmation confirmation_of(const ReportGroup& group, const TestReport& test,
                             const std::vector<PairComparison>& pairs) {
  Confirmation found;
  for (const auto& pair : pairs) {
    const auto& first = group.rows[test.rows[pair.first]].algorithm;
    const auto& second = group.rows[test.rows[pair.second]].algorithm;
    const auto expected = paper_verdict(group.domain, test.metric, first, second);
    ++found.of;
    found.confirmed += expected == pair.verdict ? 1 : 0;
    found.opposite +=
        pair.verdict != Verdict::undecided && expected == turned(pair.verdict) ? 1 : 0;
  }
  return found;
}

// Each of its algorithms once, and nothing else.
bool has_papers_algorithms(const ReportGroup& group, const TestReport& test,
                           const Results& results) {
  std::set<std::string_view> found;
  for (const auto row : test.rows) {
    if (!is_papers_domain(results.rows[group.rows[row].source])) return false;
    if (!group.rows[row].parameters.empty()) return false;
    found.insert(group.rows[row].algorithm);
  }
  const auto all = paper_algorithms();
  return test.rows.size() == all.size() && found == std::set(all.begin(), all.end());
}

TestReport test_of(const ReportGroup& group, const std::string& metric,
                   const std::vector<std::size_t>& rows, const Results& results,
                   const ReportOptions& options) {
  TestReport test{.metric = metric,
                  .rows = rows,
                  .anova = {},
                  .welch = {},
                  .tukey = {},
                  .games_howell = {},
                  .paper_f = {},
                  .tukey_confirms = {},
                  .games_howell_confirms = {}};
  std::vector<GroupMoments> moments;
  moments.reserve(rows.size());
  for (const auto row : rows) {
    moments.push_back(moments_of(final_values(results.rows[group.rows[row].source], metric)));
  }
  test.anova = one_way_anova(moments);
  test.welch = welch_anova(moments);
  test.tukey = tukey_hsd(moments, options.level);
  test.games_howell = games_howell(moments, options.level, options.intervals);
  if (has_papers_algorithms(group, test, results)) {
    test.paper_f = paper_f(group.domain, metric);
    if (test.paper_f) {
      test.tukey_confirms = confirmation_of(group, test, test.tukey);
      test.games_howell_confirms = confirmation_of(group, test, test.games_howell);
    }
  }
  return test;
}

}  // namespace

std::span<const std::string_view> compared_metrics() {
  static constexpr std::string_view kMetrics[] = {"coverage", "cross_entropy", "qd_score"};
  return kMetrics;
}

void test_group(ReportGroup& group, const Results& results, const ReportOptions& options) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < group.rows.size(); ++i) {
    if (group.rows[i].finished >= 2) {
      rows.push_back(i);
    } else if (group.rows.size() > 1) {
      group.notes.push_back(
          fmt::format("{} is left out of the tests: {} of its trials finished, and they need two",
                      group.rows[i].label, group.rows[i].finished == 1 ? "one" : "none"));
    }
  }
  if (rows.size() < 2) return;
  if (rows.size() > kMostRows) {
    group.notes.push_back(
        fmt::format("no tests: {} rows, and they take at most {}", rows.size(), kMostRows));
    return;
  }
  std::set<std::int64_t> evaluations;
  std::set<double> floors;
  for (const auto row : rows) {
    const auto& config = results.rows[group.rows[row].source].trials.front().config;
    evaluations.insert(evaluations_planned(config));
    floors.insert(config.output.entropy_floor);
  }
  if (evaluations.size() > 1) {
    group.notes.push_back(fmt::format(
        "the rows were given different numbers of evaluations, {} to {}: they are compared at the "
        "end of each",
        *evaluations.begin(), *evaluations.rbegin()));
  }
  if (floors.size() > 1) {
    group.notes.emplace_back(
        "the rows have different entropy floors: their cross-entropies cannot be compared");
  }
  for (const auto metric : compared_metrics()) {
    const bool known = std::all_of(rows.begin(), rows.end(), [&](std::size_t row) {
      return group.rows[row].metric(metric) != nullptr;
    });
    if (known) group.tests.push_back(test_of(group, std::string(metric), rows, results, options));
  }
}

}  // namespace rarefy::reports
