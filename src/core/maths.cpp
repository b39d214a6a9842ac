#include "core/maths.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

// Polynomials below: minimax fits of our own, rounded to double precision. What they leave out is
// less than 2^-58 of the result.

namespace rarefy::maths {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
constexpr int kMantissa = 52;

// ln 2 in two parts. The first has 32 bits, so its products with exponents are exact.
constexpr double kLn2High = 0x1.62e42feep-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;

// Adding it rounds to the nearest integer, which then is in the low bits.
constexpr double kMagic = 0x1.8p52;

// An unevaluated sum, the second part less than a rounding error of the first.
struct Pair {
  double high, low;
};

// a + b exactly, where |a| >= |b| (Dekker 1971, "A floating-point technique for extending the
// available precision").
Pair ordered_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

// a * b exactly, unless it overflows or loses bits below the smallest double (Dekker 1971): the
// products of halves of 26 bits are exact.
Pair product(double a, double b) {
  constexpr double kSplit = 0x1p27 + 1;
  const auto halves = [](double x) -> Pair {
    const double shifted = kSplit * x;
    const double high = shifted - (shifted - x);
    return {high, x - high};
  };
  const Pair x = halves(a);
  const Pair y = halves(b);
  const double whole = a * b;
  return {whole, ((x.high * y.high - whole) + x.high * y.low + x.low * y.high) + x.low * y.low};
}

// Without the product of the low parts.
Pair product(Pair a, Pair b) {
  const Pair whole = product(a.high, b.high);
  return ordered_sum(whole.high, whole.low + (a.high * b.low + a.low * b.high));
}

// value * 2^k, where that is a normal number and so is the value.
double scaled(double value, std::int64_t k) {
  return std::bit_cast<double>(std::bit_cast<std::int64_t>(value) + (k << kMantissa));
}

// The same for any |k| < 2000: 2^k may be out of range where the result is not.
double scaled_far(double value, std::int64_t k) {
  const std::int64_t half = k / 2;
  return value * scaled(1.0, half) * scaled(1.0, k - half);
}

// The integer nearest to x, |x| < 2^51.
struct Nearest {
  double value;
  std::int64_t integer;
};
Nearest nearest(double x) {
  const double rounded = x + kMagic;
  return {rounded - kMagic,
          std::bit_cast<std::int64_t>(rounded) - std::bit_cast<std::int64_t>(kMagic)};
}

// exp(high - low) for |high - low| up to a little over ln(2) / 2, |low| much smaller; r = high -
// low. With R = r (e^r + 1) / (e^r - 1) = r coth(r / 2), which is even in r and nearly 2,
// e^r = 1 + 2 r / (R - r) = 1 + r + r c / (2 - c), c = r - (R - 2). The 1 and the r are added last,
// so only the sum's own rounding is felt (K. C. Ng, fdlibm's e_exp.c, 1993).
double exp_of_small(double high, double low) {
  const double r = high - low;
  const double t = r * r;
  double p = 0x1.636827eae1c81p-25;
  p = p * t - 0x1.bbd407142640fp-20;
  p = p * t + 0x1.1566aaf04be19p-14;
  p = p * t - 0x1.6c16c16bedf8dp-9;
  p = p * t + 0x1.5555555555543p-3;
  const double c = r - t * p;
  return 1.0 - ((low - r * c / (2.0 - c)) - high);
}

// Where e^x is a normal number, however it is rounded on the way.
constexpr double kSafeExponent = 708.0;

struct Scaled {
  double value;  // near 1
  std::int64_t exponent;
};
Scaled exp_parts(double x, double low) {
  const Nearest k = nearest(x * std::numbers::log2e);
  return {exp_of_small(x - k.value * kLn2High, k.value * kLn2Low - low), k.integer};
}

// e^(x + low) where it may overflow or underflow.
double exp_far(double x, double low) {
  if (x > 710.0) return kInfinity;
  if (x < -746.0) return 0.0;
  if (std::isnan(x)) return x;
  const Scaled parts = exp_parts(x, low);
  return scaled_far(parts.value, parts.exponent);
}

// x = m 2^k with m from sqrt(1/2) to sqrt(2), for a normal x > 0.
struct Reduced {
  double m, k;
};
Reduced reduced(double x) {
  constexpr auto kRootOfHalf = std::bit_cast<std::int64_t>(0.5 * std::numbers::sqrt2);
  const auto bits = std::bit_cast<std::int64_t>(x);
  const std::int64_t k = (bits - kRootOfHalf) >> kMantissa;
  return {scaled(x, -k), static_cast<double>(k)};
}

// ln(x) + low, |low| at most a few rounding errors of ln(x) or of x; `shift` comes off the
// exponent. With f = m - 1 and s = f / (2 + f), ln(m) = 2 artanh(s) = 2 s + s P(s^2), and 2 s = f -
// s f. So it is f - (f^2/2 - s (f^2/2 + P)), where what follows the f is small (K. C. Ng, fdlibm's
// e_log.c, 1993).
double log_of_normal(double x, double low = 0.0, double shift = 0.0) {
  Reduced parts = reduced(x);
  parts.k -= shift;
  const double f = parts.m - 1.0;
  const double s = f / (2.0 + f);
  const double z = s * s;
  const double w = z * z;
  // Even and odd terms apart do not wait for one another.
  double odd = 0x1.2f50f43e49a2ap-3;
  odd = odd * w + 0x1.746647dd064fdp-3;
  odd = odd * w + 0x1.2492493fad551p-2;
  odd = odd * w + 0x1.555555555557cp-1;
  double even = 0x1.399d294f8bbbcp-3;
  even = even * w + 0x1.c71c52be81932p-3;
  even = even * w + 0x1.99999999847e9p-2;
  const double p = z * odd + w * even;
  const double half = 0.5 * f * f;
  return parts.k * kLn2High - ((half - (s * (half + p) + (parts.k * kLn2Low + low))) - f);
}

constexpr double kSmallestNormal = std::numeric_limits<double>::min();

bool is_normal_and_positive(double x) {
  return x >= kSmallestNormal && x <= std::numeric_limits<double>::max();
}

double log_of_others(double x) {
  if (x > 0.0 && x < kSmallestNormal) return log_of_normal(x * 0x1p54, 0.0, 54.0);
  if (x == 0.0) return -kInfinity;
  return x > 0.0 || std::isnan(x) ? x : kNotANumber;
}

// ln(x) to 2^-64 of itself, for x > 0. As above, ln(m) = 2 s (1 + s^2 / 3 + s^4 Q(s^2)), with all
// but Q in two parts.
Pair precise_log(double x) {
  double shift = 0.0;
  if (x < kSmallestNormal) {
    x *= 0x1p54;
    shift = 54.0;
  }
  const Reduced parts = reduced(x);
  const double k = parts.k - shift;
  const double f = parts.m - 1.0;
  const Pair divisor = parts.m > 1.0 ? ordered_sum(parts.m, 1.0) : ordered_sum(1.0, parts.m);
  const double quotient = f / divisor.high;
  const Pair back = product(quotient, divisor.high);
  const Pair s = {quotient, ((f - back.high) - back.low - quotient * divisor.low) / divisor.high};
  const Pair t = product(s, s);
  double q = 0x1.e6b58313f115cp-5;
  q = q * t.high + 0x1.dec461287b3fdp-5;
  q = q * t.high + 0x1.111cd9b3a0006p-4;
  q = q * t.high + 0x1.3b137e67eb7aap-4;
  q = q * t.high + 0x1.745d17c2b9787p-4;
  q = q * t.high + 0x1.c71c71c6788f1p-4;
  q = q * t.high + 0x1.249249249279ep-3;
  q = q * t.high + 0x1.9999999999999p-3;
  const Pair third = product(t, {1.0 / 3.0, 0x1.5555555555555p-56});
  const Pair rest = product(s, ordered_sum(third.high, third.low + q * t.high * t.high));
  const Pair log_m = ordered_sum(2.0 * s.high, 2.0 * rest.high);
  const double log_m_low = log_m.low + 2.0 * (s.low + rest.low);
  if (k == 0.0) return ordered_sum(log_m.high, log_m_low);
  const Pair sum = ordered_sum(k * kLn2High, log_m.high);
  return ordered_sum(sum.high, sum.low + (k * kLn2Low + log_m_low));
}

// sin and cos of high + low for |high| <= pi / 4, by Taylor series: with x^18 and x^19 the terms
// left out begin that are less than 2^-60 of the sum.
double sin_of_small(Pair x) {
  const double t = x.high * x.high;
  double s = 1.0 / 355687428096000;  // 17!
  s = s * t - 1.0 / 1307674368000;
  s = s * t + 1.0 / 6227020800;
  s = s * t - 1.0 / 39916800;
  s = s * t + 1.0 / 362880;
  s = s * t - 1.0 / 5040;
  s = s * t + 1.0 / 120;
  s = s * t - 1.0 / 6;
  return x.high + (x.high * t * s + x.low * (1.0 - 0.5 * t));
}

double cos_of_small(Pair x) {
  const double t = x.high * x.high;
  double c = 1.0 / 20922789888000;  // 16!
  c = c * t - 1.0 / 87178291200;
  c = c * t + 1.0 / 479001600;
  c = c * t - 1.0 / 3628800;
  c = c * t + 1.0 / 40320;
  c = c * t - 1.0 / 720;
  c = c * t + 1.0 / 24;
  const double half = 0.5 * t;
  const double rounded = 1.0 - half;
  return rounded + (((1.0 - rounded) - half) + (t * t * c - x.high * x.low));
}

// An angle of pi x is so many quarter turns and a rest of at most an eighth of a turn.
struct Turned {
  std::int64_t quarters;
  Pair rest;
};
Turned turned(double x) {
  if (std::abs(x) >= 0x1p50) x = std::fmod(x, 2.0);  // whole turns, exactly
  const Nearest quarters = nearest(2.0 * x);
  const double rest = x - 0.5 * quarters.value;
  const Pair angle = product(rest, std::numbers::pi);
  constexpr double kPiLow = 0x1.1a62633145c07p-53;
  return {quarters.integer, {angle.high, angle.low + rest * kPiLow}};
}

// Below it neither sin(pi x) / (pi x) nor cos(pi x) differs from 1, and products may lose bits.
constexpr double kTinyAngle = 0x1p-30;

}  // namespace

double exp(double x) {
  if (!(std::abs(x) <= kSafeExponent)) return exp_far(x, 0.0);
  const Scaled parts = exp_parts(x, 0.0);
  return scaled(parts.value, parts.exponent);
}

double exp2(double x) {
  if (x >= 1024.0) return kInfinity;
  if (x < -1076.0) return 0.0;
  if (std::isnan(x)) return x;
  const Nearest k = nearest(x);
  const double value = exp_of_small((x - k.value) * std::numbers::ln2, 0.0);
  return std::abs(x) < 1021.0 ? scaled(value, k.integer) : scaled_far(value, k.integer);
}

double log(double x) { return is_normal_and_positive(x) ? log_of_normal(x) : log_of_others(x); }

double log1p(double x) {
  const double sum = 1.0 + x;
  if (!(sum > 0.0 && sum < kInfinity)) return log_of_others(sum);
  if (sum == 1.0) return x;
  // What rounding took from the sum comes back as a part of its logarithm.
  const double lost = x < 1.0 ? x - (sum - 1.0) : 1.0 - (sum - x);
  return log_of_normal(sum, lost / sum);
}

double power(double base, double exponent) {
  if (exponent == 0.0 || base == 1.0) return 1.0;
  if (!(base >= 0.0) || std::isnan(exponent)) return kNotANumber;
  const bool grows = (base > 1.0) == (exponent > 0.0);
  const double limit = grows ? kInfinity : 0.0;
  if (base == 0.0 || base == kInfinity) return limit;
  const Pair log_base = precise_log(base);
  const double about = exponent * log_base.high;
  if (!(std::abs(about) < 1000.0)) return limit;
  Pair log_power = product(exponent, log_base.high);
  log_power.low += exponent * log_base.low;
  if (!(std::abs(about) <= kSafeExponent)) return exp_far(log_power.high, log_power.low);
  const Scaled parts = exp_parts(log_power.high, log_power.low);
  return scaled(parts.value, parts.exponent);
}

double sin_pi(double x) {
  if (!std::isfinite(x)) return kNotANumber;
  if (std::abs(x) < kTinyAngle) return x * std::numbers::pi;
  const Turned angle = turned(x);
  if (angle.rest.high == 0.0 && angle.quarters % 2 == 0) return 0.0 * x;
  const double value =
      angle.quarters % 2 == 0 ? sin_of_small(angle.rest) : cos_of_small(angle.rest);
  return (angle.quarters & 2) == 0 ? value : -value;
}

double cos_pi(double x) {
  if (!std::isfinite(x)) return kNotANumber;
  if (std::abs(x) < kTinyAngle) return 1.0;
  const Turned angle = turned(x);
  if (angle.quarters % 2 == 0) {
    const double value = cos_of_small(angle.rest);
    return (angle.quarters & 2) == 0 ? value : -value;
  }
  if (angle.rest.high == 0.0) return 0.0;
  const double value = sin_of_small(angle.rest);
  return (angle.quarters & 2) == 0 ? -value : value;
}

// Gamma(x + 1) = x Gamma(x), from Gamma(1) = 1 and Gamma(1/2) = sqrt(pi).
double log_gamma_of_half(std::int64_t m) {
  constexpr double kMany = 0x1p900;  // times another factor, and it still does not overflow
  double sum = 0.0;
  double factors = m % 2 == 0 ? 1.0 : std::sqrt(std::numbers::pi);
  for (std::int64_t i = m - 2; i > 0; i -= 2) {
    factors *= 0.5 * static_cast<double>(i);
    if (factors < kMany) continue;
    sum += log(factors);
    factors = 1.0;
  }
  return sum + log(factors);
}

double length(double x, double y) { return std::sqrt(x * x + y * y); }

}  // namespace rarefy::maths
