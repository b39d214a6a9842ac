// Squared distances to points in columns. Included once for each instruction set, as Highway's own
// headers are.
#if defined(RAREFY_KERNELS_SQUARED_DISTANCES_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef RAREFY_KERNELS_SQUARED_DISTANCES_INL_HPP_
#undef RAREFY_KERNELS_SQUARED_DISTANCES_INL_HPP_
#else
#define RAREFY_KERNELS_SQUARED_DISTANCES_INL_HPP_
#endif

#include <hwy/highway.h>

#include <cstddef>

#include "kernels/kernel_sums.hpp"

HWY_BEFORE_NAMESPACE();
namespace rarefy::kernels::HWY_NAMESPACE {
namespace {

// From kQueries queries to the vector of points that begins at `at`. kDims 0: as many dimensions as
// `dims` says.
template <int kQueries, int kDims>
HWY_INLINE void squared_distances(
    const PointColumns& points, std::ptrdiff_t at, const float* queries, std::ptrdiff_t dims,
    hwy::HWY_NAMESPACE::Vec<hwy::HWY_NAMESPACE::ScalableTag<float>>* out) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  const auto count = kDims > 0 ? kDims : dims;
  const auto first = hn::LoadU(d, points.column(0) + at);
  for (int q = 0; q < kQueries; ++q) {
    const auto difference = hn::Sub(first, hn::Set(d, queries[q * count]));
    out[q] = hn::Mul(difference, difference);
  }
  for (std::ptrdiff_t j = 1; j < count; ++j) {
    const auto column = hn::LoadU(d, points.column(j) + at);
    for (int q = 0; q < kQueries; ++q) {
      const auto difference = hn::Sub(column, hn::Set(d, queries[q * count + j]));
      out[q] = hn::MulAdd(difference, difference, out[q]);
    }
  }
}

}  // namespace
}  // namespace rarefy::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // once for each instruction set
