#include "rarefy/statistics/studentized_range.hpp"

#include <boost/math/distributions/students_t.hpp>
#include <limits>
#include <numbers>

#include "rarefy/core/error.hpp"
#include "statistics/reference_table.hpp"

namespace rarefy {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// SciPy integrates to about 1e-10.
TEST(StudentizedRange, AgreesWithSciPy) {
  double worst = 0;
  for (const auto& row : reference_table("studentized_range.csv")) {
    const StudentizedRange range{static_cast<int>(row.number(0)), row.number(1)};
    const double ours = cdf(range, row.number(2));
    worst = std::max(worst, std::abs(ours - row.number(3)));
    EXPECT_NEAR(ours, row.number(3), 1e-8)
        << range.groups << " groups, " << range.freedom << " df, q = " << row.number(2);
  }
  RecordProperty("worst", std::to_string(worst));
}

// Against 30 digits.
TEST(StudentizedRange, IsExactFarOut) {
  for (const auto& row : reference_table("studentized_range_tails.csv")) {
    const StudentizedRange range{static_cast<int>(row.number(0)), row.number(1)};
    const double expected = row.number(3);
    EXPECT_NEAR(survival(range, row.number(2)) / expected, 1, 1e-11)
        << range.groups << " groups, q = " << row.number(2);
  }
  // So far out no three numbers are apart at once: the sum over pairs.
  for (const double q : {25.0, 40.0, 47.0}) {
    for (const double k : {2.0, 6.0, 20.0}) {
      const double expected = 0.5 * k * (k - 1) * std::erfc(q / 2);
      EXPECT_NEAR(survival({static_cast<int>(k), kInfinity}, q) / expected, 1, 1e-11)
          << k << " " << q;
    }
  }
}

// The range of two is the root of 2 times the absolute value of Student's t.
TEST(StudentizedRange, OfTwoGroupsIsStudents) {
  for (const double freedom : {1.0, 1.5, 3.0, 9.0, 54.0, 1e4}) {
    const boost::math::students_t student(freedom);
    for (const double q : {0.01, 0.5, 2.0, 5.0, 30.0, 1e3}) {
      const double expected =
          2 * boost::math::cdf(boost::math::complement(student, q / std::sqrt(2.0)));
      if (expected < 1e-250) continue;
      EXPECT_NEAR(survival({2, freedom}, q) / expected, 1, 1e-11) << freedom << " df, q = " << q;
    }
  }
  for (const double q : {0.1, 1.0, 4.0, 30.0}) {
    EXPECT_NEAR(survival({2, kInfinity}, q) / std::erfc(q / 2), 1, 1e-12);
  }
}

// Published critical values, as in the tables of Pearson and Hartley and of Harter.
TEST(StudentizedRange, HasThePublishedCriticalValues) {
  struct Published {
    int groups;
    double freedom, at_5, at_1;
  };
  const Published table[] = {
      {3, 2, 8.33, 19.0},          {3, 1, 26.98, 135.0},       {2, 5, 3.64, 5.70},
      {3, 5, 4.60, 6.98},          {2, 10, 3.15, 4.48},        {3, 10, 3.88, 5.27},
      {4, 10, 4.33, 5.77},         {5, 20, 4.23, 5.29},        {10, 20, 5.01, 6.09},
      {6, 60, 4.16, 4.99},         {10, 60, 4.65, 5.45},       {20, 20, 5.71, 6.82},
      {2, kInfinity, 2.77, 3.64},  {3, kInfinity, 3.31, 4.12}, {5, kInfinity, 3.86, 4.60},
      {10, kInfinity, 4.47, 5.16}, {20, kInfinity, 5.01, 5.65}};
  for (const auto& row : table) {
    SCOPED_TRACE(testing::Message() << row.groups << " groups, " << row.freedom << " df");
    const StudentizedRange range{row.groups, row.freedom};
    EXPECT_NEAR(upper_quantile(range, 0.05), row.at_5, 0.0051);
    EXPECT_NEAR(upper_quantile(range, 0.01), row.at_1,
                row.at_1 > 100     ? 0.051
                : row.at_1 == 19.0 ? 0.051
                                   : 0.0051);
  }
}

TEST(StudentizedRange, QuantilesAreWhereTheirProbabilityIs) {
  for (const int groups : {2, 6, 100}) {
    for (const double freedom : {1.0, 3.7, 54.0, 1e6, kInfinity}) {
      const StudentizedRange range{groups, freedom};
      for (const double exceeded : {0.999, 0.5, 0.05, 1e-6, 1e-12}) {
        const double q = upper_quantile(range, exceeded);
        // Where the density is steep, a last digit of q is many of the probability.
        EXPECT_NEAR(survival(range, q) / exceeded, 1, 1e-8) << groups << " " << freedom << " " << q;
      }
    }
  }
}

TEST(StudentizedRange, FallsFromOneToNothing) {
  for (const double freedom : {1.0, 9.0, kInfinity}) {
    const StudentizedRange range{6, freedom};
    EXPECT_EQ(survival(range, 0), 1);
    EXPECT_EQ(survival(range, -1), 1);
    EXPECT_EQ(survival(range, kInfinity), 0);
    EXPECT_TRUE(std::isnan(survival(range, std::numeric_limits<double>::quiet_NaN())));
    double before = 1;
    for (double q = 0.25; q < 1e4; q *= 1.3) {
      const double here = survival(range, q);
      EXPECT_LE(here, before * (1 + 1e-13)) << q;
      EXPECT_NEAR(cdf(range, q) + here, 1, 1e-15);
      before = here;
    }
  }
  EXPECT_EQ(survival({6, 1e9}, 1e4), 0) << "underflows, and ends";
  EXPECT_NEAR(survival({2, 1}, 1e18) * 1e18, 2 * std::sqrt(2.0) / std::numbers::pi, 1e-10);
}

TEST(StudentizedRange, RefusesWhatItIsNotFor) {
  EXPECT_THROW((void)survival({1, 10}, 3), Error);
  EXPECT_THROW((void)survival({101, 10}, 3), Error);
  EXPECT_THROW((void)survival({3, 0.5}, 3), Error);
  EXPECT_THROW((void)survival({3, std::numeric_limits<double>::quiet_NaN()}, 3), Error);
  EXPECT_THROW((void)upper_quantile({3, 10}, 0), Error);
  EXPECT_THROW((void)upper_quantile({3, 10}, 1), Error);
  try {
    (void)survival({3, 0.5}, 3);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "degrees of freedom of a studentized range: got 0.5, expected at least 1");
  }
}

}  // namespace
}  // namespace rarefy
