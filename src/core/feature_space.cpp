#include "rarefy/core/feature_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "rarefy/core/error.hpp"

namespace rarefy {

void FeatureSpace::check() const {
  if (lower.empty() || lower.size() != upper.size()) {
    throw Error(ErrorKind::parameter, "feature space",
                fmt::format("{} lower and {} upper bounds", lower.size(), upper.size()),
                "as many of one as of the other, at least one");
  }
  for (std::size_t d = 0; d < lower.size(); ++d) {
    if (!(lower[d] < upper[d]) || !std::isfinite(upper[d] - lower[d])) {
      throw Error(ErrorKind::parameter, fmt::format("bounds of feature {}", d),
                  fmt::format("[{}, {}]", lower[d], upper[d]),
                  "two finite numbers, low < high, a finite distance apart");
    }
  }
}

bool FeatureSpace::contains(std::span<const double> features) const {
  for (std::size_t d = 0; d < features.size(); ++d) {
    if (features[d] < lower[d] || features[d] > upper[d]) return false;
  }
  return true;
}

void FeatureSpace::clamp(std::span<double> features) const {
  for (std::size_t d = 0; d < features.size(); ++d) {
    features[d] = std::clamp(features[d], lower[d], upper[d]);
  }
}

double FeatureSpace::distance(std::span<const double> features) const {
  constexpr double kMost = std::numeric_limits<double>::max();
  const auto excess = [&](std::size_t d) {
    const double beyond = std::max({lower[d] - features[d], features[d] - upper[d], 0.0});
    return std::min(beyond / (upper[d] - lower[d]), kMost);
  };
  // In units of the longest: squares must not overflow.
  double longest = 0.0;
  for (std::size_t d = 0; d < features.size(); ++d) longest = std::max(longest, excess(d));
  if (longest == 0.0) return 0.0;
  double squares = 0.0;
  for (std::size_t d = 0; d < features.size(); ++d) {
    squares += (excess(d) / longest) * (excess(d) / longest);
  }
  return std::min(longest * std::sqrt(squares), kMost);
}

}  // namespace rarefy
