// Pearson's test, for checks of random behaviour with fixed seeds.
#pragma once

#include <cmath>
#include <span>

/// sum of (count - expected)^2 / expected, every count with the same expectation.
inline double chi_square(std::span<const double> counts, double expected) {
  double sum = 0.0;
  for (const double count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

/// What a chi-square number with `freedom` degrees exceeds once in a million: Wilson and
/// Hilferty's cube-root approximation, whose error at this level is below one per cent of
/// the limit for 5 degrees and more.
inline double chi_square_limit(double freedom) {
  constexpr double kNormalLimit = 4.7534;  // a standard normal number exceeds it once in 10^6
  const double part = 2.0 / (9.0 * freedom);
  return freedom * std::pow(1.0 - part + kNormalLimit * std::sqrt(part), 3.0);
}
