// The distribution of the studentized range: the greatest less the least of `groups` standard
// normal numbers, over an independent estimate of their standard deviation with `freedom` degrees
// of freedom. Tukey's and Games and Howell's comparisons go by it.
//
// For 2 to 100 groups and 1 to infinitely many degrees of freedom. Probabilities are right to
// 1e-13, and to 1e-11 of their value where they are small, down to 1e-250; quantiles to 1e-10 of
// theirs (tests/statistics/studentized_range_test.cpp).
#pragma once

namespace rarefy {

struct StudentizedRange {
  int groups = 2;
  double freedom = 1;  ///< infinity: the standard deviation is known
};

/// The probability of a range up to q.
[[nodiscard]] double cdf(const StudentizedRange& range, double q);
/// That of a larger one. Where it is small it is not 1 less the other, and has all its digits.
[[nodiscard]] double survival(const StudentizedRange& range, double q);
/// The q that is exceeded with probability `exceeded`, between 1e-12 and 0.999999: 0.05 for the
/// critical value of that level.
[[nodiscard]] double upper_quantile(const StudentizedRange& range, double exceeded);

}  // namespace rarefy
