#include "kernels/kernel_sums.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/kernel_sums.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/exp2-inl.hpp"
#include "kernels/squared_distances-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace rarefy::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using Real = hn::Vec<D>;

HWY_INLINE Real real(float value) { return hn::Set(D(), value); }

struct Gaussian {
  static HWY_INLINE Real value(Real squared) { return exp2_of_minus(squared); }
};
struct Triangular {
  // 1 - d = (1 - d^2) / (1 + d), which does not cancel near the edge.
  static HWY_INLINE Real value(Real squared) {
    const Real above = hn::Max(hn::Sub(real(1.0F), squared), hn::Zero(D()));
    return hn::Div(above, hn::Add(real(1.0F), hn::Sqrt(squared)));
  }
};
struct Epanechnikov {
  static HWY_INLINE Real value(Real squared) {
    return hn::Max(hn::Sub(real(1.0F), squared), hn::Zero(D()));
  }
};

constexpr std::ptrdiff_t kChunk = 256;  // points whose terms are added up in single precision

template <typename Kernel, int kQueries, int kDims>
void sum_block(const PointColumns& points, const float* queries, double* out) {
  const D d;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  double total[kQueries] = {};
  for (std::ptrdiff_t start = 0; start < points.count(); start += kChunk) {
    const auto end = std::min(start + kChunk, points.count());
    Real sum[kQueries];
    for (int q = 0; q < kQueries; ++q) sum[q] = hn::Zero(d);
    for (std::ptrdiff_t at = start; at < end; at += lanes) {
      Real squared[kQueries];
      squared_distances<kQueries, kDims>(points, at, queries, points.dims(), squared);
      for (int q = 0; q < kQueries; ++q) {
        sum[q] = hn::Add(sum[q], Kernel::value(squared[q]));
      }
    }
    for (int q = 0; q < kQueries; ++q) {
      total[q] += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, sum[q])));
    }
  }
  for (int q = 0; q < kQueries; ++q) out[q] = total[q];
}

template <typename Kernel, int kDims>
void sum_all(const PointColumns& points, const float* queries, std::ptrdiff_t count, double* out) {
  constexpr int kBlock = 4;
  std::ptrdiff_t i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    sum_block<Kernel, kBlock, kDims>(points, queries + i * points.dims(), out + i);
  }
  for (; i < count; ++i) {
    sum_block<Kernel, 1, kDims>(points, queries + i * points.dims(), out + i);
  }
}

template <typename Kernel>
void sum_any(const PointColumns& points, const float* queries, std::ptrdiff_t count, double* out) {
  switch (points.dims()) {
    case 1: return sum_all<Kernel, 1>(points, queries, count, out);
    case 2: return sum_all<Kernel, 2>(points, queries, count, out);
    case 3: return sum_all<Kernel, 3>(points, queries, count, out);
    default: return sum_all<Kernel, 0>(points, queries, count, out);
  }
}

}  // namespace

void GaussianSums(const PointColumns& points, const float* queries, std::ptrdiff_t count,
                  double* out) {
  sum_any<Gaussian>(points, queries, count, out);
}
void TriangularSums(const PointColumns& points, const float* queries, std::ptrdiff_t count,
                    double* out) {
  sum_any<Triangular>(points, queries, count, out);
}
void EpanechnikovSums(const PointColumns& points, const float* queries, std::ptrdiff_t count,
                      double* out) {
  sum_any<Epanechnikov>(points, queries, count, out);
}

}  // namespace rarefy::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rarefy::kernels {
HWY_EXPORT(GaussianSums);
HWY_EXPORT(TriangularSums);
HWY_EXPORT(EpanechnikovSums);

namespace {
constexpr std::size_t kPadding = 64;  // floats: the longest vector any target has
}

void PointColumns::reserve(std::ptrdiff_t count) {
  for (auto& column : columns_) column.reserve(static_cast<std::size_t>(count) + kPadding);
}

void PointColumns::resize(std::ptrdiff_t count) {
  for (auto& column : columns_) {
    column.resize(static_cast<std::size_t>(std::min(count, count_)));
    column.resize(static_cast<std::size_t>(count) + kPadding, kFarAway);
  }
  count_ = count;
}

void gaussian_sums(const PointColumns& points, const float* queries, std::ptrdiff_t count,
                   double* out) {
  HWY_DYNAMIC_DISPATCH(GaussianSums)(points, queries, count, out);
}
void triangular_sums(const PointColumns& points, const float* queries, std::ptrdiff_t count,
                     double* out) {
  HWY_DYNAMIC_DISPATCH(TriangularSums)(points, queries, count, out);
}
void epanechnikov_sums(const PointColumns& points, const float* queries, std::ptrdiff_t count,
                       double* out) {
  HWY_DYNAMIC_DISPATCH(EpanechnikovSums)(points, queries, count, out);
}
}  // namespace rarefy::kernels
#endif
