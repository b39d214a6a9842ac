// What runs really take, against what was estimated.
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "command/command_line.hpp"
#include "rarefy/experiment/memory_estimate.hpp"
#include "support/sanitized.hpp"
#include "support/small_config.hpp"

namespace {

struct Case {
  std::string name, domain, algorithm;
  std::vector<std::pair<std::string, std::string>> parameters;
  double least = 0.75;  ///< of the estimate is really taken
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

class CommandMemoryOf : public testing::TestWithParam<Case> {};

// The most that a process has had, in bytes, as its summary tells.
double peak_in(const std::string& summary) {
  std::smatch found;
  if (!std::regex_search(summary, found, std::regex("memory +([0-9]+) MB at most"))) return -1;
  return 1e6 * std::stod(found[1].str());
}

TEST_P(CommandMemoryOf, IsWhatWasEstimated) {
  if (kSanitized) GTEST_SKIP() << "sanitizers take memory of their own";
  const auto& [name, domain, algorithm, parameters, least] = GetParam();
  auto config = rarefy::default_config(domain, algorithm);
  config.iterations = 2;
  // A probe of step sizes would leave the emitters' own memory untouched.
  const auto* const step = algorithm.starts_with("map-elites") ? "iso-sigma" : "sigma0";
  set(config, step, "1.5");
  const RunPlace place;
  std::vector<std::string> words = {"run",
                                    domain,
                                    "--algorithm",
                                    algorithm,
                                    "--iterations",
                                    "2",
                                    "--threads",
                                    "1",
                                    "--out",
                                    (place / "run").string(),
                                    std::string("--") + step,
                                    "1.5"};
  for (const auto& [parameter, value] : parameters) {
    set(config, parameter, value);
    words.push_back("--" + parameter);
    words.push_back(value);
  }
  const auto end = rarefy_command(words);
  ASSERT_EQ(end.exit_code, 0) << end.err;
  constexpr double kProgram = 30e6;  // what a run takes of which nothing is large
  const double really = peak_in(end.out) - kProgram;
  const double estimated =
      rarefy::estimate_memory(config, domain_info(config), {.threads = 1, .saves = false}).last();
  EXPECT_GT(estimated, 100e6) << "large enough to compare";
  EXPECT_LT(really, 1.1 * estimated);
  EXPECT_GT(really, least * estimated);

  // Loading holds the state as well.
  const auto again = rarefy_command({"resume", (place / "run").string(), "--threads", "1"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  const double with_state =
      rarefy::estimate_memory(config, domain_info(config), {.threads = 1}).last();
  EXPECT_LT(peak_in(again.out) - kProgram, 1.1 * with_state);
}

INSTANTIATE_TEST_SUITE_P(
    Large, CommandMemoryOf,
    testing::Values(
        Case{"cells", "lp", "dds-kde", {{"grid", "3000"}}},
        Case{"thresholds", "lp", "cma-mae", {{"grid", "3000"}}},
        Case{"matrices", "lp", "dds-kde", {{"n", "700"}, {"batch", "4"}, {"strategy", "cma-es"}}},
        Case{"axes", "lp", "cma-me", {{"n", "500"}, {"strategy", "cma-es"}, {"factor", "eigen"}}},
        Case{"candidates", "lp", "map-elites-line", {{"batch", "12000"}}},
        Case{"steps", "lp", "dds-kde", {{"batch", "5000"}}},
        Case{"separable",
             "lp",
             "cma-mae",
             {{"n", "10000"}, {"grid", "5"}, {"strategy", "sep-cma-es"}}},
        Case{"limited_memory",
             "lp",
             "cma-mae",
             {{"n", "10000"}, {"grid", "5"}, {"strategy", "lm-ma-es"}}},
        Case{"samples",
             "multi-lp",
             "cma-mae",
             {{"cells", "300"}, {"cvt-samples", "2000000"}, {"cvt-iterations", "1"}}},
        Case{"network",
             "lp",
             "dds-cnf",
             {{"flow-layers", "2000,2000"}, {"batch", "2"}, {"flow-steps", "1"}}},
        Case{"discounts",
             "lp",
             "dms",
             {{"discount-layers", "2000,2000"}, {"batch", "2"}, {"discount-initial", "10"}}},
        Case{"novelty", "arm", "ns", {{"batch", "10000"}, {"novelty-threshold", "0"}}, 0.4}),
    [](const auto& info) { return info.param.name; });

}  // namespace
