#include "statistics/check_groups.hpp"

#include <fmt/format.h>

#include <cmath>

#include "rarefy/core/error.hpp"

namespace rarefy {

void check_groups(std::span<const GroupMoments> groups, double least_count) {
  if (groups.size() < 2) {
    throw Error(ErrorKind::data, "groups to compare", fmt::format("{}", groups.size()),
                "at least two");
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto& group = groups[i];
    if (!(group.count >= least_count) || !std::isfinite(group.count)) {
      throw Error(ErrorKind::data, fmt::format("values of group {}", i),
                  fmt::format("{}", group.count), fmt::format("at least {}", least_count));
    }
    if (!std::isfinite(group.mean) || !std::isfinite(group.variance) || group.variance < 0) {
      throw Error(ErrorKind::data, fmt::format("mean and variance of group {}", i),
                  fmt::format("{} and {}", group.mean, group.variance),
                  "finite numbers, the second not negative");
    }
  }
}

PooledVariance pooled_variance(std::span<const GroupMoments> groups) {
  PooledVariance pooled;
  double squares = 0;
  for (const auto& group : groups) {
    squares += (group.count - 1) * group.variance;
    pooled.freedom += group.count - 1;
  }
  if (!(pooled.freedom >= 1)) {
    throw Error(ErrorKind::data, "values of every group", "one",
                "at least one group with two: one value says nothing of how much they vary");
  }
  pooled.variance = squares / pooled.freedom;
  return pooled;
}

}  // namespace rarefy
