#include "rarefy/statistics/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

void check_sample(std::span<const double> values) {
  if (values.empty()) {
    throw Error(ErrorKind::data, "a sample", "no values", "at least one");
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      throw Error(ErrorKind::data, fmt::format("value {} of a sample", i),
                  fmt::format("{}", values[i]), "a finite number");
    }
  }
}

// Of values in order.
double quantile_in_order(std::span<const double> sorted, double part) {
  const double place = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  if (below + 1 >= sorted.size()) return sorted.back();
  const double beyond = place - static_cast<double>(below);
  return sorted[below] + beyond * (sorted[below + 1] - sorted[below]);
}

std::vector<double> in_order(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

}  // namespace

GroupMoments moments_of(std::span<const double> values) {
  check_sample(values);
  const auto count = static_cast<double>(values.size());
  const bool same =
      std::all_of(values.begin(), values.end(), [&](double value) { return value == values[0]; });
  if (same) return {.count = count, .mean = values[0], .variance = 0};  // exactly, without rounding
  double sum = 0;
  for (const double value : values) sum += value;
  const double first_mean = sum / count;
  // What rounding left of the mean shows as a sum of deviations that is not 0.
  double deviations = 0, squares = 0;
  for (const double value : values) {
    deviations += value - first_mean;
    squares += (value - first_mean) * (value - first_mean);
  }
  return {.count = count,
          .mean = first_mean + deviations / count,
          .variance = std::max(0.0, squares - deviations * deviations / count) / (count - 1)};
}

GroupMoments moments_from_error(double mean, double standard_error, double count) {
  if (!(count >= 2) || !std::isfinite(count)) {
    throw Error(ErrorKind::parameter, "the size of a sample with a standard error",
                fmt::format("{}", count), "at least 2");
  }
  if (!(standard_error >= 0) || !std::isfinite(standard_error) || !std::isfinite(mean)) {
    throw Error(ErrorKind::parameter, "a mean and its standard error",
                fmt::format("{} and {}", mean, standard_error),
                "finite numbers, the second not negative");
  }
  return {.count = count, .mean = mean, .variance = standard_error * standard_error * count};
}

double quantile(std::span<const double> values, double part) {
  check_sample(values);
  if (!(part >= 0 && part <= 1)) {
    throw Error(ErrorKind::parameter, "the part below a quantile", fmt::format("{}", part),
                "0 to 1");
  }
  return quantile_in_order(in_order(values), part);
}

Summary summarize(std::span<const double> values) {
  const auto moments = moments_of(values);
  const auto sorted = in_order(values);
  const double deviation =
      values.size() > 1 ? std::sqrt(moments.variance) : std::numeric_limits<double>::quiet_NaN();
  return {.count = values.size(),
          .mean = moments.mean,
          .deviation = deviation,
          .standard_error = deviation / std::sqrt(moments.count),
          .median = quantile_in_order(sorted, 0.5),
          .lower_quartile = quantile_in_order(sorted, 0.25),
          .upper_quartile = quantile_in_order(sorted, 0.75),
          .least = sorted.front(),
          .greatest = sorted.back()};
}

}  // namespace rarefy
