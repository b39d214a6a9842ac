#include "rarefy/statistics/pairwise.hpp"

#include <cmath>
#include <vector>

#include "rarefy/core/error.hpp"
#include "statistics/reference_table.hpp"

namespace rarefy {
namespace {

// SciPy's tukey_hsd; for Games and Howell's, pingouin's and SciPy's.
TEST(Pairwise, AgreesWithSciPyAndPingouin) {
  int compared = 0;
  for (const auto& row : reference_table("pairs.csv")) {
    SCOPED_TRACE(row.text(0) + " " + row.text(1) + " " + row.text(2) + " " + row.text(3));
    std::vector<GroupMoments> groups;
    for (const auto& values : reference_samples(row.text(0))) groups.push_back(moments_of(values));
    const auto pairs = row.text(1) == "tukey" ? tukey_hsd(groups) : games_howell(groups);
    ASSERT_EQ(pairs.size(), groups.size() * (groups.size() - 1) / 2);
    for (const auto& pair : pairs) {
      if (static_cast<double>(pair.first) != row.number(2)) continue;
      if (static_cast<double>(pair.second) != row.number(3)) continue;
      EXPECT_NEAR(pair.difference, row.number(4), 1e-12);
      if (row.text(5) != "nan") {
        EXPECT_NEAR(pair.freedom / row.number(5), 1, 1e-11);
      }
      EXPECT_NEAR(pair.p, row.number(6), 1e-8);
      EXPECT_NEAR(pair.lower, row.number(7), 1e-6 * (pair.upper - pair.lower));
      EXPECT_NEAR(pair.upper, row.number(8), 1e-6 * (pair.upper - pair.lower));
      const auto expected = row.number(6) >= 0.05 ? Verdict::undecided
                            : row.number(4) > 0   ? Verdict::greater
                                                  : Verdict::less;
      EXPECT_EQ(pair.verdict, expected);
      ++compared;
    }
  }
  EXPECT_EQ(compared, 44);
}

// One pair is Student's test, or Welch's.
TEST(Pairwise, OfTwoGroupsIsStudentsTest) {
  const std::vector<GroupMoments> groups = {{3, 2.3333333333333335, 2.3333333333333335},
                                            {4, 4.5, 9.1666666666666661}};
  EXPECT_NEAR(tukey_hsd(groups)[0].p, 0.31421185961493203, 1e-10);  // as in anova.csv
  EXPECT_NEAR(games_howell(groups)[0].p, 0.275724406218366, 1e-10);
}

TEST(Pairwise, IntervalsAndVerdictsAgree) {
  const std::vector<GroupMoments> groups = {{10, 1.0, 1}, {10, 2.28, 1}, {10, 2.35, 1}, {9, 9, 3}};
  for (const double level : {0.01, 0.05, 0.2}) {
    for (const auto& pairs : {tukey_hsd(groups, level), games_howell(groups, level)}) {
      for (const auto& pair : pairs) {
        const bool apart = pair.lower > 0 || pair.upper < 0;
        EXPECT_EQ(apart, pair.verdict != Verdict::undecided) << pair.first << " " << pair.second;
        EXPECT_EQ(pair.p < level, apart);
      }
    }
  }
}

TEST(Pairwise, OfGroupsThatDoNotVary) {
  const std::vector<GroupMoments> groups = {{10, 80.24, 0}, {10, 80.24, 0}, {5, 80.23, 0}};
  for (const auto& pairs : {tukey_hsd(groups), games_howell(groups)}) {
    EXPECT_EQ(pairs[0].q, 0);
    EXPECT_EQ(pairs[0].p, 1);
    EXPECT_EQ(pairs[0].verdict, Verdict::undecided);
    EXPECT_TRUE(std::isinf(pairs[1].q));
    EXPECT_EQ(pairs[1].p, 0);
    EXPECT_EQ(pairs[1].verdict, Verdict::greater);
    EXPECT_EQ(pairs[1].lower, pairs[1].difference);
    EXPECT_EQ(pairs[1].upper, pairs[1].difference);
    EXPECT_TRUE(std::isfinite(pairs[1].freedom));
    EXPECT_EQ(verdict_on(pairs, 0, 2), Verdict::greater);
    EXPECT_EQ(verdict_on(pairs, 2, 0), Verdict::less);
    EXPECT_THROW((void)verdict_on(pairs, 1, 1), Error);
  }
}

TEST(Pairwise, SaysWhatItNeeds) {
  const std::vector<GroupMoments> one = {{10, 5, 1}};
  const std::vector<GroupMoments> one_single = {{1, 5, 0}, {4, 6, 1}};
  EXPECT_THROW((void)tukey_hsd(one), Error);
  EXPECT_THROW((void)games_howell({}), Error);
  EXPECT_EQ(tukey_hsd(one_single).size(), 1U);
  EXPECT_THROW((void)games_howell(one_single), Error);
  const std::vector<GroupMoments> many(101, {5, 1, 1});
  EXPECT_THROW((void)tukey_hsd(many), Error);
  const std::vector<GroupMoments> two = {{5, 1, 1}, {5, 1, 1}};
  try {
    (void)tukey_hsd(two, 0);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "level: got 0, expected 1e-6 to 0.5");
  }
}

}  // namespace
}  // namespace rarefy
