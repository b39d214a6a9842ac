#include "rarefy/core/feature_space.hpp"

#include <fmt/format.h>

#include <cmath>

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

}  // namespace rarefy
