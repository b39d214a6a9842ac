// Sums of Gaussians over points that are chosen by chance, those that matter more often.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/kernel_sums.hpp"

namespace rarefy::kernels {

/// Wide Gaussians by which points are chosen, 2^(-breadth d^2) with d the distance to a place: some
/// of them look at the points together, since they wait for memory rather than for arithmetic.
struct Lures {
  const float* places = nullptr;  ///< a row each
  std::ptrdiff_t count = 0;       ///< at most kMostLures
  float breadth = 1.0F;           ///< at most 1
};
constexpr std::ptrdiff_t kMostLures = 4;

/// Points that are looked at together or not at all.
constexpr std::ptrdiff_t kStretch = 64;

/// For each lure the sum of min(term, most) over all points, a term being what the lure is at a
/// point: estimated from one stretch of points of every `every`.
///   lanes      f32, sums of up to 64 terms added up in f64
///   accuracy   relative error at most 1e-6 with `every` 1, given d^2
void sums_of_lured(const PointColumns& points, const Lures& lures, std::ptrdiff_t every,
                   const float* most, double* sums);

/// Points that one lure is to choose, or has chosen, and with which chance each.
struct Chosen {
  float rate = 0.0F;
  std::uint32_t offset = 0;
  std::int32_t* points = nullptr;  ///< room for `most` and kStretch more
  float* chances = nullptr;        ///< as many
  std::ptrdiff_t most = 0;
  std::ptrdiff_t count = 0;  ///< more than `most`: there was no room for all, and they are useless
  std::ptrdiff_t sure = 0;   ///< of these, points whose chance was 1
  double expected = 0.0;     ///< how many of those whose chance was less were to be expected
};

/// Each lure chooses each point with a chance of min(1, rate * term): those whose mark, the
/// fraction of (number + 1) * 0.618... + offset / 2^32, is less than that. Fewer than 2^31 points.
/// A lure with a rate of 0 chooses none.
///   lanes      f32 and u32; the same marks with any instruction set
/// What a lure chooses does not depend on the others.
void choose_lured(const PointColumns& points, const Lures& lures, Chosen* chosen);

/// For each of `count` queries (row-major), with K = 2^(-d^2) at a point and w its weight, the sum
/// of w K and that of w (w - 1) K^2. `weights` are padded with zeros to whole vectors.
///   lanes      f32, sums of up to 4,096 terms added up in f64
///   accuracy   relative error at most 1e-5, given d^2
///   range      terms below 2^-126 count as 2^-126
/// A query's result does not depend on the other queries of the call.
void weighted_gaussian_sums(const PointColumns& points, const float* weights, const float* queries,
                            std::ptrdiff_t count, double* sums, double* variances);

}  // namespace rarefy::kernels
