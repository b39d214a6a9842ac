#include "kernels/nearest.hpp"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/nearest.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rarefy::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<double>;

constexpr int kBlock = 8;  // queries that share the loads of a point

template <int kQueries>
void nearest_block(const double* columns, std::ptrdiff_t stride, std::ptrdiff_t count,
                   const double* queries, std::ptrdiff_t dims, std::ptrdiff_t* out) {
  const D d;
  using Real = hn::Vec<D>;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  Real best[kQueries];
  Real where[kQueries];  // point numbers as doubles, exact up to 2^53
  for (int q = 0; q < kQueries; ++q) {
    best[q] = hn::Set(d, std::numeric_limits<double>::infinity());
    where[q] = hn::Zero(d);
  }
  Real number = hn::Iota(d, 0.0);
  const Real step = hn::Set(d, static_cast<double>(lanes));
  for (std::ptrdiff_t at = 0; at < count; at += lanes) {
    Real distance[kQueries];
    const Real half_norm = hn::LoadU(d, columns + dims * stride + at);
    for (int q = 0; q < kQueries; ++q) distance[q] = half_norm;
    for (std::ptrdiff_t j = 0; j < dims; ++j) {
      const Real column = hn::LoadU(d, columns + j * stride + at);
      for (int q = 0; q < kQueries; ++q) {
        distance[q] = hn::NegMulAdd(column, hn::Set(d, queries[q * dims + j]), distance[q]);
      }
    }
    for (int q = 0; q < kQueries; ++q) {
      const auto closer = hn::Lt(distance[q], best[q]);
      best[q] = hn::IfThenElse(closer, distance[q], best[q]);
      where[q] = hn::IfThenElse(closer, number, where[q]);
    }
    number = hn::Add(number, step);
  }
  for (int q = 0; q < kQueries; ++q) {
    const Real least = hn::MinOfLanes(d, best[q]);
    const auto tied = hn::Eq(best[q], least);
    const Real first = hn::MinOfLanes(
        d, hn::IfThenElse(tied, where[q], hn::Set(d, std::numeric_limits<double>::max())));
    out[q] = static_cast<std::ptrdiff_t>(hn::GetLane(first));
  }
}

}  // namespace

void NearestPoints(const double* columns, std::ptrdiff_t stride, std::ptrdiff_t count,
                   const double* queries, std::ptrdiff_t query_count, std::ptrdiff_t dims,
                   std::ptrdiff_t* out) {
  std::ptrdiff_t i = 0;
  for (; i + kBlock <= query_count; i += kBlock) {
    nearest_block<kBlock>(columns, stride, count, queries + i * dims, dims, out + i);
  }
  for (; i < query_count; ++i) {
    nearest_block<1>(columns, stride, count, queries + i * dims, dims, out + i);
  }
}

}  // namespace rarefy::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rarefy::kernels {
HWY_EXPORT(NearestPoints);

void nearest_points(const double* columns, std::ptrdiff_t stride, std::ptrdiff_t count,
                    const double* queries, std::ptrdiff_t query_count, std::ptrdiff_t dims,
                    std::ptrdiff_t* out) {
  HWY_DYNAMIC_DISPATCH(NearestPoints)(columns, stride, count, queries, query_count, dims, out);
}
}  // namespace rarefy::kernels
#endif
