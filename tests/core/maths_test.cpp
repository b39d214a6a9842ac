// Against the system's functions in long double, which have at least 11 bits more.
#include "core/maths.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <span>
#include <vector>

#include "rarefy/core/random.hpp"
#include "rarefy/storage/checkpoint.hpp"
#include "support/sanitized.hpp"

namespace rarefy {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kLargest = std::numeric_limits<double>::max();
constexpr double kSmallest = std::numeric_limits<double>::denorm_min();
constexpr double kSmallestNormal = std::numeric_limits<double>::min();
constexpr int kValues = kSanitized ? 20'000 : 200'000;

using Draw = std::function<double(RandomStream&)>;

Draw between(double low, double high) {
  return [=](RandomStream& random) { return low + (high - low) * random.uniform(); };
}

// Any positive normal number: all exponents are as likely.
double of_any_size(RandomStream& random) {
  const double x = std::bit_cast<double>(random.bits64() >> 1);
  return std::isnormal(x) ? x : of_any_size(random);
}

// What lies between two doubles next to each other, where `x` is.
long double ulp_at(long double x) {
  const int exponent = std::max(std::ilogb(x), -1022);
  return std::ldexp(1.0L, exponent - 52);
}

double error_in_ulp(double found, long double expected) {
  return static_cast<double>(std::fabs(static_cast<long double>(found) - expected) /
                             ulp_at(expected));
}

using Function = double (*)(double);
using Reference = long double (*)(long double);

void expect_accurate(Function function, Reference reference, const Draw& draw, double most_ulp,
                     const char* what) {
  RandomStream random({.seed = 1, .purpose = Purpose::user});
  double worst = 0.0, at = 0.0;
  for (int i = 0; i < kValues; ++i) {
    const double x = draw(random);
    const double error = error_in_ulp(function(x), reference(x));
    if (error <= worst) continue;  // a NaN is no such error
    worst = error;
    at = x;
    if (std::isnan(error)) break;
  }
  EXPECT_LE(worst, most_ulp) << what << ", at " << at;
}

constexpr long double kPi = 3.141592653589793238462643383279502884L;

// sin(pi x) and cos(pi x): a multiple of 1/2 is taken off exactly before pi comes in.
long double sin_pi(long double x) {
  const long double quarters = std::nearbyint(2 * x);
  const long double rest = kPi * (x - quarters / 2);
  const auto turn = static_cast<long long>(quarters);
  const long double value = turn % 2 == 0 ? std::sin(rest) : std::cos(rest);
  return (turn & 2) == 0 ? value : -value;
}
long double cos_pi(long double x) { return sin_pi(x + 0.5L); }

TEST(Maths, ExponentialIsRightToOneUlp) {
  const auto check = [](double low, double high, double most) {
    expect_accurate(maths::exp, std::exp, between(low, high), most, "exp");
  };
  check(-708.3, 709.7, 1.0);
  check(-40.0, 0.0, 1.0);
  check(-1.0, 1.0, 1.0);
  check(-1e-7, 1e-7, 1.0);
  check(-745.0, -708.0, 1.5);  // subnormal
}

TEST(Maths, PowerOfTwoIsRightToOneUlpAndAQuarter) {
  expect_accurate(maths::exp2, std::exp2, between(-1022, 1023.9), 1.25, "exp2");
  expect_accurate(maths::exp2, std::exp2, between(-100, 0), 1.25, "exp2");
  expect_accurate(maths::exp2, std::exp2, between(-1, 1), 1.25, "exp2");
  expect_accurate(maths::exp2, std::exp2, between(-1074, -1022), 1.75, "exp2, subnormal");
  for (int k = -1074; k < 1024; ++k) EXPECT_EQ(maths::exp2(k), std::ldexp(1.0, k)) << k;
}

TEST(Maths, LogarithmIsRightToOneUlp) {
  const auto check = [](const Draw& draw) {
    expect_accurate(maths::log, std::log, draw, 1.0, "log");
  };
  check(of_any_size);
  check(between(0.5, 2.0));
  check(between(0.70, 0.72));  // where the exponent is rounded up or down
  check(between(1.41, 1.42));
  check(between(0.999, 1.001));
  check(between(0.0, 1.0));
  check(between(1.0, 1e5));
  check(between(0.0, kSmallestNormal));
}

TEST(Maths, LogarithmOfOneMoreIsRightToOneUlpAndAHalf) {
  const auto check = [](const Draw& draw) {
    expect_accurate(maths::log1p, std::log1p, draw, 1.5, "log1p");
  };
  check(of_any_size);
  check([](RandomStream& random) { return -of_any_size(random) / kLargest; });
  check(between(-1.0, 1.0));
  check(between(-0.5, 0.0));
  check(between(0.39, 0.43));
  check(between(-0.01, 0.01));
  check(between(-1e-12, 1e-12));
}

TEST(Maths, SineAndCosineOfMultiplesOfPiAreRightToOneUlp) {
  for (const double reach : {0.25, 1.0, 100.0, 1e6, 1e15, 1e16, 1e-3, 1e-12}) {
    expect_accurate(maths::sin_pi, sin_pi, between(-reach, reach), 1.0, "sin_pi");
    expect_accurate(maths::cos_pi, cos_pi, between(-reach, reach), 1.0, "cos_pi");
  }
  for (int k = -9; k <= 9; ++k) {
    const double sign = k % 2 == 0 ? 1.0 : -1.0;
    EXPECT_EQ(maths::sin_pi(k), 0.0) << k;
    EXPECT_EQ(maths::cos_pi(k), sign) << k;
    EXPECT_EQ(maths::sin_pi(k + 0.5), sign) << k;
    EXPECT_EQ(maths::cos_pi(k + 0.5), 0.0) << k;
    EXPECT_EQ(maths::cos_pi(k + 0.375), -maths::cos_pi(k + 1.375)) << k;
  }
}

TEST(Maths, PowersAreRightToOneUlp) {
  const auto check = [](const Draw& base, const Draw& exponent, const char* what) {
    RandomStream random({.seed = 1, .purpose = Purpose::user});
    double worst = 0.0, at = 0.0, to = 0.0;
    for (int i = 0; i < kValues; ++i) {
      const double x = base(random), y = exponent(random);
      const long double expected = std::pow(static_cast<long double>(x), y);
      if (!(expected >= kSmallestNormal && expected <= kLargest)) continue;
      const double error = error_in_ulp(maths::power(x, y), expected);
      if (error <= worst) continue;
      worst = error;
      at = x;
      to = y;
      if (std::isnan(error)) break;
    }
    EXPECT_LE(worst, 1.0) << what << ", " << at << " to the power of " << to;
  };
  const auto whole = [](RandomStream& random) { return std::floor(1e5 * random.uniform()); };
  check(between(0, 2), between(-100, 100), "common");
  check(of_any_size, between(-1, 1), "roots of any size");
  check(between(0.9, 1.1), between(-7000, 7000), "large exponents");
  check(between(1 - 1e-9, 1 + 1e-9), between(-6e11, 6e11), "very large exponents");
  check(between(0.99, 1), whole, "whole exponents");
  check(between(0, 1), between(0, 1e-3), "small exponents");
  for (int k = -1074; k < 1024; ++k) EXPECT_EQ(maths::power(2.0, k), std::ldexp(1.0, k)) << k;
}

TEST(Maths, LogarithmOfGammaAtHalves) {
  for (std::int64_t m = 1; m <= 1000; ++m) {
    const long double expected = std::lgamma(0.5L * static_cast<long double>(m));
    const double most = std::max(0x1p-52, static_cast<double>(2 * ulp_at(expected)));
    EXPECT_NEAR(maths::log_gamma_of_half(m), static_cast<double>(expected), most) << m;
  }
  EXPECT_EQ(maths::log_gamma_of_half(2), 0.0);
  EXPECT_EQ(maths::log_gamma_of_half(4), 0.0);
}

TEST(Maths, LengthsOfVectors) {
  EXPECT_EQ(maths::length(3, -4), 5);
  EXPECT_EQ(maths::length(0, 0), 0);
}

void expect_same(double found, double expected, const char* what, double x) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(found)) << what << "(" << x << ") = " << found;
  } else {
    EXPECT_EQ(found, expected) << what << "(" << x << ")";
    EXPECT_EQ(std::signbit(found), std::signbit(expected)) << what << "(" << x << ")";
  }
}

// Results that are exact, infinite or not there at all: those of the C standard's annex F.
TEST(Maths, SpecialValues) {
  for (const double x : {0.0, -0.0, kInfinity, -kInfinity, kNotANumber, -kNotANumber, kSmallest,
                         -kSmallest, -kSmallestNormal, kLargest, -kLargest, -1.0, 1e-300, 710.0,
                         -746.0, 1024.0, -1076.0, -2.0}) {
    if (!std::isnormal(std::exp(x)) || std::exp(x) == 1) {
      expect_same(maths::exp(x), std::exp(x), "exp", x);
    }
    expect_same(maths::exp2(x), std::exp2(x), "exp2", x);
    if (!(x > 0 && std::isfinite(x))) expect_same(maths::log(x), std::log(x), "log", x);
    if (!(x > 0 && std::isfinite(x)) || x < 1e-20) {
      expect_same(maths::log1p(x), std::log1p(x), "log1p", x);
    }
    if (!std::isfinite(x)) {
      EXPECT_TRUE(std::isnan(maths::sin_pi(x))) << x;
      EXPECT_TRUE(std::isnan(maths::cos_pi(x))) << x;
    }
  }
  EXPECT_EQ(maths::exp(1.0), std::nextafter(std::numbers::e, 3.0));  // off by 0.7 ulp
  EXPECT_EQ(maths::log(1.0), 0.0);
  EXPECT_EQ(maths::log(2.0), std::numbers::ln2);
  expect_same(maths::sin_pi(-0.0), -0.0, "sin_pi", -0.0);
  EXPECT_EQ(maths::sin_pi(kLargest), 0.0);
  EXPECT_EQ(maths::cos_pi(-kLargest), 1.0);
  EXPECT_EQ(maths::cos_pi(kSmallest), 1.0);
}

TEST(Maths, SpecialPowers) {
  for (const double x :
       {0.0, kSmallest, 1e-308, 0.25, 1.0, 4.0, kLargest, kInfinity, kNotANumber}) {
    for (const double y : {0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 1e300, -1e300, kInfinity,
                           -kInfinity, kSmallest, -1e-300, kNotANumber}) {
      SCOPED_TRACE(y);
      const double expected = std::pow(x, y);
      if (std::isnormal(expected) && expected != 1) {
        EXPECT_LE(error_in_ulp(maths::power(x, y), std::pow(static_cast<long double>(x), y)), 1);
      } else {
        expect_same(maths::power(x, y), expected, "power", x);
      }
    }
  }
  EXPECT_TRUE(std::isnan(maths::power(-2.0, 2.0)));
  EXPECT_TRUE(std::isnan(maths::power(-kInfinity, 3.0)));
  EXPECT_EQ(maths::power(-2.0, 0.0), 1.0);
}

// Whoever compiles this, and for whatever processor: the same bits as on the day they were
// written down. If they change on purpose, so do the results of all runs.
TEST(Maths, BitsAreTheSameEverywhere) {
  const auto bits_of = [](const auto& function, double low, double high) {
    RandomStream random({.seed = 2, .purpose = Purpose::user});
    std::vector<double> values;
    for (int i = 0; i < 10'000; ++i)
      values.push_back(function(low + (high - low) * random.uniform()));
    return checksum(std::as_bytes(std::span(values)));
  };
  EXPECT_EQ(bits_of(maths::exp, -745, 709), 0xA4AC365E44A5D2DAU);
  EXPECT_EQ(bits_of(maths::exp2, -1074, 1023), 0x2FACEA8D2DE132CDU);
  EXPECT_EQ(bits_of(maths::log, 0, 10), 0x9990584714FCF92U);
  EXPECT_EQ(bits_of(maths::log1p, -1, 1), 0x7392178C39612EFEU);
  EXPECT_EQ(bits_of(maths::sin_pi, -3, 3), 0x5F769F716FC1A684U);
  EXPECT_EQ(bits_of(maths::cos_pi, -3, 3), 0x630B7B10FEFF36A8U);
  EXPECT_EQ(bits_of([](double x) { return maths::power(x, 30 * x - 20); }, 0, 10),
            0xE26711A23E1AE86U);
}

}  // namespace
}  // namespace rarefy
