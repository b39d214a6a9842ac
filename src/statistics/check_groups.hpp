// What every comparison of groups expects of them.
#pragma once

#include <span>

#include "rarefy/statistics/summary.hpp"

namespace rarefy {

/// At least two groups, each of finite moments and of `least_count` values or more.
void check_groups(std::span<const GroupMoments> groups, double least_count);

/// The variance within groups that have the same, and its degrees of freedom. Throws where no
/// group has two values.
struct PooledVariance {
  double variance = 0, freedom = 0;
};
[[nodiscard]] PooledVariance pooled_variance(std::span<const GroupMoments> groups);

}  // namespace rarefy
