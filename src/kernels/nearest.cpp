#include "kernels/nearest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/nearest.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#ifndef RAREFY_KERNELS_NEAREST_BLOCK
#define RAREFY_KERNELS_NEAREST_BLOCK
namespace rarefy::kernels {
constexpr std::ptrdiff_t kPointsInABlock = 128;  // that are looked at again together
}
#endif

HWY_BEFORE_NAMESPACE();
namespace rarefy::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int kQueries = 8;            // that share the loads of a point
constexpr std::ptrdiff_t kMost = 512;  // blocks whose least values are kept

// |p|^2 / 2 - q.p for a vector of points and Q queries.
template <int Q, typename D, typename T = hn::TFromD<D>>
HWY_INLINE void compared(D d, const T* columns, std::ptrdiff_t stride, std::ptrdiff_t dims,
                         std::ptrdiff_t at, const T* queries, hn::Vec<D>* out) {
  const auto half_norm = hn::LoadU(d, columns + dims * stride + at);
  for (int q = 0; q < Q; ++q) out[q] = half_norm;
  for (std::ptrdiff_t j = 0; j < dims; ++j) {
    const auto column = hn::LoadU(d, columns + j * stride + at);
    for (int q = 0; q < Q; ++q) {
      out[q] = hn::NegMulAdd(column, hn::Set(d, queries[q * dims + j]), out[q]);
    }
  }
}

// least[q * kMost + b] = the least value in block first_block + b.
template <int Q>
HWY_INLINE void least_of_blocks(const PointTable& points, std::ptrdiff_t first_block,
                                std::ptrdiff_t blocks, const float* queries, float* least) {
  const hn::ScalableTag<float> d;
  using Real = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  for (std::ptrdiff_t b = 0; b < blocks; ++b) {
    const std::ptrdiff_t start = (first_block + b) * kPointsInABlock;
    Real best[Q];
    for (int q = 0; q < Q; ++q) best[q] = hn::Set(d, std::numeric_limits<float>::infinity());
    for (std::ptrdiff_t at = start; at < start + kPointsInABlock; at += lanes) {
      Real value[Q];
      compared<Q>(d, points.floats(), points.stride(), points.dims(), at, queries, value);
      for (int q = 0; q < Q; ++q) best[q] = hn::Min(best[q], value[q]);
    }
    for (int q = 0; q < Q; ++q) least[q * kMost + b] = hn::GetLane(hn::MinOfLanes(d, best[q]));
  }
}

struct Found {
  double value;
  std::ptrdiff_t number;
};

// The nearest in a block, in double precision.
HWY_INLINE Found nearest_in_block(const PointTable& points, std::ptrdiff_t block,
                                  const double* query) {
  const hn::CappedTag<double, 8> d;
  using Real = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  const std::ptrdiff_t start = block * kPointsInABlock;
  Real best = hn::Set(d, std::numeric_limits<double>::infinity());
  Real where = hn::Set(d, static_cast<double>(start));  // exact up to 2^53
  Real number = hn::Iota(d, static_cast<double>(start));
  const Real step = hn::Set(d, static_cast<double>(lanes));
  for (std::ptrdiff_t at = start; at < start + kPointsInABlock; at += lanes) {
    Real value;
    compared<1>(d, points.doubles(), points.stride(), points.dims(), at, query, &value);
    const auto closer = hn::Lt(value, best);
    best = hn::IfThenElse(closer, value, best);
    where = hn::IfThenElse(closer, number, where);
    number = hn::Add(number, step);
  }
  const Real least = hn::MinOfLanes(d, best);
  const Real first = hn::MinOfLanes(
      d,
      hn::IfThenElse(hn::Eq(best, least), where, hn::Set(d, std::numeric_limits<double>::max())));
  return {hn::GetLane(least), static_cast<std::ptrdiff_t>(hn::GetLane(first))};
}

// How far a value in single precision may be off: coordinates, products and sums are each
// rounded to 2^-24.
double error_of(const PointTable& points, const double* query) {
  double squared = 0.0;
  for (std::ptrdiff_t j = 0; j < points.dims(); ++j) squared += query[j] * query[j];
  const double size = points.largest() * (std::sqrt(squared) + 0.5 * points.largest());
  // Where single precision overflows or underflows, it says nothing.
  if (!(size > 1e-30 && size < 1e36)) return std::numeric_limits<double>::infinity();
  return static_cast<double>(points.dims() + 8) * 0x1p-24 * size;
}

// Up to kQueries queries.
template <int Q>
void nearest_of(const PointTable& points, const double* queries, std::ptrdiff_t* out,
                float* rounded, float* least) {
  for (std::ptrdiff_t k = 0; k < Q * points.dims(); ++k)
    rounded[k] = static_cast<float>(queries[k]);
  const std::ptrdiff_t blocks = points.stride() / kPointsInABlock;
  Found found[Q];
  for (int q = 0; q < Q; ++q) found[q] = {std::numeric_limits<double>::infinity(), 0};
  for (std::ptrdiff_t first = 0; first < blocks; first += kMost) {
    const std::ptrdiff_t some = std::min(kMost, blocks - first);
    least_of_blocks<Q>(points, first, some, rounded, least);
    for (int q = 0; q < Q; ++q) {
      const double* query = queries + q * points.dims();
      const float* values = least + q * kMost;
      const double error = error_of(points, query);
      const double best = std::min(static_cast<double>(*std::min_element(values, values + some)),
                                   found[q].value + error);
      for (std::ptrdiff_t b = 0; b < some; ++b) {
        if (static_cast<double>(values[b]) > best + 2.0 * error) continue;  // NaN is looked at
        const Found in_block = nearest_in_block(points, first + b, query);
        if (in_block.value < found[q].value) found[q] = in_block;
      }
    }
  }
  for (int q = 0; q < Q; ++q) out[q] = found[q].number;
}

}  // namespace

void NearestPoints(const PointTable& points, const double* queries, std::ptrdiff_t query_count,
                   std::ptrdiff_t* out) {
  constexpr std::ptrdiff_t kOnStack = 4096;
  float least[kQueries * kMost];
  float on_stack[kOnStack];
  std::vector<float> on_heap;
  float* rounded = on_stack;
  if (kQueries * points.dims() > kOnStack) {
    on_heap.resize(static_cast<std::size_t>(kQueries * points.dims()));
    rounded = on_heap.data();
  }
  std::ptrdiff_t i = 0;
  for (; i + kQueries <= query_count; i += kQueries) {
    nearest_of<kQueries>(points, queries + i * points.dims(), out + i, rounded, least);
  }
  for (; i < query_count; ++i) {
    nearest_of<1>(points, queries + i * points.dims(), out + i, rounded, least);
  }
}

}  // namespace rarefy::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rarefy::kernels {
HWY_EXPORT(NearestPoints);

PointTable::PointTable(const double* rows, std::ptrdiff_t count, std::ptrdiff_t dims)
    : count_(count),
      dims_(dims),
      stride_((count + kPointsInABlock - 1) / kPointsInABlock * kPointsInABlock),
      doubles_(static_cast<std::size_t>((dims + 1) * stride_), 0.0) {
  double* half_norms = doubles_.data() + dims * stride_;
  std::fill_n(half_norms, stride_, std::numeric_limits<double>::infinity());
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    long double squared = 0.0;  // rounded once, at the end
    for (std::ptrdiff_t d = 0; d < dims; ++d) {
      const double value = rows[i * dims + d];
      doubles_[static_cast<std::size_t>(d * stride_ + i)] = value;
      squared += static_cast<long double>(value) * value;
    }
    half_norms[i] = static_cast<double>(0.5L * squared);
    largest_ = std::max(largest_, std::sqrt(2.0 * half_norms[i]));
  }
  floats_.assign(doubles_.begin(), doubles_.end());
}

void nearest_points(const PointTable& points, const double* queries, std::ptrdiff_t query_count,
                    std::ptrdiff_t* out) {
  HWY_DYNAMIC_DISPATCH(NearestPoints)(points, queries, query_count, out);
}
}  // namespace rarefy::kernels
#endif
