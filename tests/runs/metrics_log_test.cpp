#include "rarefy/runs/metrics_log.hpp"

#include <cmath>
#include <sstream>

#include "rarefy/core/error.hpp"
#include "support/small_config.hpp"

using rarefy::MetricsLog;

namespace {

MetricsLog some_lines() {
  MetricsLog log;
  log.add({10, 360, 1.0 / 3.0, 23.1, 5.5, -1e-300, 0.125, 2, 0, 0, 0.0, 0.5, 0.25});
  log.add(
      {20, 720, 0.1 + 0.2, 9.2103403719761836, 1e22, 100, -7.0, 3, 41, 5, 1.0 / 7.0, 1.25, 2.5});
  return log;
}

TEST(MetricsLog, NumbersComeBackFromCsvToTheLastBit) {
  const auto log = some_lines();
  std::istringstream csv(log.csv());
  std::string line;
  std::getline(csv, line);
  EXPECT_EQ(line,
            "iteration,evaluations,coverage,cross_entropy,qd_score,best_objective,mean_objective,"
            "restarts,failed,left_out,outside,seconds,processor_seconds");
  for (const auto& expected : log.lines()) {
    ASSERT_TRUE(std::getline(csv, line));
    std::istringstream words(line);
    std::vector<double> values;
    for (std::string word; std::getline(words, word, ',');) values.push_back(std::stod(word));
    EXPECT_EQ(
        values,
        (std::vector<double>{
            static_cast<double>(expected.iteration), static_cast<double>(expected.evaluations),
            expected.coverage, expected.cross_entropy, expected.qd_score, expected.best_objective,
            expected.mean_objective, static_cast<double>(expected.restarts),
            static_cast<double>(expected.failed), static_cast<double>(expected.left_out),
            expected.outside, expected.seconds, expected.processor_seconds}));
  }
  EXPECT_FALSE(std::getline(csv, line));
}

TEST(MetricsLog, ReadsItsCsvBack) {
  auto log = some_lines();
  log.add({.iteration = 30, .qd_score = std::nan(""), .best_objective = -HUGE_VAL});
  const auto lines = rarefy::parse_metrics(log.csv());
  ASSERT_EQ(lines.size(), 3U);
  MetricsLog again;
  for (const auto& line : lines) again.add(line);
  EXPECT_EQ(again.csv(), log.csv());
  EXPECT_TRUE(std::isnan(lines[2].qd_score));
  EXPECT_EQ(lines[2].best_objective, -HUGE_VAL);
  EXPECT_TRUE(rarefy::parse_metrics(MetricsLog{}.csv()).empty());
}

TEST(MetricsLog, ReadsColumnsByTheirNames) {
  const auto lines = rarefy::parse_metrics("iteration,beauty,coverage\n5,7,0.25\n");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].iteration, 5);
  EXPECT_EQ(lines[0].coverage, 0.25);
  EXPECT_EQ(lines[0].seconds, 0.0);
  EXPECT_TRUE(std::isnan(lines[0].processor_seconds)) << "not known";
}

TEST(MetricsLog, RefusesWhatIsNoCsvOfMetrics) {
  for (const auto* text : {"", "\n", "coverage\n", "iteration\n5", "iteration\n5,6\n",
                           "iteration\nfive\n", "iteration\n5.5\n", "iteration\n\n"}) {
    SCOPED_TRACE(text);
    try {
      (void)rarefy::parse_metrics(text);
      ADD_FAILURE();
    } catch (const rarefy::Error& error) {
      EXPECT_EQ(error.kind(), rarefy::ErrorKind::data);
      EXPECT_TRUE(std::string_view(error.what()).starts_with("metrics: ")) << error.what();
    }
  }
}

TEST(MetricsLog, ComesBackFromItsSavedState) {
  for (const auto& log : {some_lines(), MetricsLog{}}) {
    rarefy::StateWriter out;
    log.save(out);
    MetricsLog again = some_lines();  // whose lines must go
    rarefy::StateReader in(out.bytes());
    again.load(in);
    EXPECT_TRUE(in.at_end());
    EXPECT_EQ(again.csv(), log.csv());
  }
}

TEST(MetricsLog, RefusesAStateThatDoesNotFit) {
  rarefy::StateWriter out;
  out.integer("metrics.last_makes_way", 0);
  out.integers("metrics.counts", std::vector<std::int64_t>{1, 2, 3, 4});
  out.reals("metrics.values", std::vector<double>{1, 2, 3, 4, 5, 6});
  rarefy::StateReader in(out.bytes());
  MetricsLog log;
  EXPECT_THROW(log.load(in), rarefy::Error);
}

TEST(MetricsLog, ALineThatMakesWayGoesWhenTheNextComes) {
  MetricsLog log;
  log.add({.iteration = 50});
  log.add({.iteration = 70}, MetricsLog::Line::makes_way);
  rarefy::StateWriter out;
  log.save(out);
  MetricsLog again;
  rarefy::StateReader in(out.bytes());
  again.load(in);
  EXPECT_EQ(again.lines().back().iteration, 70);
  again.add({.iteration = 100});
  again.add({.iteration = 120});
  std::vector<std::int64_t> iterations;
  for (const auto& line : again.lines()) iterations.push_back(line.iteration);
  EXPECT_EQ(iterations, (std::vector<std::int64_t>{50, 100, 120}));
}

TEST(Measure, CountsWhatTheSearchHasDone) {
  const auto config = small_config();
  const auto domain = rarefy::make_domain(config);
  const auto search = rarefy::make_search(config, domain->info(), 1);
  PlainEvaluator evaluator(*domain);
  rarefy::drive(*search, evaluator, 20);
  const auto line = rarefy::measure(*search, 1e-14, 0.0, 2.5, 4.5);
  EXPECT_EQ(line.iteration, 20);
  EXPECT_EQ(line.evaluations, 20 * 24);
  EXPECT_EQ(line.coverage, static_cast<double>(search->archive().size()) / 400.0);
  EXPECT_EQ(line.restarts, search->restarts());
  EXPECT_EQ(line.qd_score, static_cast<double>(search->archive().size()));
  EXPECT_EQ(line.best_objective, 1.0);
  EXPECT_EQ(line.seconds, 2.5);
  EXPECT_EQ(line.processor_seconds, 4.5);
  EXPECT_EQ(line.mean_objective, 1.0);
  EXPECT_EQ(line.failed, 0);
  EXPECT_EQ(line.outside, 0.0);
  const auto other = rarefy::measure(*search, 0.5, -1.0, 0, 0);
  EXPECT_LT(other.cross_entropy, line.cross_entropy);
  EXPECT_EQ(other.qd_score, 2.0 * line.qd_score);
  EXPECT_TRUE(std::isnan(rarefy::measure(*search, 0.5, std::nullopt, 0, 0).qd_score));
}

}  // namespace
