// The inner loops of the analytic domains.
#pragma once

#include <cstddef>

namespace rarefy::kernels {

/// sum of clip(x): x where |x| <= range, range / x beyond.
///   lanes f64; accuracy: that of a sum of `count` terms, each correctly rounded
double clipped_sum(const double* x, std::ptrdiff_t count, double range);

/// sum of (x - shift)^2.
double shifted_sphere(const double* x, std::ptrdiff_t count, double shift);

/// sum of t^2 - 10 cos(2 pi t) + 10, t = x - shift.
///   lanes f64; accuracy: each term within 8 ulp; exactly 0 where x = shift; any finite x
double shifted_rastrigin(const double* x, std::ptrdiff_t count, double shift);

/// Adds up cos and sin of `count` angles.
///   lanes f64; accuracy: each within 3 ulp; range |angle| <= 39,000
void sum_of_directions(const double* angles, std::ptrdiff_t count, double* cosines, double* sines);

}  // namespace rarefy::kernels
