#include "density/kde/exact_sum.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/maths.hpp"

namespace rarefy {
namespace {

constexpr double kFarthest = 1e300;  // squared distances that are still told apart by squares

// The distance between two features, without squares that overflow; at most the largest double.
double distance(std::span<const double> a, std::span<const double> b) {
  double longest = 0.0;
  for (std::size_t d = 0; d < a.size(); ++d) {
    longest = std::max(longest, std::abs(0.5 * a[d] - 0.5 * b[d]));
  }
  if (longest == 0.0) return 0.0;
  double sum = 0.0;
  for (std::size_t d = 0; d < a.size(); ++d) {
    const double part = (0.5 * a[d] - 0.5 * b[d]) / longest;
    sum += part * part;
  }
  return std::min(longest * std::sqrt(sum), 0.5 * std::numeric_limits<double>::max()) * 2.0;
}

// In bandwidths.
double squared_distance(std::span<const double> a, std::span<const double> b,
                        std::span<const double> scale) {
  double sum = 0.0;
  for (std::size_t d = 0; d < a.size(); ++d) {
    const double difference = (a[d] - b[d]) * scale[d];
    sum += difference * difference;
  }
  return sum;
}

}  // namespace

double exact_log_sum(Kernel kernel, BatchView rows, std::span<const double> scale,
                     std::span<const double> query) {
  const auto squared = [&](Index i) { return squared_distance(query, rows.row(i), scale); };
  double nearest = std::numeric_limits<double>::max();
  for (Index i = 0; i < rows.rows(); ++i) nearest = std::min(nearest, squared(i));
  double sum = 0.0;
  for (Index i = 0; i < rows.rows(); ++i) {
    const double d2 = squared(i);
    switch (kernel) {
      case Kernel::gaussian:  // log-sum-exp: relative to the largest term
        if (d2 - nearest < 100.0) sum += maths::exp2(nearest - d2);
        break;
      case Kernel::triangular: sum += std::max(0.0, 1.0 - std::sqrt(d2)); break;
      case Kernel::epanechnikov: sum += std::max(0.0, 1.0 - d2); break;
    }
  }
  // So far out that even squares overflow: finite and in order all the same.
  if (!(nearest < kFarthest)) {
    double least = std::numeric_limits<double>::max();
    for (Index i = 0; i < rows.rows(); ++i) least = std::min(least, distance(query, rows.row(i)));
    return -kFarthest * (1.0 + maths::log(least) * std::numbers::log10e / 400.0);
  }
  if (kernel == Kernel::gaussian) return maths::log(sum) - std::numbers::ln2 * nearest;
  return sum > 0.0 ? maths::log(sum) : KernelDensity::kNoDensity - std::sqrt(nearest);
}

double exact_local_log_sum(BatchView rows, const ClassOfSlot& classes,
                           std::span<const double> scale, std::span<const double> query) {
  std::array<double, LocalClasses::kCount> weights{};
  for (Index number = 0; number < LocalClasses::kCount; ++number) {
    weights[static_cast<std::size_t>(number)] = LocalClasses::weight(number, rows.cols());
  }
  const auto squared = [&](Index i) {
    const double multiple = LocalClasses::multiple(classes[static_cast<std::size_t>(i)]);
    return squared_distance(query, rows.row(i), scale) / (multiple * multiple);
  };
  double nearest = std::numeric_limits<double>::max();
  for (Index i = 0; i < rows.rows(); ++i) nearest = std::min(nearest, squared(i));
  // So far out, widths make no difference that could be told.
  if (!(nearest < kFarthest)) return exact_log_sum(Kernel::gaussian, rows, scale, query);
  // Log-sum-exp, with room for weights that differ.
  constexpr double kFaint = 200.0;
  double sum = 0.0;
  for (Index i = 0; i < rows.rows(); ++i) {
    const double beyond = squared(i) - nearest;
    if (beyond < kFaint) {
      sum += weights[static_cast<std::size_t>(classes[static_cast<std::size_t>(i)])] *
             maths::exp2(-beyond);
    }
  }
  return maths::log(sum) - std::numbers::ln2 * nearest;
}

}  // namespace rarefy
