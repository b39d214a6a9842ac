#include "rarefy/statistics/anova.hpp"

#include <algorithm>
#include <boost/math/distributions/fisher_f.hpp>
#include <cmath>
#include <limits>

#include "statistics/check_groups.hpp"

namespace rarefy {
namespace {

Anova with_probability(Anova anova) {
  if (std::isinf(anova.f)) {
    anova.p = 0;
  } else {
    const boost::math::fisher_f distribution(anova.between, anova.within);
    anova.p = boost::math::cdf(boost::math::complement(distribution, anova.f));
  }
  return anova;
}

// How far from each other means are that are known for certain.
double without_variance(bool same) { return same ? 0 : std::numeric_limits<double>::infinity(); }

// The weight of a group's mean, one over its variance. Beside those that are infinite, the others
// do not count.
struct Weights {
  std::span<const GroupMoments> groups;
  bool any_certain = false;

  explicit Weights(std::span<const GroupMoments> given)
      : groups(given),
        any_certain(std::any_of(given.begin(), given.end(),
                                [](const GroupMoments& group) { return group.variance == 0; })) {}
  [[nodiscard]] bool counts(const GroupMoments& group) const {
    return !any_certain || group.variance == 0;
  }
  // In proportion, among those that count.
  [[nodiscard]] double of(const GroupMoments& group) const {
    return any_certain ? group.count : group.count / group.variance;
  }
};

}  // namespace

Anova one_way_anova(std::span<const GroupMoments> groups) {
  check_groups(groups, 1);
  const auto within = pooled_variance(groups);
  double count = 0, sum = 0;
  for (const auto& group : groups) {
    count += group.count;
    sum += group.count * group.mean;
  }
  const double mean = sum / count;
  double squares = 0;
  bool same = true;
  for (const auto& group : groups) {
    squares += group.count * (group.mean - mean) * (group.mean - mean);
    same = same && group.mean == groups[0].mean;
  }
  const auto between = static_cast<double>(groups.size()) - 1;
  const double f =
      within.variance > 0 ? squares / between / within.variance : without_variance(same);
  return with_probability({.f = f, .between = between, .within = within.freedom});
}

// B. L. Welch, "On the comparison of several mean values", Biometrika 38 (1951):
//   w_i = n_i / s_i^2,  W = sum w_i,  m = sum w_i x_i / W,  L = sum (1 - w_i / W)^2 / (n_i - 1),
//   F = [sum w_i (x_i - m)^2 / (k - 1)] / [1 + 2 (k - 2) L / (k^2 - 1)],
//   degrees of freedom k - 1 and (k^2 - 1) / (3 L).
Anova welch_anova(std::span<const GroupMoments> groups) {
  check_groups(groups, 2);
  const Weights weights(groups);
  double total = 0, sum = 0;
  for (const auto& group : groups) {
    if (!weights.counts(group)) continue;
    total += weights.of(group);
    sum += weights.of(group) * group.mean;
  }
  double mean = sum / total;
  bool certain_same = true;
  if (weights.any_certain) {
    const auto first = std::find_if(groups.begin(), groups.end(), [&](const GroupMoments& group) {
      return weights.counts(group);
    });
    for (const auto& group : groups) {
      if (weights.counts(group)) certain_same = certain_same && group.mean == first->mean;
    }
    if (certain_same) mean = first->mean;  // exactly
  }
  double squares = without_variance(certain_same), spread = 0;
  for (const auto& group : groups) {
    const double share = weights.counts(group) ? weights.of(group) / total : 0;
    spread += (1 - share) * (1 - share) / (group.count - 1);
    if (group.variance > 0) {
      squares += group.count / group.variance * (group.mean - mean) * (group.mean - mean);
    }
  }
  const auto k = static_cast<double>(groups.size());
  const double f = squares / (k - 1) / (1 + 2 * (k - 2) * spread / (k * k - 1));
  return with_probability({.f = f, .between = k - 1, .within = (k * k - 1) / (3 * spread)});
}

}  // namespace rarefy
