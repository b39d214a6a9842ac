#include "rarefy/statistics/summary.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

// numpy: mean, std(ddof=1), / sqrt(n), quantile([.25, .5, .75]) of the same values.
TEST(Summaries, AreThoseOfNumPy) {
  const std::vector<double> values = {3.5, -1.25, 8, 2, 2, 11.75, 0.5};
  const auto summary = summarize(values);
  EXPECT_EQ(summary.count, 7U);
  EXPECT_NEAR(summary.mean, 3.7857142857142856, 1e-15);
  EXPECT_NEAR(summary.deviation, 4.542458428145333, 1e-14);
  EXPECT_NEAR(summary.standard_error, 4.542458428145333 / std::sqrt(7.0), 1e-14);
  EXPECT_EQ(summary.median, 2);
  EXPECT_EQ(summary.lower_quartile, 1.25);
  EXPECT_EQ(summary.upper_quartile, 5.75);
  EXPECT_EQ(summary.least, -1.25);
  EXPECT_EQ(summary.greatest, 11.75);
  EXPECT_NEAR(quantile(values, 0.9), 9.5, 1e-14);
  EXPECT_EQ(quantile(values, 0), -1.25);
  EXPECT_EQ(quantile(values, 1), 11.75);
}

TEST(Summaries, OfAnEvenNumber) {
  const std::vector<double> values = {4, 1, 3, 2};
  const auto summary = summarize(values);
  EXPECT_EQ(summary.median, 2.5);
  EXPECT_EQ(summary.lower_quartile, 1.75);
  EXPECT_EQ(summary.upper_quartile, 3.25);
  EXPECT_NEAR(summary.deviation, 1.2909944487358056, 1e-15);
}

TEST(Summaries, OfOneValueHaveNoDeviation) {
  const std::vector<double> one = {7.5};
  const auto summary = summarize(one);
  EXPECT_EQ(summary.mean, 7.5);
  EXPECT_EQ(summary.median, 7.5);
  EXPECT_EQ(summary.upper_quartile, 7.5);
  EXPECT_TRUE(std::isnan(summary.deviation));
  EXPECT_TRUE(std::isnan(summary.standard_error));
  EXPECT_EQ(moments_of(one).variance, 0);
}

// A mean that no number can hold exactly must not make equal values differ.
TEST(Summaries, OfEqualValuesAreExact) {
  const std::vector<double> values(10, 0.8022);
  EXPECT_EQ(summarize(values).mean, 0.8022);
  EXPECT_EQ(summarize(values).deviation, 0);
}

TEST(Summaries, SurviveALargeMean) {
  const std::vector<double> values = {1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16};
  EXPECT_EQ(summarize(values).mean, 1e9 + 10);
  EXPECT_NEAR(moments_of(values).variance, 30, 1e-12);
}

TEST(Summaries, RefuseWhatIsNoSample) {
  EXPECT_THROW((void)summarize({}), Error);
  EXPECT_THROW((void)moments_of({}), Error);
  const std::vector<double> bad = {1, std::numeric_limits<double>::quiet_NaN()};
  try {
    (void)summarize(bad);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "value 1 of a sample: got nan, expected a finite number");
  }
  EXPECT_THROW((void)quantile(std::vector<double>{1}, 1.5), Error);
}

TEST(Moments, ComeFromAStandardErrorToo) {
  const std::vector<double> values = {24.5, 23.5, 26.4, 27.1, 29.9};
  const auto direct = moments_of(values);
  const auto summary = summarize(values);
  const auto printed = moments_from_error(summary.mean, summary.standard_error, 5);
  EXPECT_EQ(printed.count, direct.count);
  EXPECT_EQ(printed.mean, direct.mean);
  EXPECT_NEAR(printed.variance, direct.variance, 1e-13);
  EXPECT_THROW((void)moments_from_error(1, 0.1, 1), Error);
  EXPECT_THROW((void)moments_from_error(1, -0.1, 10), Error);
}

}  // namespace
}  // namespace rarefy
