// A sum of kernels in double precision, one point after the other: for where faster sums do not
// do. That is rare, and where the search looks first, so it is worth its time.
#pragma once

#include <span>

#include "rarefy/core/batch.hpp"
#include "rarefy/density/kde.hpp"

namespace rarefy {

/// The logarithm of the sum over `rows`, of which feature d is multiplied by scale[d] (and for the
/// Gaussian the kernel is 2^(-d^2)). Never minus infinity: where no row is in reach, it is
/// below KernelDensity::kNoDensity and says how far the nearest is.
[[nodiscard]] double exact_log_sum(Kernel kernel, BatchView rows, std::span<const double> scale,
                                   std::span<const double> query);

}  // namespace rarefy
