#include "rarefy/statistics/studentized_range.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/tools/roots.hpp>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "rarefy/core/error.hpp"

// Both integrals are taken by the trapezoidal rule on the whole line, which converges faster than
// any power of the step for functions that are analytic and vanish at both ends.
namespace rarefy {
namespace {

constexpr double kNegligible = 1e-17;  // of a sum, for what is left out of it
constexpr double kManyDegrees = 1e10;  // from which on the estimate is as good as the truth

void check(const StudentizedRange& range) {
  if (range.groups < 2 || range.groups > 100) {
    throw Error(ErrorKind::parameter, "groups of a studentized range",
                fmt::format("{}", range.groups), "2 to 100");
  }
  if (!(range.freedom >= 1)) {
    throw Error(ErrorKind::parameter, "degrees of freedom of a studentized range",
                fmt::format("{}", range.freedom), "at least 1");
  }
}

double normal_density(double z) {
  return std::exp(-0.5 * z * z) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
}
double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

// How likely the range of k standard normal numbers, the greatest of which is at z, exceeds w:
//   k Int phi(z) [Phi(z)^(k-1) - (Phi(z) - Phi(z - w))^(k-1)] dz.
// Every term is positive, so that it is exact relative to itself however small.
double normal_range_survival(int k, double w) {
  // An entire function that falls as a normal density does; the narrowest, of the greatest of 100,
  // has a deviation of 0.43.
  constexpr double kStep = 0.15;
  if (w > 60) return 0;  // less than the least number
  const double others = k - 1;
  // For large w it is a bump about w / 2 of deviation 1 / sqrt(2), for small w the density of the
  // greatest.
  const double lowest = 0.5 * w - 8.0;
  double sum = 0;
  for (double z = std::max(0.5 * w + 8.0, 9.5); z > lowest; z -= kStep) {
    const double below = normal_cdf(z);
    if (below == 0) break;
    sum -= normal_density(z) * std::pow(below, others) *
           std::expm1(others * std::log1p(-normal_cdf(z - w) / below));
  }
  return std::min(1.0, k * kStep * sum);
}

}  // namespace

// The estimate of the deviation is e^t times the true one, where t has a density in proportion to
//   exp(freedom (t - (e^(2 t) - 1) / 2)).
// It is divided by its own sum, for which the rule is as exact.
double survival(const StudentizedRange& range, double q) {
  check(range);
  if (std::isnan(q)) return q;
  if (q <= 0) return 1;
  if (std::isinf(q)) return 0;
  if (range.freedom > kManyDegrees) return normal_range_survival(range.groups, q);
  const double freedom = range.freedom;
  const auto weight_at = [&](double t) {
    return std::exp(freedom * (t - 0.5 * std::expm1(2 * t)));
  };
  // With many degrees of freedom it is a normal density of deviation 1 / sqrt(2 freedom).
  const double step = std::min(0.08, 0.4 / std::sqrt(2 * freedom));
  double t = step;
  while (weight_at(t) > kNegligible) t += step;
  double weights = 0, sum = 0, given = 0;
  for (;; t -= step) {
    const double weight = weight_at(t);
    if (given < 1) given = normal_range_survival(range.groups, q * std::exp(t));  // grows to 1
    weights += weight;
    sum += weight * given;
    // To the left weights fall at least by this slope, and what they weigh is at most 1.
    const double slope = -freedom * std::expm1(2 * t);
    if (weight == 0 || (t < 0 && weight < kNegligible * slope * step * sum)) break;
  }
  return sum / weights;
}

double cdf(const StudentizedRange& range, double q) { return 1 - survival(range, q); }

double upper_quantile(const StudentizedRange& range, double exceeded) {
  check(range);
  if (!(exceeded >= 1e-12 && exceeded <= 0.999999)) {
    throw Error(ErrorKind::parameter, "the probability to exceed a quantile",
                fmt::format("{}", exceeded), "1e-12 to 0.999999");
  }
  // Over log q, where log P is close to a line far out for any number of degrees of freedom.
  const double aim = std::log(exceeded);
  const auto excess = [&](double log_q) {
    return std::max(std::log(survival(range, std::exp(log_q))), -1e4) - aim;  // -1e4: underflow
  };
  double low = 1, high = 1.5, at_low = excess(low), at_high = excess(high);
  while (at_low < 0) {
    high = low, at_high = at_low;
    at_low = excess(--low);
  }
  while (at_high > 0) {
    low = high, at_low = at_high;
    at_high = excess(high *= 1.5);
  }
  std::uintmax_t rounds = 200;
  const auto near_enough = [](double a, double b) { return std::abs(a - b) < 1e-11; };
  const auto ends =
      boost::math::tools::toms748_solve(excess, low, high, at_low, at_high, near_enough, rounds);
  return std::exp(0.5 * (ends.first + ends.second));
}

}  // namespace rarefy
