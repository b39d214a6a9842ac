#include "reports/page_comparisons.hpp"

#include <gmock/gmock.h>

#include <vector>

#include "rarefy/reports/paper_values.hpp"
#include "rarefy/statistics/anova.hpp"
#include "reports/page_data.hpp"

using rarefy::paper_values_of;
using rarefy::ResultRow;
using rarefy::Results;
using rarefy::TrialState;

namespace {

ResultRow row_with(std::string_view algorithm, const std::vector<double>& coverages) {
  ResultRow row;
  row.algorithm = algorithm;
  row.domain = "lp";
  for (const double coverage : coverages) {
    auto& trial = row.trials.emplace_back();
    trial.state = TrialState::finished;
    trial.metrics = {{.iteration = 1, .coverage = 0.0},
                     {.iteration = 2, .coverage = coverage, .cross_entropy = 30 - coverage}};
  }
  return row;
}

nlohmann::ordered_json page_comparisons(std::vector<ResultRow> rows,
                                        std::vector<std::size_t> domain_of) {
  Results results;
  results.rows = std::move(rows);
  rarefy::PageData data;
  for (const auto& row : results.rows) data.sources.push_back(&row);
  data.domain_of = std::move(domain_of);
  data.domains.resize(2);
  data.domains[0].constant_objective = false;
  rarefy::ComparisonCache cache;
  auto made = rarefy::page_comparisons(results, data, cache);
  EXPECT_EQ(rarefy::page_comparisons(results, data, cache), made)
      << "what is remembered is the same";
  return made;
}

TEST(PageComparisons, AreThoseOfLastValues) {
  const std::vector<double> a = {0.7, 0.71, 0.72}, b = {0.5, 0.52, 0.51}, c = {0.695, 0.705, 0.715};
  const ResultRow rows[] = {row_with("a", a), row_with("b", b), row_with("c", c)};
  const auto all = page_comparisons({rows[0], rows[1], rows[2]}, {0, 0, 0});
  ASSERT_EQ(all.size(), 3U);
  const auto& one = all[0];
  EXPECT_EQ(one["metric"], "coverage");
  EXPECT_EQ(one["domain"], 0);
  EXPECT_FALSE(one.contains("profile"));
  std::vector<rarefy::GroupMoments> moments;
  for (auto values : {a, b, c}) {
    for (double& value : values) value *= 100;  // percent
    moments.push_back(rarefy::moments_of(values));
  }
  EXPECT_EQ(one["anova"]["f"], rarefy::one_way_anova(moments).f);
  EXPECT_EQ(one["anova"]["within"], 6);
  EXPECT_EQ(one["welch"]["p"], rarefy::welch_anova(moments).p);
  for (const auto* test : {"tukey", "games_howell"}) {
    EXPECT_EQ(one[test][0][1]["sign"], ">");
    EXPECT_EQ(one[test][1][0]["sign"], "<");
    EXPECT_EQ(one[test][0][2]["sign"], "-");
    EXPECT_TRUE(one[test][0][0].is_null());
    EXPECT_EQ(one[test][0][1]["p"], one[test][1][0]["p"]);
  }
  EXPECT_EQ(all[1]["metric"], "cross_entropy");
  EXPECT_EQ(all[1]["tukey"][0][1]["sign"], "<");
}

TEST(PageComparisons, AreOfRowsThatCanBeCompared) {
  ResultRow rows[] = {row_with("a", {0.1, 0.2}), row_with("b", {0.3}), row_with("c", {0.3, 0.4}),
                      row_with("d", {0.3, 0.4})};
  rows[2].trials[1].state = TrialState::begun;
  EXPECT_TRUE(page_comparisons({rows[0], rows[1], rows[2]}, {0, 0, 0}).empty());
  auto elsewhere = rows[3];
  elsewhere.domain = "arm";
  EXPECT_TRUE(page_comparisons({rows[0], elsewhere}, {0, 1}).empty()) << "another domain";
  const auto some = page_comparisons({rows[0], rows[1], rows[3]}, {0, 0, 0});
  EXPECT_EQ(some[0]["rows"], (nlohmann::ordered_json::array({0, 2})));
  rows[3].profile = rarefy::Profile::published;
  EXPECT_TRUE(page_comparisons({rows[0], rows[3]}, {0, 0}).empty()) << "another profile";
}

TEST(PageComparisons, KeepApartWhatAReportKeepsApart) {
  std::vector<ResultRow> rows;
  for (const auto* batch : {"12", "36"}) {
    for (const auto* algorithm : {"dds-kde", "ns"}) {
      rows.push_back(row_with(algorithm, {0.1, 0.2}));
      rows.back().parameters = {{"batch", batch}};
    }
  }
  const auto all = page_comparisons(rows, {0, 0, 0, 0});
  ASSERT_EQ(all.size(), 6U) << "three metrics for each batch";
  EXPECT_EQ(all[0]["rows"], (nlohmann::ordered_json::array({0, 1})));
  EXPECT_EQ(all[0]["detail"], "batch 12");
  EXPECT_EQ(all[3]["rows"], (nlohmann::ordered_json::array({2, 3})));
  EXPECT_EQ(all[3]["detail"], "batch 36");
}

TEST(PageComparisons, LeaveTheQdScoreOutWhereItCountsCells) {
  const ResultRow rows[] = {row_with("a", {0.1, 0.2}), row_with("b", {0.3, 0.4})};
  EXPECT_EQ(page_comparisons({rows[0], rows[1]}, {0, 0}).size(), 3U);
  EXPECT_EQ(page_comparisons({rows[0], rows[1]}, {1, 1}).size(), 2U);
}

TEST(PageComparisons, SurviveGroupsThatDoNotVary) {
  const ResultRow rows[] = {row_with("a", {0.1, 0.1}), row_with("b", {0.2, 0.2})};
  const auto text = page_comparisons({rows[0], rows[1]}, {0, 0}).dump();
  EXPECT_TRUE(nlohmann::json::accept(text)) << "an F that is infinite becomes null";
}

TEST(PaperValues, StandBesideTheRowsThatRepeatThem) {
  auto row = row_with("dds-kde", {0.5});
  const auto* printed = rarefy::paper_value("dds-kde", "lp", "coverage");
  ASSERT_NE(printed, nullptr);
  EXPECT_DOUBLE_EQ(paper_values_of(row)["coverage"]["mean"].get<double>(), printed->mean / 100);
  EXPECT_TRUE(paper_values_of(row).contains("cross_entropy"));
  const double width = rarefy::paper_bandwidths()[0];
  row.parameters = {{"bandwidth", std::to_string(width) + " width"}};
  EXPECT_DOUBLE_EQ(paper_values_of(row)["coverage"]["error"].get<double>(),
                   rarefy::paper_ablation(width, "lp", "coverage")->standard_error / 100);
  row.parameters = {{"batch", "12"}};
  EXPECT_TRUE(paper_values_of(row).empty());
  EXPECT_TRUE(paper_values_of(row_with("map-elites", {0.5})).empty() ||
              rarefy::paper_value("map-elites", "lp", "coverage") != nullptr);
}

}  // namespace
