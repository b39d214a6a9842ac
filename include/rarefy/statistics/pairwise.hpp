// Which groups differ from which: every pair, at a level that holds for all pairs together.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "rarefy/core/names.hpp"
#include "rarefy/statistics/summary.hpp"

namespace rarefy {

/// Of the first of two groups, beside the second.
enum class Verdict { greater, less, undecided };

template <>
struct EnumNames<Verdict> {
  static constexpr std::string_view thing = "verdict";
  static constexpr std::pair<Verdict, std::string_view> all[] = {
      {Verdict::greater, ">"}, {Verdict::less, "<"}, {Verdict::undecided, "-"}};
};

[[nodiscard]] constexpr Verdict turned(Verdict verdict) {
  switch (verdict) {
    case Verdict::greater: return Verdict::less;
    case Verdict::less: return Verdict::greater;
    case Verdict::undecided: break;
  }
  return Verdict::undecided;
}

/// Two groups, by their places among those given.
struct PairComparison {
  std::size_t first = 0, second = 0;
  double difference = 0;  ///< of the means, first less second
  double q = 0;           ///< over its standard error and the root of 1/2; not negative
  double freedom = 0;     ///< degrees of freedom of that error
  double p = 1;
  double lower = 0, upper = 0;           ///< of the difference, with a confidence of 1 - level
  Verdict verdict = Verdict::undecided;  ///< decided where p < level
};

/// Those of Games and Howell's take longer than all else: a critical value for every pair.
enum class Intervals { computed, left_out };  ///< NaN where they are left out

/// Tukey's honestly significant differences, by Tukey's and Kramer's rule where groups are of
/// different sizes; for groups whose variances are the same. Up to 100 groups, of which one has two
/// values at least. Every pair once, the first before the second. Where nothing varies, q is
/// infinite and p = 0 for means that differ, and q = 0, p = 1 for those that do not.
[[nodiscard]] std::vector<PairComparison> tukey_hsd(std::span<const GroupMoments> groups,
                                                    double level = 0.05);

/// Games and Howell's (1976), for groups whose variances may differ: of at least two values each.
[[nodiscard]] std::vector<PairComparison> games_howell(std::span<const GroupMoments> groups,
                                                       double level = 0.05,
                                                       Intervals intervals = Intervals::computed);

/// What is said of two different groups, in either order.
[[nodiscard]] Verdict verdict_on(std::span<const PairComparison> pairs, std::size_t first,
                                 std::size_t second);

}  // namespace rarefy
