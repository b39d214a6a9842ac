#include "rarefy/statistics/anova.hpp"

#include <cmath>
#include <vector>

#include "rarefy/core/error.hpp"
#include "statistics/reference_table.hpp"

namespace rarefy {
namespace {

std::vector<GroupMoments> moments_in(const std::string& set) {
  std::vector<GroupMoments> groups;
  for (const auto& values : reference_samples(set)) groups.push_back(moments_of(values));
  return groups;
}

// SciPy's f_oneway, and Welch's test of statsmodels.
TEST(Anovas, AgreeWithSciPyAndStatsmodels) {
  int compared = 0;
  for (const auto& row : reference_table("anova.csv")) {
    SCOPED_TRACE(row.text(0) + " " + row.text(1));
    const auto groups = moments_in(row.text(0));
    const auto ours = row.text(1) == "classic" ? one_way_anova(groups) : welch_anova(groups);
    EXPECT_NEAR(ours.f / row.number(2), 1, 1e-11);
    EXPECT_EQ(ours.between, row.number(3));
    EXPECT_NEAR(ours.within / row.number(4), 1, 1e-12);
    EXPECT_NEAR(ours.p / row.number(5), 1, 1e-9);
    ++compared;
  }
  EXPECT_EQ(compared, 8);
}

TEST(Anovas, OfGroupsThatDoNotVary) {
  const std::vector<GroupMoments> same = {{10, 80.24, 0}, {10, 80.24, 0}, {5, 80.24, 0}};
  const std::vector<GroupMoments> apart = {{10, 80.24, 0}, {10, 80.24, 0}, {5, 80.23, 0}};
  for (const auto test : {one_way_anova, welch_anova}) {
    EXPECT_EQ(test(same).f, 0);
    EXPECT_EQ(test(same).p, 1);
    EXPECT_TRUE(std::isinf(test(apart).f));
    EXPECT_EQ(test(apart).p, 0);
    EXPECT_EQ(test(apart).between, 2);
    EXPECT_TRUE(std::isfinite(test(apart).within));
  }
}

// What does not vary is the limit of what varies little.
TEST(Anovas, WelchsTakesAGroupThatDoesNotVaryForALimit) {
  const auto with = [](double small) {
    return std::vector<GroupMoments>{{10, 5, small}, {8, 5.5, 2}, {6, 4, 3}, {7, 5, small}};
  };
  const auto limit = welch_anova(with(0));
  const auto near = welch_anova(with(1e-12));
  EXPECT_NEAR(limit.f / near.f, 1, 1e-9);
  EXPECT_NEAR(limit.within / near.within, 1, 1e-9);
  EXPECT_NEAR(limit.p / near.p, 1, 1e-9);
  auto apart = with(0);
  apart[3].mean = 5.001;
  EXPECT_TRUE(std::isinf(welch_anova(apart).f));
  EXPECT_EQ(welch_anova(apart).p, 0);
}

TEST(Anovas, SayWhatTheyNeed) {
  const std::vector<GroupMoments> one = {{10, 5, 1}};
  const std::vector<GroupMoments> single_values = {{1, 5, 0}, {1, 6, 0}};
  const std::vector<GroupMoments> one_single = {{1, 5, 0}, {4, 6, 1}};
  EXPECT_THROW((void)one_way_anova(one), Error);
  EXPECT_THROW((void)welch_anova({}), Error);
  EXPECT_THROW((void)one_way_anova(single_values), Error);
  EXPECT_GT(one_way_anova(one_single).p, 0);
  try {
    (void)welch_anova(one_single);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "values of group 0: got 1, expected at least 2");
  }
}

}  // namespace
}  // namespace rarefy
