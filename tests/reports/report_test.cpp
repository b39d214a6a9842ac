#include "rarefy/reports/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "rarefy/core/error.hpp"
#include "rarefy/reports/write_report.hpp"
#include "reports/made_results.hpp"
#include "reports/report_parts.hpp"

namespace rarefy {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> titles_of(const Report& report) {
  std::vector<std::string> titles;
  for (const auto& group : report.groups) titles.push_back(group.title);
  return titles;
}

TEST(Reports, SumUpTheEndOfFinishedTrials) {
  Results results;
  results.rows.push_back(made_row("dds-kde", "lp", {0.6, 0.7, 0.8, 0.9}));
  auto& trials = results.rows[0].trials;
  trials.push_back(made_trial(trials[0].config, 5, 0.1, 1));
  trials.back().state = TrialState::begun;
  trials.push_back(made_trial(trials[0].config, 6, 0.1, 1));
  trials.back().state = TrialState::failed;
  trials.back().error = "the disk is full";
  const auto report = make_report(results);
  ASSERT_EQ(report.groups.size(), 1U);
  const auto& group = report.groups[0];
  EXPECT_EQ(group.title, "lp, default profile");
  const auto& row = group.rows.at(0);
  EXPECT_EQ(row.finished, 4U);
  EXPECT_EQ(row.begun, 1U);
  EXPECT_EQ(row.failed, 1U);
  EXPECT_EQ(row.trials(), 6U);
  const auto* const coverage = row.metric("coverage");
  ASSERT_NE(coverage, nullptr);
  EXPECT_EQ(coverage->summary.count, 4U);
  EXPECT_NEAR(coverage->summary.mean, 75, 1e-12);
  EXPECT_NEAR(coverage->summary.standard_error, 6.454972243679028, 1e-12);
  EXPECT_NEAR(coverage->summary.lower_quartile, 67.5, 1e-12);
  EXPECT_EQ(coverage->paper->mean, 67.67);
  EXPECT_NEAR(*coverage->off, 7.33 / std::hypot(6.454972243679028, 2.13), 1e-12);
  EXPECT_EQ(row.metric("qd_score"), nullptr) << "the objective is constant";
  EXPECT_EQ(row.metric("failed"), nullptr) << "no evaluation failed";
  EXPECT_THAT(group.notes, Contains(HasSubstr("1 of 6 trials are not finished")));
  EXPECT_THAT(group.notes, Contains(HasSubstr("seed 6 failed: the disk is full")));
  EXPECT_TRUE(group.tests.empty());
}

TEST(Reports, CountUntilACoverageIsReached) {
  Results results;
  results.rows.push_back(made_row("dds-kde", "lp", {0.6, 0.7, 0.8}));
  // The paper's 67.67 is reached at the end by two of three.
  auto reach = *make_report(results).groups[0].rows[0].reach;
  EXPECT_TRUE(reach.from_paper);
  EXPECT_EQ(reach.coverage, 67.67);
  EXPECT_EQ(reach.reached, 2U);
  EXPECT_EQ(reach.evaluations, 5000 * 540);  // 2,700,000 twice, and never
  EXPECT_EQ(reach.seconds, 30);              // 20, 30, and never
  EXPECT_EQ(reach.processor_seconds, 90);
  reach = *make_report(results, {.reach = 75}).groups[0].rows[0].reach;
  EXPECT_FALSE(reach.from_paper);
  EXPECT_EQ(reach.reached, 1U);
  EXPECT_FALSE(reach.evaluations) << "most never got there";
  EXPECT_FALSE(reach.seconds);
  EXPECT_FALSE(reach.processor_seconds);
  reach = *make_report(results, {.reach = 30}).groups[0].rows[0].reach;
  EXPECT_EQ(reach.reached, 3U);
  EXPECT_EQ(reach.evaluations, 2500 * 540);
  EXPECT_EQ(reach.seconds, 10);
  EXPECT_EQ(reach.processor_seconds, 30);
  results.rows[0].trials.pop_back();  // of two, one never gets there
  EXPECT_FALSE(make_report(results).groups[0].rows[0].reach->evaluations);
}

TEST(Reports, WithoutThePaperReachHalf) {
  Results results;
  results.rows.push_back(made_row("map-elites", "lp", {0.6, 0.7}));
  const auto report = make_report(results);
  EXPECT_EQ(report.groups[0].rows[0].reach->coverage, 50);
  EXPECT_FALSE(report.groups[0].rows[0].metric("coverage")->paper);
}

TEST(Reports, TestTheRowsOfADomain) {
  Results results;
  results.rows.push_back(made_row("dds-kde", "lp", {0.245, 0.235, 0.264, 0.271, 0.299}));
  results.rows.push_back(made_row("ns", "lp", {0.284, 0.342, 0.295, 0.322, 0.301}));
  results.rows.push_back(made_row("cma-me", "lp", {0.261, 0.283, 0.243, 0.262, 0.278}));
  results.rows.push_back(made_row("cma-mae", "lp", {0.5}));
  results.rows.push_back(made_row("ns", "arm", {0.5, 0.6}));
  const auto report = make_report(results);
  EXPECT_THAT(titles_of(report), ElementsAre("lp, default profile", "arm, default profile"));
  const auto& group = report.groups[0];
  ASSERT_EQ(group.tests.size(), 2U);
  const auto& test = group.tests[0];
  EXPECT_EQ(test.metric, "coverage");
  EXPECT_THAT(test.rows, ElementsAre(0, 1, 2));
  // The set `equal` of tests/statistics/data, in percent: scale changes neither F nor p.
  EXPECT_NEAR(test.anova.f, 7.137827822120864, 1e-10);
  EXPECT_NEAR(test.anova.p, 0.009073317468563076, 1e-12);
  EXPECT_NEAR(test.welch.f, 6.297840424651883, 1e-10);
  EXPECT_NEAR(test.tukey[0].p, 0.01444832673640073, 1e-8);
  EXPECT_NEAR(test.games_howell[0].p, 0.03905804812909486, 1e-8);
  EXPECT_NEAR(test.tukey[0].difference, -4.6, 1e-10);
  EXPECT_EQ(test.tukey[0].verdict, Verdict::less);
  EXPECT_EQ(group.tests[1].metric, "cross_entropy");
  EXPECT_EQ(group.tests[1].tukey[0].verdict, Verdict::greater);
  EXPECT_THAT(group.notes, Contains(HasSubstr("cma-mae is left out of the tests: one of its")));
  EXPECT_THAT(group.notes, Contains(HasSubstr("cma-mae: a single trial finished")));
  EXPECT_TRUE(report.groups[1].tests.empty());
  EXPECT_TRUE(report.confirmations.empty());
  EXPECT_EQ(make_report(results, {.level = 0.01}).groups[0].tests[0].tukey[0].verdict,
            Verdict::undecided);
}

// Two trials about each printed mean, whose standard error is the printed one. Fewer than the
// paper's ten: where it takes those, fewer pairs are told apart, and none the other way.
Results as_the_paper(int copies) {
  Results results;
  for (const auto domain : paper_domains()) {
    for (const auto algorithm : paper_algorithms()) {
      const auto *const coverage = paper_value(algorithm, domain, "coverage"),
                        *const entropy = paper_value(algorithm, domain, "cross_entropy");
      auto row = made_row(std::string(algorithm), std::string(domain), {});
      const auto config = default_config(domain, algorithm);
      // n values at mean +- d have a standard error of d / sqrt(n - 1).
      const double apart = std::sqrt(copies - 1.0);
      for (int i = 0; i < copies; ++i) {
        const double side = i % 2 == 0 ? -apart : apart;
        row.trials.push_back(made_trial(config, i + 1,
                                        (coverage->mean + side * coverage->standard_error) / 100,
                                        entropy->mean + side * entropy->standard_error));
      }
      results.rows.push_back(std::move(row));
    }
  }
  return results;
}

TEST(Reports, OfThePapersOwnNumbersConfirmAllItsVerdicts) {
  const auto report = make_report(as_the_paper(10), {.intervals = Intervals::left_out});
  ASSERT_EQ(report.groups.size(), 4U);
  EXPECT_NEAR(report.groups[0].tests[0].anova.f, 161.36, 0.01);
  EXPECT_EQ(report.groups[0].tests[0].paper_f, 206.61);
  for (const auto& group : report.groups) {
    for (const auto& row : group.rows) {
      EXPECT_NEAR(*row.metric("coverage")->off, 0, 1e-9);
      EXPECT_NEAR(row.metric("coverage")->summary.standard_error,
                  row.metric("coverage")->paper->standard_error, 1e-9);
    }
  }
  ASSERT_EQ(report.confirmations.size(), 1U);
  EXPECT_EQ(report.confirmations[0].tukey.confirmed, 120U);
  EXPECT_EQ(report.confirmations[0].tukey.of, 120U);
  EXPECT_EQ(report.confirmations[0].games_howell.confirmed, 110U);  // see docs/errata.md
  EXPECT_EQ(report.confirmations[0].games_howell.opposite, 0U);
}

TEST(Reports, CountVerdictsTheOtherWayRound) {
  auto results = as_the_paper(10);
  results.rows.resize(6);                                           // lp
  std::swap(results.rows[0].algorithm, results.rows[2].algorithm);  // dds-kde and ns
  const auto report = make_report(results);
  // Of the nine pairs that have one of the two: dds-kde is now where ns was, below all others.
  EXPECT_EQ(report.confirmations[0].tukey.of, 30U);
  EXPECT_GE(report.confirmations[0].tukey.opposite, 14U);
  EXPECT_LT(report.confirmations[0].tukey.confirmed, 16U);
}

TEST(Reports, ConfirmNothingWhereARowIsNotThePapers) {
  auto results = as_the_paper(4);
  results.rows.resize(6);
  for (auto& row : results.rows) {
    for (auto& trial : row.trials) trial.config.problem.n = 50;
  }
  const auto report = make_report(results);
  EXPECT_TRUE(report.confirmations.empty());
  EXPECT_FALSE(report.groups[0].rows[0].metric("coverage")->paper);
  results = as_the_paper(4);
  results.rows.resize(5);
  EXPECT_TRUE(make_report(results).confirmations.empty());
}

TEST(Reports, KeepProblemsAndSharedParametersApart) {
  Results results;
  for (const auto* algorithm : {"dds-kde", "ns"}) {
    for (const auto* n : {"20", "50"}) {
      for (const auto* sigma : {"0.1", "0.5"}) {
        auto row = made_row(algorithm, "lp", {0.5, 0.6}, {{"n", n}, {"sigma0", sigma}});
        for (auto& trial : row.trials) trial.config.problem.n = std::stoi(n);
        results.rows.push_back(std::move(row));
      }
    }
  }
  EXPECT_THAT(
      titles_of(make_report(results)),
      ElementsAre("lp, default profile, n 20, sigma0 0.1", "lp, default profile, n 20, sigma0 0.5",
                  "lp, default profile, n 50, sigma0 0.1",
                  "lp, default profile, n 50, sigma0 0.5"));
  // Parameters of one algorithm alone keep nothing apart: they are what is compared.
  Results ablation;
  for (const auto* h : {"0.01 width", "0.05 width", "25.6"}) {
    ablation.rows.push_back(made_row("dds-kde", "lp", {0.5, 0.6}, {{"bandwidth", h}}));
  }
  ablation.rows.push_back(made_row("ns", "lp", {0.5, 0.7}));
  const auto report = make_report(ablation);
  ASSERT_EQ(report.groups.size(), 1U);
  EXPECT_EQ(report.groups[0].tests[0].tukey.size(), 6U);
  EXPECT_EQ(report.groups[0].rows[0].metric("coverage")->paper->mean, 44.57);
  EXPECT_EQ(report.groups[0].rows[1].metric("coverage")->paper->mean, 67.67);
  EXPECT_EQ(report.groups[0].rows[2].metric("coverage")->paper->mean, 67.67);
  EXPECT_EQ(report.groups[0].rows[3].metric("coverage")->paper->mean, 22.96);
}

TEST(Reports, TellWhereBudgetsDiffer) {
  Results results;
  results.rows.push_back(made_row("dds-kde", "lp", {0.5, 0.6}));
  results.rows.push_back(made_row("ns", "lp", {0.5, 0.7}));
  for (auto& trial : results.rows[1].trials) trial.config.iterations = 200;
  const auto report = make_report(results);
  EXPECT_THAT(report.groups[0].notes,
              Contains("the rows were given different numbers of evaluations, 108000 to 2700000: "
                       "they are compared at the end of each"));
  EXPECT_THAT(report.groups[0].notes,
              Contains("ns: 200 iterations, where the paper's values are after 5,000"));
}

TEST(Reports, TellOnceWhatHoldsForAllRows) {
  Results results;
  results.rows.push_back(made_row("dds-kde", "lp", {0.5, 0.6}));
  results.rows.push_back(made_row("ns", "lp", {0.5, 0.7}));
  for (auto& row : results.rows) {
    for (auto& trial : row.trials) trial.config.iterations = 200;
  }
  EXPECT_THAT(make_report(results).groups[0].notes,
              Contains("200 iterations, where the paper's values are after 5,000"));
}

TEST(Reports, CountSecondsByTheClockWhereProcessorsAreNotKnown) {
  Results results;
  results.rows.push_back(made_row("dds-kde", "lp", {0.5, 0.6}));
  results.rows.push_back(made_row("ns", "lp", {0.5, 0.7}));
  const auto text = [&] { return write_report(make_report(results), ReportFormat::text); };
  EXPECT_THAT(text(), HasSubstr("processor seconds"));
  EXPECT_THAT(text(), Not(HasSubstr("seconds by the clock")));
  // One that does not know is enough: the rows of a table are of one kind.
  results.rows[1].trials[0].metrics.back().processor_seconds = std::nan("");
  EXPECT_THAT(text(), HasSubstr("seconds by the clock"));
  EXPECT_THAT(text(), Not(HasSubstr("processor seconds")));
  EXPECT_TRUE(make_report(results).groups[0].rows[0].reach->knows_processors);
  EXPECT_FALSE(make_report(results).groups[0].rows[1].reach->knows_processors);
}

TEST(Reports, TellOfWarnings) {
  Results results;
  results.rows.push_back(made_row("dds-kde", "lp", {0.5, 0.6, 0.7}));
  results.rows[0].trials[1].warnings = {"half of it is outside", "and more"};
  results.rows[0].trials[2].warnings = {"all of it is outside"};
  EXPECT_THAT(make_report(results).groups[0].notes,
              Contains("dds-kde: 2 of 3 trials warned; seed 2: half of it is outside"));
}

TEST(Reports, HaveNothingToSayOfTrialsThatHaveNotFinished) {
  Results results;
  results.title = "begun";
  results.notes = {"'x' cannot be read"};
  results.rows.push_back(made_row("dds-kde", "lp", {0.5, 0.6}));
  for (auto& trial : results.rows[0].trials) trial.state = TrialState::begun;
  results.rows.push_back(made_row("ns", "lp", {0.5, 0.6}));
  for (auto& trial : results.rows[1].trials) {
    trial.state = TrialState::waiting;
    trial.metrics.clear();
  }
  const auto report = make_report(results);
  EXPECT_TRUE(report.groups[0].rows[0].metrics.empty());
  EXPECT_FALSE(report.groups[0].rows[0].reach);
  EXPECT_EQ(report.groups[0].rows[0].begun, 2U);
  EXPECT_EQ(report.groups[0].rows[1].waiting, 2U);
  EXPECT_TRUE(report.groups[0].tests.empty());
  EXPECT_THAT(report.notes, ElementsAre("'x' cannot be read"));
  EXPECT_TRUE(make_report({}).groups.empty());
}

// Where an objective varies, there is a QD score; where its floor is unknown, there is none.
TEST(Reports, TestTheQdScoreWhereObjectivesVary) {
  Results results;
  for (const auto* algorithm : {"dds-kde", "ns"}) {
    auto row = made_row(algorithm, "lp", {0.5, 0.6});
    for (auto& trial : row.trials) {
      trial.config.problem.objective = "sphere";
      trial.metrics.back().qd_score = 100 * trial.metrics.back().coverage;
    }
    results.rows.push_back(std::move(row));
  }
  auto report = make_report(results);
  ASSERT_EQ(report.groups[0].tests.size(), 3U);
  EXPECT_EQ(report.groups[0].tests[2].metric, "qd_score");
  EXPECT_NEAR(report.groups[0].rows[0].metric("qd_score")->summary.mean, 55, 1e-12);
  results.rows[1].trials[0].metrics.back().qd_score = std::nan("");
  report = make_report(results);
  EXPECT_EQ(report.groups[0].tests.size(), 2U);
  EXPECT_EQ(report.groups[0].rows[1].metric("qd_score"), nullptr);
}

TEST(Reports, RefuseImpossibleOptions) {
  EXPECT_THROW((void)make_report({}, {.level = 0}), Error);
  EXPECT_THROW((void)make_report({}, {.level = std::nan("")}), Error);
  EXPECT_THROW((void)make_report({}, {.reach = 0}), Error);
  try {
    (void)make_report({}, {.reach = 120});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "reach: got 120, expected a coverage above 0 and up to 100 percent");
  }
}

}  // namespace
}  // namespace rarefy
