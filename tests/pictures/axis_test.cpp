#include "rarefy/pictures/axis.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "rarefy/core/error.hpp"

namespace rarefy::pictures {
namespace {

using Labels = std::vector<std::string>;

Labels labels(const std::vector<Tick>& ticks) {
  Labels result;
  for (const Tick& tick : ticks) {
    if (!tick.label.empty()) result.push_back(tick.label);
  }
  return result;
}

TEST(LinearTicks, StandAtRoundNumbers) {
  EXPECT_EQ(labels(linear_ticks(0.0, 100.0)), (Labels{"0", "20", "40", "60", "80", "100"}));
  EXPECT_EQ(labels(linear_ticks(-5.12, 5.12)), (Labels{"−4", "−2", "0", "2", "4"}));
  EXPECT_EQ(labels(linear_ticks(0.0, 1.0)), (Labels{"0", "0.2", "0.4", "0.6", "0.8", "1.0"}));
  EXPECT_EQ(labels(linear_ticks(0.0, 0.023)), (Labels{"0", "0.005", "0.010", "0.015", "0.020"}));
  EXPECT_EQ(labels(linear_ticks(999.0, 1001.0, 4)),
            (Labels{"999.0", "999.5", "1000.0", "1000.5", "1001.0"}));
}

TEST(LinearTicks, HaveExactValues) {
  const auto ticks = linear_ticks(0.0, 1.0, 10);
  ASSERT_EQ(ticks.size(), 11U);
  EXPECT_EQ(ticks[3].value, 0.3);
  EXPECT_EQ(ticks[7].value, 0.7);
}

TEST(LinearTicks, WriteLargeAndSmallNumbersWithPowersOfTen) {
  EXPECT_EQ(labels(linear_ticks(0.0, 2.5e6)),
            (Labels{"0", "5×10⁵", "10⁶", "1.5×10⁶", "2×10⁶", "2.5×10⁶"}));
  EXPECT_EQ(labels(linear_ticks(-1e-5, 0.0, 2)), (Labels{"−10⁻⁵", "−5×10⁻⁶", "0"}));
  EXPECT_EQ(labels(linear_ticks(1e6, 1e6 + 2.0, 2)), (Labels{"1000000", "1000001", "1000002"}));
}

TEST(LinearTicks, StayWithinTheRangeAndTheCount) {
  for (const double low : {-1e300, -17.3, 0.0, 1e-9, 3.0, 123456.0}) {
    for (const double width : {1e-6, 0.37, 1.0, 9.99, 12345.0, 1e299}) {
      if (!is_drawable_range(low, low + width)) continue;
      for (int most = 1; most <= 10; ++most) {
        const auto ticks = linear_ticks(low, low + width, most);
        EXPECT_LE(ticks.size(), static_cast<std::size_t>(most) + 1);
        for (const Tick& tick : ticks) {
          EXPECT_GE(tick.value, low - 1e-6 * width);
          EXPECT_LE(tick.value, low + (1.0 + 1e-6) * width);
        }
      }
    }
  }
}

TEST(LogTicks, StandAtDecades) {
  EXPECT_EQ(labels(log_ticks(1.0, 5000.0)), (Labels{"1", "10", "100", "1000"}));
  EXPECT_EQ(labels(log_ticks(0.001, 1.0)), (Labels{"0.001", "0.01", "0.1", "1"}));
  EXPECT_EQ(labels(log_ticks(1e-5, 0.5)), (Labels{"10⁻⁵", "10⁻⁴", "10⁻³", "10⁻²", "10⁻¹"}));
  EXPECT_EQ(labels(log_ticks(1.0, 1e12, 5)), (Labels{"10⁰", "10³", "10⁶", "10⁹", "10¹²"}));
}

TEST(LogTicks, GetFinerInAShortRange) {
  EXPECT_EQ(labels(log_ticks(1.0, 10.0)), (Labels{"1", "2", "5", "10"}));
  EXPECT_EQ(labels(log_ticks(0.3, 0.9)), (Labels{"0.4", "0.6", "0.8"}));
  EXPECT_EQ(labels(log_ticks(1.0, 10.0, 2)), (Labels{"1", "10"}));
}

TEST(LogTicks, HaveMinorTicksBetween) {
  const auto ticks = log_ticks(1.0, 1000.0);
  ASSERT_EQ(ticks.size(), 28U);
  EXPECT_EQ(ticks[1].value, 2.0);
  EXPECT_TRUE(ticks[1].label.empty());
  for (std::size_t i = 1; i < ticks.size(); ++i) EXPECT_LT(ticks[i - 1].value, ticks[i].value);
}

TEST(FormatNumber, LeavesOutNoise) {
  EXPECT_EQ(format_number(42.0), "42");
  EXPECT_EQ(format_number(-0.5), "−0.5");
  EXPECT_EQ(format_number(0.1 + 0.2), "0.3");
  EXPECT_EQ(format_number(-0.0), "0");
  EXPECT_EQ(format_number(1.2e9), "1.2×10⁹");
  EXPECT_EQ(format_number(1e-7), "10⁻⁷");
}

TEST(Ticks, RefuseRangesThatAreNone) {
  const double inf = std::numeric_limits<double>::infinity();
  const auto refused = [](auto call) {
    try {
      (void)call();
    } catch (const Error& error) {
      return error.kind() == ErrorKind::parameter;
    }
    return false;
  };
  EXPECT_TRUE(refused([] { return linear_ticks(1.0, 1.0); }));
  EXPECT_TRUE(refused([] { return linear_ticks(2.0, 1.0); }));
  EXPECT_TRUE(refused([&] { return linear_ticks(0.0, inf); }));
  EXPECT_TRUE(refused([] { return linear_ticks(std::nan(""), 1.0); }));
  EXPECT_TRUE(refused([] { return linear_ticks(-1.7e308, 1.7e308); }));
  EXPECT_TRUE(refused([] { return linear_ticks(0.0, 5e-324); }));
  EXPECT_TRUE(refused([] { return linear_ticks(0.0, 1.0, 0); }));
  EXPECT_TRUE(refused([] { return log_ticks(0.0, 1.0); }));
  EXPECT_TRUE(refused([] { return log_ticks(-1.0, 1.0); }));
  EXPECT_TRUE(refused([] { return log_ticks(1.0, 2.0, 0); }));
}

}  // namespace
}  // namespace rarefy::pictures
