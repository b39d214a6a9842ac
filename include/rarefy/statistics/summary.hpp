// A sample in a few numbers.
#pragma once

#include <cstddef>
#include <span>

namespace rarefy {

struct Summary {
  std::size_t count = 0;
  double mean = 0;
  double deviation = 0;       ///< of the sample: over count - 1; NaN for a single value
  double standard_error = 0;  ///< of the mean; NaN for a single value
  double median = 0;
  /// By linear interpolation between the values at (count - 1) / 4 and 3 (count - 1) / 4 in order:
  /// type 7 of Hyndman and Fan, the default of NumPy and R.
  double lower_quartile = 0, upper_quartile = 0;
  double least = 0, greatest = 0;
};

/// Throws an Error (data) where there is no value, or one that is not finite.
[[nodiscard]] Summary summarize(std::span<const double> values);

/// The value below which a part of the sample lies, 0 to 1, by the rule of the quartiles.
[[nodiscard]] double quantile(std::span<const double> values, double part);

/// All that analyses of variance and pairwise comparisons need to know of a group.
struct GroupMoments {
  double count = 0;
  double mean = 0;
  double variance = 0;  ///< of the sample: over count - 1; 0 for a single value
};

[[nodiscard]] GroupMoments moments_of(std::span<const double> values);
/// From what is printed: a mean, its standard error, and of how many values.
[[nodiscard]] GroupMoments moments_from_error(double mean, double standard_error, double count);

}  // namespace rarefy
