// rarefy compare and rarefy experiment report
#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "command_line.hpp"
#include "rarefy/reports/page.hpp"

namespace {

using testing::HasSubstr;
using testing::Not;

Words small_run(const std::string& algorithm, int seed, int iterations = 20) {
  return {"run",
          "lp",
          "--algorithm",
          algorithm,
          "--seed",
          std::to_string(seed),
          "--emitters",
          "3",
          "--batch",
          "12",
          "--iterations",
          std::to_string(iterations),
          "--quiet",
          "--metrics-every",
          "5"};
}

/// Runs of two algorithms with three seeds each.
void make_runs(const RunPlace& place) {
  for (const std::string algorithm : {"dds-kde", "map-elites-line"}) {
    for (const int seed : {1, 2, 3}) {
      const auto folder = place / (algorithm + "-" + std::to_string(seed));
      const auto run = rarefy_command(small_run(algorithm, seed) + Words{"--out", folder.string()});
      ASSERT_EQ(run.exit_code, 0) << run.err;
    }
  }
}

TEST(CommandCompare, SaysWhatTheFilesOfTheRunsSay) {
  const RunPlace place;
  make_runs(place);
  const auto result = rarefy_command({"compare", place.path().string(), "--format", "json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  const auto json = nlohmann::json::parse(result.out);
  ASSERT_EQ(json["groups"].size(), 1U);
  const auto& rows = json["groups"][0]["rows"];
  ASSERT_EQ(rows.size(), 2U);
  for (const auto& row : rows) {
    std::vector<double> coverages;
    for (const int seed : {1, 2, 3}) {
      const auto name = row["algorithm"].get<std::string>() + "-" + std::to_string(seed);
      const auto metrics = table_of(bytes_of(place / name / "metrics.csv"));
      coverages.push_back(100 * metrics.last("coverage"));
    }
    const double mean = (coverages[0] + coverages[1] + coverages[2]) / 3;
    double squares = 0;
    for (const double value : coverages) squares += (value - mean) * (value - mean);
    const auto& coverage = row["metrics"]["coverage"];
    EXPECT_NEAR(coverage["mean"].get<double>(), mean, 1e-9);
    EXPECT_NEAR(coverage["standard_error"].get<double>(), std::sqrt(squares / 2 / 3), 1e-9);
    EXPECT_EQ(row["finished"], 3);
  }
  EXPECT_EQ(json["groups"][0]["tests"].size(), 2U);
  const auto text = rarefy_command({"compare", place.path().string(), "--reach", "1"});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_THAT(text.out, HasSubstr("lp, default profile"));
  EXPECT_THAT(text.out, HasSubstr("coverage: ANOVA F(1, 4) = "));
  EXPECT_THAT(text.out, HasSubstr("coverage by Games-Howell"));
  EXPECT_THAT(text.out, HasSubstr("3 of 3"));
  EXPECT_THAT(text.out, HasSubstr("20 iterations, where the paper's values are after 5,000"));
}

TEST(CommandCompare, WritesFilesByTheirEndings) {
  const RunPlace place;
  make_runs(place);
  const std::pair<std::string, std::string> beginnings[] = {{"report.md", "# "},
                                                            {"report.tex", "% needs"},
                                                            {"report.csv", "group,domain"},
                                                            {"report.json", "{\n"},
                                                            {"report.txt", ""}};
  for (const auto& [name, begin] : beginnings) {
    const auto file = place / name;
    const auto result = rarefy_command({"compare", place.path().string(), "--out", file.string()});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(bytes_of(file).starts_with(begin)) << bytes_of(file);
  }
  const auto plots = place / "plots";
  const auto drawn = rarefy_command(
      {"compare", place.path().string(), "--plots", plots.string(), "--format", "csv"});
  ASSERT_EQ(drawn.exit_code, 0) << drawn.err;
  EXPECT_TRUE(fs::exists(plots / "coverage.svg"));
  const auto page = place / "page.html";
  const auto made = rarefy_command({"compare", place.path().string(), "--page", page.string()});
  if (rarefy::has_page()) {
    EXPECT_EQ(made.exit_code, 0) << made.err;
    EXPECT_THAT(bytes_of(page), HasSubstr("<html"));
  } else {
    EXPECT_NE(made.exit_code, 0);
    EXPECT_THAT(made.err, HasSubstr("make web"));
  }
}

TEST(CommandCompare, TellsWhatLimitsAComparison) {
  const RunPlace place;
  const auto a = place / "a", b = place / "b";
  ASSERT_EQ(rarefy_command(small_run("dds-kde", 1) + Words{"--out", a.string()}).exit_code, 0);
  ASSERT_EQ(rarefy_command(small_run("ns", 1, 30) + Words{"--out", b.string()}).exit_code, 0);
  const auto single = rarefy_command({"compare", a.string(), b.string()});
  ASSERT_EQ(single.exit_code, 0) << single.err;
  EXPECT_THAT(single.out, HasSubstr("dds-kde: a single trial finished"));
  EXPECT_THAT(single.out, HasSubstr("ns is left out of the tests"));
  EXPECT_THAT(single.out, Not(HasSubstr("ANOVA")));
  for (const auto& [algorithm, iterations] : {std::pair("dds-kde", 20), std::pair("ns", 30)}) {
    const auto folder = place / (std::string(algorithm) + "-2");
    ASSERT_EQ(rarefy_command(small_run(algorithm, 2, iterations) + Words{"--out", folder.string()})
                  .exit_code,
              0);
  }
  const auto both = rarefy_command({"compare", place.path().string()});
  ASSERT_EQ(both.exit_code, 0) << both.err;
  EXPECT_THAT(both.out, HasSubstr("different numbers of evaluations, 720 to 1080"));
}

TEST(CommandCompare, RefusesWhatItCannotDo) {
  const RunPlace place;
  const auto empty = rarefy_command({"compare", place.path().string()});
  EXPECT_EQ(empty.exit_code, 3);
  EXPECT_THAT(empty.err, HasSubstr("there are no runs in '" + place.path().string() + "'"));
  EXPECT_EQ(rarefy_command({"compare"}).exit_code, 2);
  EXPECT_EQ(rarefy_command({"experiment", "report"}).exit_code, 2);
  const auto missing = rarefy_command({"experiment", "report", (place / "none").string()});
  EXPECT_EQ(missing.exit_code, 4);
  EXPECT_THAT(missing.err, HasSubstr("none"));
  ASSERT_EQ(
      rarefy_command(small_run("dds-kde", 1) + Words{"--out", (place / "a").string()}).exit_code,
      0);
  const auto asked = [&](const Words& options) {
    return rarefy_command(Words{"compare", place.path().string()} + options);
  };
  const auto format = asked({"--format", "markdwon"});
  EXPECT_EQ(format.exit_code, 2);
  EXPECT_THAT(format.err, HasSubstr("'markdwon'"));
  EXPECT_THAT(format.err, HasSubstr("markdown"));
  EXPECT_EQ(asked({"--level", "0"}).exit_code, 2);
  EXPECT_EQ(asked({"--level", "two"}).exit_code, 2);
  EXPECT_EQ(asked({"--reach", "101"}).exit_code, 2);
  EXPECT_EQ(asked({"--nonsense"}).exit_code, 2);
  EXPECT_EQ(asked({"--out", (place / "no" / "such" / "folder").string()}).exit_code, 4);
}

TEST(CommandExperimentReport, ReadsAnExperiment) {
  const RunPlace place;
  write_text(place / "small.toml",
             "title = \"A small one\"\n"
             "algorithms = [\"dds-kde\", \"ns\"]\n"
             "domains = [\"lp\"]\n"
             "seeds = \"1-2\"\n"
             "[set]\n"
             "iterations = 10\nemitters = 2\nbatch = 8\n");
  const auto run = rarefy_command({"experiment", "run", (place / "small.toml").string(), "--out",
                                   (place / "out").string(), "--jobs", "2"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto result = rarefy_command({"experiment", "report", (place / "out").string()});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("A small one"));
  EXPECT_THAT(result.out, HasSubstr("coverage: ANOVA F(1, 2) = "));
}

}  // namespace
