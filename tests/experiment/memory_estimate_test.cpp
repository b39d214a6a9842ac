#include "rarefy/experiment/memory_estimate.hpp"

#include <gmock/gmock.h>

#include <regex>
#include <string>

#include "rarefy/core/error.hpp"
#include "rarefy/experiment/algorithm_table.hpp"
#include "rarefy/experiment/domain_table.hpp"
#include "rarefy/experiment/make_search.hpp"
#include "support/small_config.hpp"

using rarefy::Config;
using rarefy::default_config;
using rarefy::domain_info;
using rarefy::Index;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

double first_of(const Config& config, const rarefy::MemoryUse& use = {}) {
  return rarefy::estimate_memory(config, domain_info(config), use).first();
}
double last_of(const Config& config) {
  return rarefy::estimate_memory(config, domain_info(config)).last();
}

// What is said of a machine that has so many bytes; empty where nothing is.
std::string refusal(const Config& config, double bytes) {
  try {
    rarefy::check_memory(config, domain_info(config), {}, {bytes, "this test"});
  } catch (const rarefy::Error& error) {
    EXPECT_EQ(error.kind(), rarefy::ErrorKind::parameter);
    return error.what();
  }
  return "";
}

// The value that is proposed for a parameter: "grid 4,800" proposes 4800.
std::int64_t proposed(const std::string& text, const std::string& parameter) {
  std::smatch found;
  if (!std::regex_search(text, found, std::regex("(?:fit: |or )" + parameter + " ([0-9,]+)"))) {
    return -1;
  }
  auto digits = found[1].str();
  std::erase(digits, ',');
  return std::stoll(digits);
}

TEST(MemoryEstimate, DefaultsFitIntoAnyMachine) {
  for (const auto& algorithm : rarefy::algorithms()) {
    for (const auto* domain : {"lp", "arm", "maze", "multi-lp"}) {
      for (const auto profile : {rarefy::Profile::standard, rarefy::Profile::published}) {
        const auto config = default_config(domain, algorithm.name, profile);
        EXPECT_LT(first_of(config), 100e6) << domain << ' ' << algorithm.name;
        EXPECT_LT(last_of(config), 1e9) << domain << ' ' << algorithm.name;
      }
    }
  }
}

TEST(MemoryEstimate, TooManyCellsAreRefusedWithANumberThatFits) {
  auto config = default_config("lp");
  config.archive.intervals = 10'000;
  const auto text = refusal(config, 1e9);
  EXPECT_THAT(text, AllOf(HasSubstr("memory: got a configuration that takes"),
                          HasSubstr("1.6 GB for 100,000,000 cells"), HasSubstr("this test"),
                          HasSubstr("no more than the 1.0 GB")));
  const auto grid = proposed(text, "grid");
  ASSERT_GT(grid, 1'000) << text;
  config.archive.intervals = static_cast<Index>(grid);
  EXPECT_EQ(refusal(config, 1e9), "");
  config.archive.intervals = static_cast<Index>(1.02 * static_cast<double>(grid));
  EXPECT_NE(refusal(config, 1e9), "") << "what fits is not much less than what would";
}

TEST(MemoryEstimate, WhatIsProposedFits) {
  struct Case {
    std::string domain, algorithm, parameter, value;
  };
  for (const auto& [domain, algorithm, parameter, value] :
       {Case{"lp", "dds-kde", "grid", "9000"}, Case{"lp", "cma-mae", "grid", "9000"},
        Case{"lp", "dds-kde", "n", "20000"}, Case{"arm", "ns", "batch", "1000000"},
        Case{"maze", "dds-kde", "emitters", "100000"}, Case{"multi-lp", "ns", "cells", "20000000"},
        Case{"multi-lp", "dds-kde", "cvt-samples", "90000000"}}) {
    auto config = default_config(domain, algorithm);
    config.emitters.strategy = rarefy::Strategy::cma_es;
    set(config, parameter, value);
    if (parameter == "cells") set(config, "cvt-samples", value);
    const auto text = refusal(config, 1e9);
    ASSERT_NE(text, "") << parameter;
    const auto fits = proposed(text, parameter);
    ASSERT_GT(fits, 0) << text;
    set(config, parameter, std::to_string(fits));
    if (parameter == "cells") set(config, "cvt-samples", std::to_string(10 * fits));
    EXPECT_EQ(refusal(config, 1e9), "") << parameter;
  }
}

TEST(MemoryEstimate, ProposesStrategiesThatAreLinear) {
  auto config = default_config("lp");
  config.problem.n = 20'000;
  EXPECT_EQ(refusal(config, 4e9), "") << "where n is large, one of them is the default";
  config.emitters.strategy = rarefy::Strategy::cma_es;
  EXPECT_THAT(refusal(config, 4e9),
              AllOf(HasSubstr("15 full covariance matrices"),
                    HasSubstr("the strategy sep-cma-es or lm-ma-es, whose memory is linear in n"),
                    HasSubstr("n 2,5")));
  config.emitters.strategy = rarefy::Strategy::sep_cma_es;
  EXPECT_EQ(refusal(config, 4e9), "");
  // Not where it would not help, or cannot be had.
  config.emitters.strategy = rarefy::Strategy::cma_es;
  EXPECT_THAT(refusal(config, 100e6), Not(HasSubstr("sep-cma-es")));
  auto published = default_config("lp", "dds-kde", rarefy::Profile::published);
  published.problem.n = 20'000;
  EXPECT_THAT(refusal(published, 4e9), Not(HasSubstr("sep-cma-es")));
}

TEST(MemoryEstimate, TheSizeOfAProblemOfOnesOwnIsNotUpToTheUser) {
  auto config = default_config("lp");
  auto problem = domain_info(config);
  problem.name = "mine";
  problem.solution_dim = 20'000;
  config.emitters.strategy = rarefy::Strategy::cma_es;
  config.domain = "mine";
  config.own_problem = problem;
  const auto text = refusal(config, 4e9);
  EXPECT_THAT(text, HasSubstr("sep-cma-es"));
  EXPECT_EQ(proposed(text, "n"), -1) << text;
}

TEST(MemoryEstimate, CountsWhatArchivesAndBuffersMayComeToHold) {
  auto config = default_config("arm", "ns");
  config.iterations = 1'000'000;  // of 540 candidates, each of which may enter
  EXPECT_LT(first_of(config), 100e6);
  EXPECT_GT(last_of(config), 540e6 * 2 * sizeof(double));
  EXPECT_EQ(refusal(config, 4e9), "") << "it can begin";
  const auto warning = rarefy::memory_warning(config, domain_info(config), {}, {4e9, "this test"});
  EXPECT_THAT(warning, AllOf(HasSubstr("memory may run out"), HasSubstr("the archive of novelty"),
                             HasSubstr("this test has 4.0 GB")));
  config.iterations = 1'000;
  EXPECT_EQ(rarefy::memory_warning(config, domain_info(config), {}, {4e9, "this test"}), "");

  auto buffered = default_config("multi-lp");
  buffered.density.buffer = 50'000'000;
  buffered.iterations = 1;
  EXPECT_LT(last_of(buffered), 100e6) << "there is nothing to fill it with";
  buffered.iterations = 1'000'000;
  EXPECT_GT(last_of(buffered), 50e6 * 10 * sizeof(double));
}

TEST(MemoryEstimate, StatesThatAreSavedCountOnceMore) {
  auto config = default_config("lp");
  config.problem.n = 2'000;
  config.emitters.strategy = rarefy::Strategy::cma_es;
  const double matrices = 15.0 * 2'000 * 2'000 * sizeof(double);
  const double without = first_of(config, {.saves = false});
  EXPECT_NEAR(first_of(config), without + 2 * matrices, 0.1 * matrices);
  EXPECT_NEAR(without, 3 * matrices, 0.1 * matrices);
}

TEST(MemoryEstimate, TextsOfSizes) {
  EXPECT_EQ(rarefy::memory_text(1), "1 MB");
  EXPECT_EQ(rarefy::memory_text(123.4e6), "124 MB");
  EXPECT_EQ(rarefy::memory_text(1.25e9), "1.2 GB");
  EXPECT_EQ(rarefy::memory_text(3.6e14), "360000 GB");
}

TEST(MemoryEstimate, IsLookedAtBeforeASearchIsMade) {
  auto config = default_config("lp");
  config.problem.n = 1'000'000;
  EXPECT_THROW((void)rarefy::make_search(config, domain_info(config), 1), rarefy::Error);
  config = default_config("multi-lp");
  config.archive.cvt.samples = config.archive.cvt.cells = 1'000'000'000;
  EXPECT_THROW((void)rarefy::make_search(config, domain_info(config), 1), rarefy::Error);
}

}  // namespace
