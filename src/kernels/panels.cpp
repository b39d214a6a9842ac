#include "kernels/panels.hpp"

#include <cmath>
#include <numbers>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/panels.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#ifndef RAREFY_KERNELS_PANELS_TABLES
#define RAREFY_KERNELS_PANELS_TABLES
namespace rarefy::kernels {

struct PanelTables {
  std::array<double, kPanelNodes> nodes{};
  alignas(64) std::array<double, kPanelWidth> places{};   // the nodes, and beyond them others
  alignas(64) std::array<double, kPanelWidth> weights{};  // barycentric; 0 beyond the nodes
  PanelTables() {
    for (std::ptrdiff_t j = 0; j < kPanelWidth; ++j) {
      const auto i = static_cast<std::size_t>(j);
      const double angle = (static_cast<double>(j) + 0.5) * std::numbers::pi / kPanelNodes;
      if (j < kPanelNodes) {
        nodes[i] = places[i] = -std::cos(angle);
        weights[i] = (j % 2 == 0 ? 1.0 : -1.0) * std::sin(angle);
      } else {
        places[i] = 8.0;  // no point is there
      }
    }
  }
};
inline const PanelTables& panel_tables() {
  static const PanelTables tables;
  return tables;
}

}  // namespace rarefy::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace rarefy::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<double, 8>;
using Real = hn::Vec<D>;

constexpr std::ptrdiff_t kLanes = static_cast<std::ptrdiff_t>(hn::MaxLanes(D()));
constexpr std::ptrdiff_t kVectors = kPanelWidth / kLanes;

// L_0 to L_13 at t: the second barycentric formula (J.-P. Berrut and L. N. Trefethen,
// "Barycentric Lagrange interpolation", SIAM Review 46(3), 2004, eq. 4.2 and 5.3), which stays
// accurate however close to a node t is; at a node it would divide by 0.
HWY_INLINE void basis(const PanelTables& tables, double t, double* HWY_RESTRICT out) {
  const D d;
  Real quotient[kVectors];
  Real total = hn::Zero(d);
  Real closest = hn::Set(d, 1.0);
  const Real place = hn::Set(d, t);
  for (std::ptrdiff_t v = 0; v < kVectors; ++v) {
    const Real difference = hn::Sub(place, hn::Load(d, tables.places.data() + v * kLanes));
    closest = hn::Min(closest, hn::Abs(difference));
    quotient[v] = hn::Div(hn::Load(d, tables.weights.data() + v * kLanes), difference);
    total = hn::Add(total, quotient[v]);
  }
  if (HWY_UNLIKELY(hn::GetLane(hn::MinOfLanes(d, closest)) == 0.0)) {
    for (std::ptrdiff_t j = 0; j < kPanelWidth; ++j) {
      out[j] = t == tables.places[static_cast<std::size_t>(j)] ? 1.0 : 0.0;
    }
    return;
  }
  const Real scale = hn::Div(hn::Set(d, 1.0), hn::SumOfLanes(d, total));
  for (std::ptrdiff_t v = 0; v < kVectors; ++v) {
    hn::Store(hn::Mul(quotient[v], scale), d, out + v * kLanes);
  }
}

// R rows of a product, two vectors wide. Seven rows keep fourteen sums in registers.
template <int R>
HWY_INLINE void product_rows(const double* HWY_RESTRICT a, std::ptrdiff_t a_stride,
                             std::ptrdiff_t inner, const double* HWY_RESTRICT b,
                             std::ptrdiff_t b_stride, double* HWY_RESTRICT c,
                             std::ptrdiff_t c_stride) {
  const D d;
  Real left[R];
  Real right[R];
  for (int r = 0; r < R; ++r) left[r] = right[r] = hn::Zero(d);
  for (std::ptrdiff_t k = 0; k < inner; ++k) {
    const Real first = hn::LoadU(d, b + k * b_stride);
    const Real second = hn::LoadU(d, b + k * b_stride + kLanes);
    for (int r = 0; r < R; ++r) {
      const Real factor = hn::Set(d, a[r * a_stride + k]);
      left[r] = hn::MulAdd(factor, first, left[r]);
      right[r] = hn::MulAdd(factor, second, right[r]);
    }
  }
  for (int r = 0; r < R; ++r) {
    hn::StoreU(left[r], d, c + r * c_stride);
    hn::StoreU(right[r], d, c + r * c_stride + kLanes);
  }
}

}  // namespace

void PanelDeposits(const PanelPoint* points, std::ptrdiff_t count, double* values,
                   std::ptrdiff_t stride) {
  const D d;
  const PanelTables& tables = panel_tables();
  alignas(64) double along_x[kPanelWidth];
  alignas(64) double along_y[kPanelWidth];
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    basis(tables, points[i].x, along_x);
    basis(tables, points[i].y, along_y);
    Real row[kVectors];
    for (std::ptrdiff_t v = 0; v < kVectors; ++v) row[v] = hn::Load(d, along_y + v * kLanes);
    double* out = values + points[i].offset;
    for (std::ptrdiff_t j = 0; j < kPanelNodes; ++j, out += stride) {
      const Real factor = hn::Set(d, points[i].weight * along_x[j]);
      for (std::ptrdiff_t v = 0; v < kVectors; ++v) {
        hn::StoreU(hn::MulAdd(factor, row[v], hn::LoadU(d, out + v * kLanes)), d, out + v * kLanes);
      }
    }
  }
}

void PanelValues(const PanelPoint* points, std::ptrdiff_t count, const double* values,
                 std::ptrdiff_t stride, double* out) {
  const D d;
  const PanelTables& tables = panel_tables();
  alignas(64) double along_x[kPanelWidth];
  alignas(64) double along_y[kPanelWidth];
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    basis(tables, points[i].x, along_x);
    basis(tables, points[i].y, along_y);
    Real column[kVectors];
    for (Real& sums : column) sums = hn::Zero(d);
    const double* in = values + points[i].offset;
    for (std::ptrdiff_t j = 0; j < kPanelNodes; ++j, in += stride) {
      const Real factor = hn::Set(d, along_x[j]);
      for (std::ptrdiff_t v = 0; v < kVectors; ++v) {
        column[v] = hn::MulAdd(factor, hn::LoadU(d, in + v * kLanes), column[v]);
      }
    }
    Real sum = hn::Zero(d);
    for (std::ptrdiff_t v = 0; v < kVectors; ++v) {
      sum = hn::MulAdd(column[v], hn::Load(d, along_y + v * kLanes), sum);
    }
    out[i] = hn::GetLane(hn::SumOfLanes(d, sum));
  }
}

void PanelProduct(const double* a, std::ptrdiff_t a_stride, std::ptrdiff_t inner, const double* b,
                  std::ptrdiff_t b_stride, std::ptrdiff_t columns, double* c,
                  std::ptrdiff_t c_stride) {
  static_assert(kPanelNodes == 14 && kPanelWidth % (2 * kLanes) == 0);
  for (std::ptrdiff_t at = 0; at < columns; at += 2 * kLanes) {
    product_rows<7>(a, a_stride, inner, b + at, b_stride, c + at, c_stride);
    product_rows<7>(a + 7 * a_stride, a_stride, inner, b + at, b_stride, c + 7 * c_stride + at,
                    c_stride);
  }
}

}  // namespace rarefy::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rarefy::kernels {

const std::array<double, kPanelNodes>& panel_nodes() { return panel_tables().nodes; }

HWY_EXPORT(PanelDeposits);
void panel_deposits(const PanelPoint* points, std::ptrdiff_t count, double* values,
                    std::ptrdiff_t stride) {
  HWY_DYNAMIC_DISPATCH(PanelDeposits)(points, count, values, stride);
}

HWY_EXPORT(PanelValues);
void panel_values(const PanelPoint* points, std::ptrdiff_t count, const double* values,
                  std::ptrdiff_t stride, double* out) {
  HWY_DYNAMIC_DISPATCH(PanelValues)(points, count, values, stride, out);
}

HWY_EXPORT(PanelProduct);
void panel_product(const double* a, std::ptrdiff_t a_stride, std::ptrdiff_t inner, const double* b,
                   std::ptrdiff_t b_stride, std::ptrdiff_t columns, double* c,
                   std::ptrdiff_t c_stride) {
  HWY_DYNAMIC_DISPATCH(PanelProduct)(a, a_stride, inner, b, b_stride, columns, c, c_stride);
}

}  // namespace rarefy::kernels
#endif
