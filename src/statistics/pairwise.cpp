#include "rarefy/statistics/pairwise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "rarefy/core/error.hpp"
#include "rarefy/statistics/studentized_range.hpp"
#include "statistics/check_groups.hpp"

namespace rarefy {
namespace {

void check_level(double level) {
  if (!(level >= 1e-6 && level <= 0.5)) {
    throw Error(ErrorKind::parameter, "level", fmt::format("{}", level), "1e-6 to 0.5");
  }
}

// `error` is the standard error of the difference over the root of 2, which is what a range of
// means is measured in.
PairComparison compare(PairComparison pair, const StudentizedRange& range, double error,
                       double critical, double level) {
  if (error > 0) {
    pair.q = std::abs(pair.difference) / error;
  } else {
    pair.q = pair.difference == 0 ? 0 : std::numeric_limits<double>::infinity();
  }
  pair.freedom = range.freedom;
  pair.p = survival(range, pair.q);
  pair.lower = pair.difference - critical * error;
  pair.upper = pair.difference + critical * error;
  if (pair.p < level) pair.verdict = pair.difference > 0 ? Verdict::greater : Verdict::less;
  return pair;
}

PairComparison pair_of(std::span<const GroupMoments> groups, std::size_t i, std::size_t j) {
  return {.first = i, .second = j, .difference = groups[i].mean - groups[j].mean};
}

}  // namespace

std::vector<PairComparison> tukey_hsd(std::span<const GroupMoments> groups, double level) {
  check_level(level);
  check_groups(groups, 1);
  const auto [variance, freedom] = pooled_variance(groups);
  const StudentizedRange range{.groups = static_cast<int>(groups.size()), .freedom = freedom};
  const double critical = upper_quantile(range, level);
  std::vector<PairComparison> pairs;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (std::size_t j = i + 1; j < groups.size(); ++j) {
      const double error = std::sqrt(0.5 * variance * (1 / groups[i].count + 1 / groups[j].count));
      pairs.push_back(compare(pair_of(groups, i, j), range, error, critical, level));
    }
  }
  return pairs;
}

// P. A. Games and J. F. Howell, "Pairwise multiple comparison procedures with unequal N's and/or
// variances", Journal of Educational Statistics 1 (1976): the error of each pair by itself, with
// Welch's degrees of freedom.
std::vector<PairComparison> games_howell(std::span<const GroupMoments> groups, double level,
                                         Intervals intervals) {
  check_level(level);
  check_groups(groups, 2);
  std::vector<PairComparison> pairs;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (std::size_t j = i + 1; j < groups.size(); ++j) {
      const double a = groups[i].variance / groups[i].count;
      const double b = groups[j].variance / groups[j].count;
      // Where neither varies, as if both varied by the same.
      const double c =
          a + b > 0 ? a / (a + b) : groups[j].count / (groups[i].count + groups[j].count);
      const double one = c * c / (groups[i].count - 1);
      const double other = (1 - c) * (1 - c) / (groups[j].count - 1);
      const double freedom = std::max(1.0, 1 / (one + other));  // never less, but for rounding
      const StudentizedRange range{.groups = static_cast<int>(groups.size()), .freedom = freedom};
      pairs.push_back(compare(pair_of(groups, i, j), range, std::sqrt(0.5 * (a + b)),
                              intervals == Intervals::computed
                                  ? upper_quantile(range, level)
                                  : std::numeric_limits<double>::quiet_NaN(),
                              level));
    }
  }
  return pairs;
}

Verdict verdict_on(std::span<const PairComparison> pairs, std::size_t first, std::size_t second) {
  for (const auto& pair : pairs) {
    if (pair.first == first && pair.second == second) return pair.verdict;
    if (pair.first == second && pair.second == first) return turned(pair.verdict);
  }
  throw Error(ErrorKind::parameter, "a pair of groups", fmt::format("{} and {}", first, second),
              "two that were compared");
}

}  // namespace rarefy
