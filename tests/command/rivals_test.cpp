// Every algorithm by the command: run, resume, threads, quality, idle options.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "command_line.hpp"
#include "run_files.hpp"

namespace {

struct AlgorithmCase {
  std::string algorithm, domain, profile;

  [[nodiscard]] Words arguments(int iterations) const {
    Words words = {"run",          domain,
                   "--algorithm",  algorithm,
                   "--profile",    profile,
                   "--batch",      "12",
                   "--emitters",   "3",
                   "--seed",       "7",
                   "--iterations", std::to_string(iterations)};
    if (algorithm == "dds-cnf")
      words = words + Words{"--flow-layers", "40,30", "--flow-batch", "50"};
    if (algorithm == "dms") words = words + Words{"--discount-layers", "40,30"};
    if (domain != "maze") words = words + Words{"--n", "20"};
    if (domain == "multi-lp") words = words + Words{"--cells", "60", "--cvt-samples", "1000"};
    return words;
  }
  [[nodiscard]] std::string name() const {
    auto text = algorithm + "_" + domain + "_" + profile;
    std::replace(text.begin(), text.end(), '-', '_');
    return text;
  }
};

void PrintTo(const AlgorithmCase& each, std::ostream* out) { *out << each.name(); }

std::vector<AlgorithmCase> all_cases() {
  std::vector<AlgorithmCase> cases;
  for (const auto* algorithm : {"dds-kde", "dds-cnf", "dds-qd", "ns", "cma-mae", "dms", "cma-me",
                                "map-elites-line", "map-elites"}) {
    cases.push_back({algorithm, "lp", "default"});
    cases.push_back({algorithm, "maze", "published"});
    cases.push_back({algorithm, "multi-lp", "published"});
  }
  return cases;
}

class CommandAlgorithm : public testing::TestWithParam<AlgorithmCase> {};

// Stopped half way and taken up again, on another number of threads: the same bytes.
TEST_P(CommandAlgorithm, ResumesToTheSameBytes) {
  const RunPlace place;
  const auto whole =
      undisturbed_archive(GetParam().arguments(40) + Words{"--threads", "1"}, place / "whole");
  const auto half =
      undisturbed_archive(GetParam().arguments(20) + Words{"--threads", "2"}, place / "half");
  EXPECT_FALSE(half == whole);
  const auto result = rarefy_command(
      {"resume", (place / "half").string(), "--iterations", "40", "--threads", "3", "--quiet"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(bytes_of(place / "half" / "archive.npz") == whole);
  expect_complete_config(place / "half" / "config.toml");
}

INSTANTIATE_TEST_SUITE_P(Of, CommandAlgorithm, testing::ValuesIn(all_cases()),
                         [](const auto& each) { return each.param.name(); });

TEST(CommandRivals, ReportTheQdScoreOfAVaryingObjective) {
  const RunPlace place;
  for (const auto* algorithm :
       {"ns", "cma-mae", "dms", "cma-me", "map-elites-line", "map-elites"}) {
    SCOPED_TRACE(algorithm);
    const auto folder = place / algorithm;
    const auto result = rarefy_command(AlgorithmCase{algorithm, "lp", "default"}.arguments(30) +
                                       Words{"--objective", "sphere", "--out", folder.string()});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_TRUE(contains(result.out, "QD score")) << result.out;
    const auto shown = rarefy_command({"show", folder.string(), "--json"});
    const auto json = nlohmann::json::parse(shown.out);
    EXPECT_GT(json["qd_score"].get<double>(), 0.0);
    EXPECT_GT(json["best_objective"].get<double>(), 50.0);
    EXPECT_LE(json["best_objective"].get<double>(), 100.0);
  }
}

TEST(CommandRivals, RefuseOptionsWithoutEffectAndNameTheReason) {
  const RunPlace place;
  const auto refused = [&](const Words& words, std::string_view option, std::string_view reason) {
    const auto result =
        rarefy_command(Words{"run"} + words + Words{"--out", (place / "none").string()});
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_TRUE(contains(result.err, option)) << result.err;
    EXPECT_TRUE(contains(result.err, reason)) << result.err;
    EXPECT_FALSE(fs::exists(place / "none"));
  };
  refused({"lp", "--algorithm", "ns", "--bandwidth", "3"}, "--bandwidth", "dds-kde");
  refused({"lp", "--flow-rate", "0.1"}, "--flow-rate", "dds-cnf");
  refused({"lp", "--algorithm", "dds-cnf", "--bandwidth", "3"}, "--bandwidth", "dds-kde");
  refused({"lp", "--algorithm", "dds-cnf", "--flow-layers", "64,0"}, "flow-layers", "'64,0'");
  refused({"lp", "--algorithm", "dds-cnf", "--flow-layers", "64;64"}, "flow-layers", "'64;64'");
  refused({"lp", "--algorithm", "dds-cnf", "--flow-absolute-error", "0.1"}, "--flow-absolute-error",
          "dopri5");
  refused({"lp", "--algorithm", "dds-cnf", "--flow-activation", "relu"}, "relu", "silu");
  refused({"lp", "--alpha", "0.1"}, "--alpha", "cma-mae, dms");
  refused({"lp", "--algorithm", "cma-mae", "--discount-layers", "8"}, "--discount-layers", "dms");
  refused({"lp", "--algorithm", "dms", "--discount-layers", "8,-1"}, "discount-layers", "'8,-1'");
  refused({"lp", "--algorithm", "dms", "--discount-range", "0"}, "discount-range", "0");
  refused({"lp", "--algorithm", "map-elites", "--line-sigma", "0.1"}, "--line-sigma",
          "map-elites-line");
  refused({"lp", "--algorithm", "map-elites", "--sigma0", "1"}, "--sigma0", "cma-me");
  refused({"arm", "--walls", "0,0,1,1"}, "--walls", "maze");
  refused({"lp", "--restart-at", "elite", "--elites-compared", "3"}, "--elites-compared", "rarest");
  refused({"lp", "--strategy", "lm-ma-es", "--stop-condition", "5"}, "--stop-condition",
          "sep-cma-es");
  refused({"lp", "--strategy", "lm-ma-es", "--factor", "eigen"}, "--factor", "cma-es");
  refused({"multi-lp", "--centroids", "none.npy", "--cells", "77"}, "--cells", "from a file");
  refused({"lp", "--archive", "grid", "--centroids", "none.npy"}, "--centroids", "grid");
  refused({"lp", "--initial-solutions", "none.npy", "--x0", "1"}, "--x0", "initial solutions");
  refused({"lp", "--algorithm", "map-elites", "--outside", "clamp"}, "--outside", "dds-kde");
  refused({"maze", "--walls", "0.5,0,0.5,0.7", "--maze", "snake"}, "--maze", "one by one");
  refused({"lp", "--resamples", "3"}, "--resamples", "bounds");
  refused({"lp", "--selection", "filter"}, "selection", "accepts every candidate");
  refused({"lp", "--algorithm", "cma-me", "--restart-when", "stagnation"}, "restart-when",
          "no-improvement");
  refused({"lp", "--algorithm", "cma-mea"}, "cma-mea", "did you mean");
  refused({"lp", "--algorithm", "ns", "--novelty-threshold", "wide"}, "novelty-threshold",
          "followed by 'width'");
}

TEST(CommandRivals, ListShowsWhatMattersToAnAlgorithm) {
  const auto listed = rarefy_command({"list", "lp", "--algorithm", "ns"});
  ASSERT_EQ(listed.exit_code, 0) << listed.err;
  EXPECT_TRUE(contains(listed.out, "novelty-threshold"));
  EXPECT_FALSE(contains(listed.out, "bandwidth  "));
  EXPECT_FALSE(contains(listed.out, "no-wall-reading"));
}

}  // namespace
