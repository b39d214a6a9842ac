// The profile `text`: what the paper prints, with correct parts.
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "rarefy/density/kde.hpp"
#include "rarefy/experiment/algorithm_table.hpp"
#include "rarefy/experiment/domain_table.hpp"
#include "rarefy/experiment/make_search.hpp"

namespace {

// The paper's table of hyperparameters, row by row: lp, arm, maze, multi-lp.
TEST(TextProfile, HasWhatThePaperPrints) {
  const std::string_view domains[] = {"lp", "arm", "maze", "multi-lp"};
  const auto text_of = [](std::string_view domain, std::string_view algorithm) {
    return rarefy::default_config(domain, algorithm, rarefy::Profile::text);
  };
  const auto threshold_of = [](const rarefy::Config& config) {
    return config.density.novelty.threshold.resolve(rarefy::domain_info(config).feature_space);
  };
  const auto expect_sigmas = [&](std::string_view algorithm, std::vector<double> expected) {
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(text_of(domains[i], algorithm).emitters.sigma0, expected[i])
          << algorithm << " on " << domains[i];
    }
  };
  expect_sigmas("dds-kde", {1.5, 0.5, 1.5, 1.5});
  expect_sigmas("dds-cnf", {0.5, 1.5, 1.5, 0.5});
  expect_sigmas("ns", {0.5, 0.5, 0.5, 0.5});
  expect_sigmas("cma-mae", {0.5, 0.2, 0.5, 0.5});
  expect_sigmas("dms", {0.5, 0.2, 0.5, 0.5});
  expect_sigmas("cma-me", {0.5, 0.2, 0.5, 0.5});
  const std::string_view bandwidths[] = {"25.6", "10", "0.01", "2.56"};
  const double thresholds[] = {0.042 * 512, 0.042 * 200, 0.042, 0.042 * 51.2};
  const double iso_sigmas[] = {0.5, 0.1, 0.1, 0.5};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(text_of(domains[i], "dds-kde").density.kde.bandwidth.text(), bandwidths[i]);
    EXPECT_DOUBLE_EQ(threshold_of(text_of(domains[i], "ns")), thresholds[i]);
    EXPECT_EQ(text_of(domains[i], "map-elites-line").emitters.iso_sigma, iso_sigmas[i]);
  }
  for (const auto& row : rarefy::algorithms()) {
    const auto config = text_of("arm", row.name);
    EXPECT_EQ(config.restarts.when, rarefy::RestartWhen::basic) << row.name;
    const bool passive = row.name.starts_with("dds") || row.name == "ns";
    EXPECT_EQ(config.restarts.at, passive ? rarefy::RestartAt::origin : rarefy::RestartAt::elite)
        << row.name;
    EXPECT_EQ(config.emitters.selection, rarefy::Selection::mu) << row.name;
    EXPECT_FALSE(config.emitters.cma_es.mirrored) << row.name;
    EXPECT_EQ(config.emitters.x0, 0) << row.name;
    EXPECT_EQ(config.density.buffer, 10'000) << row.name;
    EXPECT_EQ(config.density.novelty.neighbours, 100) << row.name;
    EXPECT_EQ(config.density.alpha, row.name == "dms" ? 0.1 : 0.01) << row.name;
  }
}

// And its parts are the correct ones: other than in the published profile.
TEST(TextProfile, HasCorrectParts) {
  auto config = rarefy::default_config("lp", "dds-kde", rarefy::Profile::text);
  auto published = rarefy::default_config("lp", "dds-kde", rarefy::Profile::published);
  for (auto* one : {&config, &published}) one->problem.n = 10;
  const auto info = rarefy::domain_info(config);
  const auto correct = rarefy::make_search(config, info, 1);
  const auto other = rarefy::make_search(published, info, 1);
  EXPECT_NE(dynamic_cast<const rarefy::KernelDensity*>(&correct->density()), nullptr);
  EXPECT_EQ(dynamic_cast<const rarefy::KernelDensity*>(&other->density()), nullptr);
}

}  // namespace
