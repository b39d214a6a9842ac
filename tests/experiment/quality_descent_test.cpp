// DDS-QD as a whole search, made of its row in the table.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "rarefy/archives/metrics.hpp"
#include "rarefy/experiment/domain_table.hpp"
#include "rarefy/experiment/make_search.hpp"

namespace rarefy {
namespace {

struct Setting {
  std::string algorithm = "dds-qd";
  std::string objective = "sphere";
  Profile profile = Profile::standard;
  double unit = 1.0;  // what objectives are multiplied by
  Index threads = 1;
  int failing = 0;  // every so many rows, where it is not 0
  int iterations = 60;
  std::int64_t seed = 1;
};

std::unique_ptr<Search> searched(const Setting& setting) {
  auto config = default_config("lp", setting.algorithm, setting.profile);
  config.seed = setting.seed;
  config.problem.n = 20;
  config.problem.objective = setting.objective;
  config.emitters.count = 4;
  config.emitters.batch = 20;
  const auto domain = make_domain(config);
  auto search = make_search(config, domain->info(), setting.threads);
  Batch features(search->candidates(), 2);
  const auto rows = static_cast<std::size_t>(search->candidates());
  std::vector<double> objectives(rows);
  std::vector<std::uint8_t> valid(rows, 1);
  for (std::size_t i = 0; setting.failing > 0 && i < rows; ++i) {
    valid[i] = i % static_cast<std::size_t>(setting.failing) == 0 ? 0 : 1;
  }
  for (int i = 0; i < setting.iterations; ++i) {
    domain->evaluate(search->ask(), features, objectives);
    for (double& objective : objectives) objective *= setting.unit;
    search->tell(features, objectives, valid);
  }
  return search;
}

void expect_same_solutions(const Search& a, const Search& b) {
  const auto left = a.archive().solutions().values(), right = b.archive().solutions().values();
  ASSERT_EQ(left.size(), right.size());
  EXPECT_EQ(std::memcmp(left.data(), right.data(), left.size_bytes()), 0);
  EXPECT_EQ(a.restarts(), b.restarts());
}

TEST(QualityDescent, WithAConstantObjectiveIsDensityDescent) {
  for (const auto profile : {Profile::standard, Profile::text, Profile::published}) {
    SCOPED_TRACE(name_of(profile));
    const Setting constant = {.objective = "constant", .profile = profile};
    Setting density = constant;
    density.algorithm = "dds-kde";
    expect_same_solutions(*searched(constant), *searched(density));
  }
}

TEST(QualityDescent, WithAnotherIsNot) {
  const auto ours = searched({}), density = searched({.algorithm = "dds-kde"});
  EXPECT_FALSE(std::ranges::equal(ours->archive().solutions().values(),
                                  density->archive().solutions().values()));
}

// Powers of two, so that nothing is rounded otherwise.
TEST(QualityDescent, FindsTheSameInAnyUnit) {
  const auto expected = searched({});
  for (const double unit : {0x1p-60, 0x1p30}) {
    expect_same_solutions(*searched({.unit = unit}), *expected);
  }
}

TEST(QualityDescent, FindsTheSameWithAnyNumberOfThreads) {
  expect_same_solutions(*searched({.threads = 3}), *searched({}));
}

TEST(QualityDescent, LeavesOutWhatFailed) {
  const auto search = searched({.failing = 5});
  EXPECT_EQ(search->failed(), search->evaluations() / 5);
  EXPECT_GT(coverage(search->archive()), 0.01);
}

// Over seeds 1 to 12 the mean objectives of the elites were 68.4 and 64.0, with deviations of 1.1
// and 2.2: that of the difference of two means of twelve is 0.7, and 1 is 4.8 of them below 4.4.
// False alarms: one in a million.
TEST(QualityDescent, FindsBetterSolutionsThanDensityAlone) {
  double better = 0.0;
  for (std::int64_t seed = 1; seed <= 12; ++seed) {
    const Setting ours = {.iterations = 300, .seed = seed};
    Setting density = ours;
    density.algorithm = "dds-kde";
    better += mean_objective(searched(ours)->archive()) / 12.0;
    better -= mean_objective(searched(density)->archive()) / 12.0;
  }
  EXPECT_GT(better, 1.0);
}

}  // namespace
}  // namespace rarefy
