// How good a search has been, from its archive alone, at any moment.
#pragma once

#include <cstdint>
#include <span>

#include "rarefy/archives/archive.hpp"

namespace rarefy {

/// Added to every cell's share of visits before the logarithm is taken: without it, one
/// empty cell makes the cross-entropy infinite. Figures with different floors cannot be
/// compared, so it is printed beside them.
inline constexpr double kCrossEntropyFloor = 1e-14;

/// The part of all cells that are occupied.
[[nodiscard]] double coverage(const Archive& archive);

/// -1/l sum_e ln(N_e / N_total + floor) over l cells: how far the visits are from even.
/// The paper's section 6.1, but for the floor; least, ln l, when all cells were visited equally
/// often.
[[nodiscard]] double cross_entropy(std::span<const std::int64_t> visits,
                                   double floor = kCrossEntropyFloor);

/// The sum of the elites' objectives, each less `least` (the worst an objective can be).
[[nodiscard]] double qd_score(const Archive& archive, double least = 0.0);

/// The greatest objective of an elite, and the mean of them; 0 for an empty archive.
[[nodiscard]] double best_objective(const Archive& archive);
[[nodiscard]] double mean_objective(const Archive& archive);

}  // namespace rarefy
