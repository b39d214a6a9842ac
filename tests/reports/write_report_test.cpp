#include "rarefy/reports/write_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "reports/made_results.hpp"

namespace rarefy {
namespace {

using testing::HasSubstr;
using testing::Not;

Report small_report() {
  Results results;
  results.title = "a_title & more";
  results.rows.push_back(made_row("dds-kde", "lp", {0.245, 0.235, 0.264, 0.271, 0.299}));
  results.rows.push_back(made_row("ns", "lp", {0.284, 0.342, 0.295, 0.322, 0.301}));
  results.rows.push_back(made_row("cma-me", "lp", {0.261, 0.283, 0.243, 0.262, 0.278}));
  results.notes = {"a note with 5 % and a|pipe"};
  return make_report(results);
}

TEST(WrittenReports, AreAlignedAsText) {
  const auto text = write_report(small_report(), ReportFormat::text);
  EXPECT_THAT(text, HasSubstr("lp, default profile\n===================\n"));
  EXPECT_THAT(text, HasSubstr("  dds-kde       5  26.28 ± 1.11  67.67 ± 2.13  -17.2"));
  EXPECT_THAT(text, HasSubstr("  cma-me        5  26.54 ± 0.71  42.90 ± 0.25  -21.8"));
  EXPECT_THAT(text, HasSubstr("26.40 [24.50, 27.10]"));
  EXPECT_THAT(text,
              HasSubstr("  dds-kde        67.67      0 of 5          not                not\n"));
  EXPECT_THAT(text, HasSubstr("coverage: ANOVA F(2, 12) = 7.1378, p = 0.009; Welch's F(2, 7.65) = "
                              "6.2978, p = 0.024\n"));
  EXPECT_THAT(text, HasSubstr("coverage by Tukey's HSD, level 0.05\n"
                              "              1  2  3\n"
                              "  1  dds-kde     <  -\n"
                              "  2  ns       >     >\n"
                              "  3  cma-me   -  <\n"));
  EXPECT_THAT(text, HasSubstr("note: a note with 5 % and a|pipe\n"));
  EXPECT_THAT(text, Not(HasSubstr(" \n"))) << "spaces at the end of a line";
}

TEST(WrittenReports, AreMarkdown) {
  const auto text = write_report(small_report(), ReportFormat::markdown);
  EXPECT_THAT(text, HasSubstr("# a\\_title & more\n\n## lp, default profile\n"));
  EXPECT_THAT(text, HasSubstr("| dds-kde | 5 | 26.28 ± 1.11 | 67.67 ± 2.13 | -17.2 |"));
  EXPECT_THAT(text, HasSubstr("| 2 | ns | \\> |  | \\> |\n"));
  EXPECT_THAT(text, HasSubstr("- a note with 5 % and a\\|pipe\n"));
  // Every line of a table has as many cells as its heading.
  std::istringstream lines(text);
  std::string line;
  std::ptrdiff_t pipes = 0;
  while (std::getline(lines, line)) {
    if (!line.starts_with('|')) {
      pipes = 0;
      continue;
    }
    const auto here = std::count(line.begin(), line.end(), '|');
    if (pipes == 0) pipes = here;
    EXPECT_EQ(here, pipes) << line;
  }
}

TEST(WrittenReports, AreLatex) {
  const auto text = write_report(small_report(), ReportFormat::latex);
  EXPECT_THAT(text, HasSubstr("\\begin{tabular}{lrrr"));
  EXPECT_THAT(text, HasSubstr("  dds-kde & 5 & 26.28 $\\pm$ 1.11 & 67.67 $\\pm$ 2.13 & $-$17.2 &"));
  EXPECT_THAT(text, HasSubstr("  2 & ns & $>$ &  & $>$ \\\\\n"));
  EXPECT_THAT(text, HasSubstr("  3 & cma-me & $-$ & $<$ &  \\\\\n"));
  EXPECT_THAT(text, HasSubstr("a note with 5 \\% and a|pipe.\n"));
  const auto count = [&](const std::string& part) {
    int found = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("\\toprule"), 7);
  EXPECT_EQ(count("\\bottomrule"), 7);
  EXPECT_EQ(count("\\begin{table}"), count("\\end{table}"));
}

TEST(WrittenReports, AreOneNumberALineAsCsv) {
  const auto text = write_report(small_report(), ReportFormat::csv);
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "group,domain,profile,row,other,metric,statistic,value");
  int count = 0;
  while (std::getline(lines, line)) {
    EXPECT_TRUE(line.starts_with("\"lp, default profile\",lp,default,")) << line;
    ++count;
  }
  EXPECT_GT(count, 150);
  EXPECT_THAT(text, HasSubstr(",dds-kde,,coverage,median,26.4"));
  EXPECT_THAT(text, HasSubstr(",dds-kde,,coverage,paper_mean,67.67\n"));
  EXPECT_THAT(text, HasSubstr(",,,coverage,anova_within,12\n"));
  EXPECT_THAT(text, HasSubstr(",dds-kde,ns,coverage,tukey_verdict,<\n"));
  EXPECT_THAT(text, HasSubstr(",ns,cma-me,cross_entropy,games_howell_verdict,<\n"));
}

TEST(WrittenReports, AreEverythingAsJson) {
  const auto json = nlohmann::json::parse(write_report(small_report(), ReportFormat::json));
  EXPECT_EQ(json["title"], "a_title & more");
  const auto& group = json["groups"][0];
  EXPECT_EQ(group["rows"][1]["label"], "ns");
  EXPECT_NEAR(group["rows"][0]["metrics"]["coverage"]["mean"].get<double>(), 26.28, 1e-9);
  EXPECT_EQ(group["rows"][0]["metrics"]["coverage"]["paper"]["mean"], 67.67);
  EXPECT_TRUE(group["rows"][0]["reach"]["evaluations"].is_null());
  EXPECT_NEAR(group["tests"][0]["anova"]["f"].get<double>(), 7.137827822120864, 1e-9);
  EXPECT_EQ(group["tests"][0]["tukey"].size(), 3U);
  EXPECT_EQ(group["tests"][0]["tukey"][2]["verdict"], ">");
  EXPECT_NEAR(group["tests"][0]["games_howell"][0]["lower"].get<double>(), -8.943541680533915,
              1e-5);
  EXPECT_EQ(json["notes"][0], "a note with 5 % and a|pipe");
}

TEST(WrittenReports, OfNothingAreStillWhole) {
  for (const auto& [format, name] : EnumNames<ReportFormat>::all) {
    EXPECT_NO_THROW((void)write_report({}, format)) << name;
  }
  EXPECT_TRUE(nlohmann::json::parse(write_report({}, ReportFormat::json))["groups"].empty());
}

// A verdict in words: how many of the paper's are confirmed.
TEST(WrittenReports, SayHowManyVerdictsAreConfirmed) {
  auto report = small_report();
  report.groups[0].tests[0].tukey_confirms = Confirmation{.confirmed = 13, .opposite = 1, .of = 15};
  report.groups[0].tests[0].games_howell_confirms =
      Confirmation{.confirmed = 15, .opposite = 0, .of = 15};
  report.confirmations.push_back({.profile = Profile::published,
                                  .tukey = {.confirmed = 100, .opposite = 2, .of = 120},
                                  .games_howell = {.confirmed = 90, .opposite = 0, .of = 120}});
  const auto text = write_report(report, ReportFormat::text);
  EXPECT_THAT(text,
              HasSubstr("coverage: the paper's verdicts on pairs: by Tukey's HSD 13 of 15 "
                        "confirmed, 1 the other way round; by Games-Howell 15 of 15 confirmed"));
  EXPECT_THAT(text,
              HasSubstr("the paper's verdicts on pairs, published profile: by Tukey's HSD 100 "
                        "of 120 confirmed, 2 the other way round; by Games-Howell 90 of 120 "
                        "confirmed\n"));
}

}  // namespace
}  // namespace rarefy
