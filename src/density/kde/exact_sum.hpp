// A sum of kernels in double precision, one point after the other: for queries so far out that
// faster sums have no correct digits. They are rare, but they are the sparsest candidates, which
// the search ranks first; so they are worth the time.
#pragma once

#include <span>

#include "density/kde/local_classes.hpp"
#include "rarefy/core/batch.hpp"
#include "rarefy/density/kde.hpp"

namespace rarefy {

/// The logarithm of the sum over `rows`, of which feature d is multiplied by scale[d] (and for the
/// Gaussian the kernel is 2^(-d^2)). Never minus infinity: where no row is in reach, it is
/// below KernelDensity::kNoDensity and says how far the nearest is.
[[nodiscard]] double exact_log_sum(Kernel kernel, BatchView rows, std::span<const double> scale,
                                   std::span<const double> query);

/// The same for Gaussians of which the one of row i is LocalClasses::multiple(classes[i]) times as
/// wide, and the narrower, the higher.
[[nodiscard]] double exact_local_log_sum(BatchView rows, const ClassOfSlot& classes,
                                         std::span<const double> scale,
                                         std::span<const double> query);

}  // namespace rarefy
