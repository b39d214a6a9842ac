// Do several groups have the same mean?
#pragma once

#include <span>

#include "rarefy/statistics/summary.hpp"

namespace rarefy {

struct Anova {
  double f = 0;
  double between = 0, within = 0;  ///< degrees of freedom
  double p = 1;  ///< how likely an F as large as this one is, if all means are the same
};

/// Fisher's, for groups whose variances are the same. At least two groups, and one with two values.
/// Where no group varies at all: F = 0 and p = 1 if the means are the same, F infinite and p = 0 if
/// not.
[[nodiscard]] Anova one_way_anova(std::span<const GroupMoments> groups);

/// Welch's (1951), for groups whose variances may differ. At least two groups, of at least two
/// values each. A group that does not vary counts as the limit of small variances: its mean is
/// known for certain.
[[nodiscard]] Anova welch_anova(std::span<const GroupMoments> groups);

}  // namespace rarefy
