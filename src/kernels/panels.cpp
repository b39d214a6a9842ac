#include "kernels/panels.hpp"

#include <algorithm>
#include <cmath>

#include "core/maths.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/panels.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#ifndef RAREFY_KERNELS_PANELS_TABLES
#define RAREFY_KERNELS_PANELS_TABLES
namespace rarefy::kernels {

struct PanelTables {
  std::array<double, kPanelNodes> nodes{};
  std::array<double, kPanelNodes> scales{};  // 1 / product of the distances to the other nodes
  PanelTables() {
    for (std::ptrdiff_t j = 0; j < kPanelNodes; ++j) {
      const auto i = static_cast<std::size_t>(j);
      const double half_turns = (static_cast<double>(j) + 0.5) / kPanelNodes;
      nodes[i] = -maths::cos_pi(half_turns);
      // The product is the derivative of T_n / 2^(n - 1) at the node, n / sin(angle) but for
      // its sign over 2^(n - 1).
      const double sign = (kPanelNodes - 1 - j) % 2 == 0 ? 1.0 : -1.0;
      scales[i] = sign * std::ldexp(maths::sin_pi(half_turns), kPanelNodes - 1) / kPanelNodes;
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
constexpr std::ptrdiff_t kVectors = kPanelNodes / kLanes;  // of a row of nodes
constexpr bool kManyRegisters = kLanes == 8;

// L_0 to L_15 at a vector of places. The product of the distances to the other nodes, from the
// left and from the right, needs no division and has no trouble at a node.
HWY_INLINE void basis(const PanelTables& tables, Real place, Real* out) {
  const D d;
  Real distance[kPanelNodes];
  Real left = hn::Set(d, 1.0);
  for (std::size_t j = 0; j < kPanelNodes; ++j) {
    distance[j] = hn::Sub(place, hn::Set(d, tables.nodes[j]));
    out[j] = hn::Mul(left, hn::Set(d, tables.scales[j]));
    left = hn::Mul(left, distance[j]);
  }
  Real right = hn::Set(d, 1.0);
  for (std::size_t j = kPanelNodes; j-- > 0;) {
    out[j] = hn::Mul(out[j], right);
    right = hn::Mul(right, distance[j]);
  }
}

// kLanes vectors: lane i of vector j changes places with lane j of vector i.
HWY_INLINE void transpose(Real* v) {
  const D d;
  Real pairs[kLanes];
  for (std::ptrdiff_t i = 0; i < kLanes; i += 2) {
    pairs[i] = hn::InterleaveLower(d, v[i], v[i + 1]);
    pairs[i + 1] = hn::InterleaveUpper(d, v[i], v[i + 1]);
  }
  for (std::ptrdiff_t odd = 0; odd < 2; ++odd) {  // rows 2 b and 2 b + 1: blocks b of these
    const Real* p = pairs + odd;
    if constexpr (kLanes == 8) {
      const Real low_even = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(p[2]), p[0]);
      const Real low_odd = hn::OddEvenBlocks(p[2], hn::SwapAdjacentBlocks(p[0]));
      const Real high_even = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(p[6]), p[4]);
      const Real high_odd = hn::OddEvenBlocks(p[6], hn::SwapAdjacentBlocks(p[4]));
      v[odd] = hn::ConcatLowerLower(d, high_even, low_even);
      v[odd + 2] = hn::ConcatLowerLower(d, high_odd, low_odd);
      v[odd + 4] = hn::ConcatUpperUpper(d, high_even, low_even);
      v[odd + 6] = hn::ConcatUpperUpper(d, high_odd, low_odd);
    } else if constexpr (kLanes == 4) {
      v[odd] = hn::ConcatLowerLower(d, p[2], p[0]);
      v[odd + 2] = hn::ConcatUpperUpper(d, p[2], p[0]);
    } else {
      v[odd] = p[0];
    }
  }
}

// The polynomials at some points: along x node by node, along y point by point.
struct Bases {
  static constexpr std::ptrdiff_t kMost = 64;
  alignas(64) double x[kMost * kPanelNodes];
  alignas(64) double y[kMost * kPanelNodes];

  // L_node(x) of a point, and the others for nodes next to it kLanes further on.
  [[nodiscard]] HWY_INLINE const double* along_x(std::ptrdiff_t point) const {
    return x + point / kLanes * kLanes * kPanelNodes + point % kLanes;
  }
  [[nodiscard]] HWY_INLINE const double* along_y(std::ptrdiff_t point) const {
    return y + point * kPanelNodes;
  }

  template <bool kWeighted>
  HWY_INLINE void fill(const PanelTables& tables, const PanelPoint* points, std::ptrdiff_t count) {
    const D d;
    Real values[kPanelNodes];
    alignas(64) double places_x[kLanes];
    alignas(64) double places_y[kLanes];
    alignas(64) double weights[kLanes];
    for (std::ptrdiff_t first = 0; first < count; first += kLanes) {
      for (std::ptrdiff_t i = 0; i < kLanes; ++i) {
        const PanelPoint& point = points[std::min(first + i, count - 1)];
        places_x[i] = point.x;
        places_y[i] = point.y;
        weights[i] = point.weight;
      }
      basis(tables, hn::Load(d, places_x), values);
      for (std::ptrdiff_t j = 0; j < kPanelNodes; ++j) {
        const Real value = kWeighted ? hn::Mul(values[j], hn::Load(d, weights)) : values[j];
        hn::Store(value, d, x + first * kPanelNodes + j * kLanes);
      }
      basis(tables, hn::Load(d, places_y), values);
      for (std::ptrdiff_t v = 0; v < kVectors; ++v) {
        transpose(values + v * kLanes);
        for (std::ptrdiff_t i = 0; i < kLanes; ++i) {
          hn::Store(values[v * kLanes + i], d, y + (first + i) * kPanelNodes + v * kLanes);
        }
      }
    }
  }
};

// Adds the points [begin, end), all of one panel, to its block, as many rows at a time as there
// are registers for.
HWY_INLINE void add_to_block(const Bases& bases, std::ptrdiff_t begin, std::ptrdiff_t end,
                             double* HWY_RESTRICT block) {
  const D d;
  constexpr std::ptrdiff_t kTile = kManyRegisters ? 8 : kLanes / 2;
  for (std::ptrdiff_t row = 0; row < kPanelNodes; row += kTile) {
    double* out = block + row * kPanelNodes;
    Real sums[kTile * kVectors];
    for (std::ptrdiff_t i = 0; i < kTile * kVectors; ++i) sums[i] = hn::LoadU(d, out + i * kLanes);
    for (std::ptrdiff_t p = begin; p < end; ++p) {
      const double* factors = bases.along_x(p) + row * kLanes;
      Real along_y[kVectors];
      for (std::ptrdiff_t v = 0; v < kVectors; ++v) {
        along_y[v] = hn::Load(d, bases.along_y(p) + v * kLanes);
      }
      for (std::ptrdiff_t r = 0; r < kTile; ++r) {
        const Real factor = hn::Set(d, factors[r * kLanes]);
        for (std::ptrdiff_t v = 0; v < kVectors; ++v) {
          sums[r * kVectors + v] = hn::MulAdd(factor, along_y[v], sums[r * kVectors + v]);
        }
      }
    }
    for (std::ptrdiff_t i = 0; i < kTile * kVectors; ++i) hn::StoreU(sums[i], d, out + i * kLanes);
  }
}

// R rows of a product, two vectors wide.
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

// Sums and differences of four; twice the same gives four times what there was.
HWY_INLINE void sums_and_differences(Real* f) {
  const Real even = hn::Add(f[0], f[1]);
  const Real odd = hn::Sub(f[0], f[1]);
  const Real mirrored_even = hn::Add(f[2], f[3]);
  const Real mirrored_odd = hn::Sub(f[2], f[3]);
  f[0] = hn::Add(even, mirrored_even);
  f[1] = hn::Add(odd, mirrored_odd);
  f[2] = hn::Sub(even, mirrored_even);
  f[3] = hn::Sub(odd, mirrored_odd);
}

// Where in a panel, and in its images, the vector of node j along x is, and nodes k on along y.
struct Images {
  std::array<std::ptrdiff_t, 4> at;
  HWY_INLINE Images(std::ptrdiff_t j, std::ptrdiff_t k) {
    const std::ptrdiff_t row = j * kPanelNodes;
    const std::ptrdiff_t opposite = (kPanelNodes - 1 - j) * kPanelNodes;
    const std::ptrdiff_t back = kPanelNodes - kLanes - k;
    at = {row + k, row + back, opposite + k, opposite + back};
  }
};

}  // namespace

void PanelDeposits(const PanelPoint* points, std::ptrdiff_t count, double* values) {
  const PanelTables& tables = panel_tables();
  Bases bases;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled before it is read
  for (std::ptrdiff_t first = 0; first < count; first += Bases::kMost) {
    const std::ptrdiff_t some = std::min(Bases::kMost, count - first);
    bases.fill<true>(tables, points + first, some);
    for (std::ptrdiff_t begin = 0; begin < some;) {
      const std::ptrdiff_t offset = points[first + begin].offset;
      std::ptrdiff_t end = begin + 1;
      while (end < some && points[first + end].offset == offset) ++end;
      add_to_block(bases, begin, end, values + offset);
      begin = end;
    }
  }
}

void PanelValues(const PanelPoint* points, std::ptrdiff_t count, const double* values,
                 double* out) {
  const D d;
  const PanelTables& tables = panel_tables();
  Bases bases;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled before it is read
  for (std::ptrdiff_t first = 0; first < count; first += Bases::kMost) {
    const std::ptrdiff_t some = std::min(Bases::kMost, count - first);
    bases.fill<false>(tables, points + first, some);
    for (std::ptrdiff_t p = 0; p < some; ++p) {
      Real column[kVectors];
      for (Real& sums : column) sums = hn::Zero(d);
      const double* in = values + points[first + p].offset;
      const double* factors = bases.along_x(p);
      for (std::ptrdiff_t j = 0; j < kPanelNodes; ++j, in += kPanelNodes) {
        const Real factor = hn::Set(d, factors[j * kLanes]);
        for (std::ptrdiff_t v = 0; v < kVectors; ++v) {
          column[v] = hn::MulAdd(factor, hn::LoadU(d, in + v * kLanes), column[v]);
        }
      }
      Real sum = hn::Zero(d);
      for (std::ptrdiff_t v = 0; v < kVectors; ++v) {
        sum = hn::MulAdd(column[v], hn::Load(d, bases.along_y(p) + v * kLanes), sum);
      }
      out[first + p] = hn::GetLane(hn::SumOfLanes(d, sum));
    }
  }
}

void PanelProduct(const double* a, std::ptrdiff_t a_stride, std::ptrdiff_t inner, const double* b,
                  std::ptrdiff_t b_stride, std::ptrdiff_t columns, double* c,
                  std::ptrdiff_t c_stride) {
  constexpr int kRows = kManyRegisters ? 8 : 4;
  static_assert(kProductRows % kRows == 0 && kPanelNodes % (2 * kLanes) == 0);
  for (std::ptrdiff_t at = 0; at < columns; at += 2 * kLanes) {
    for (std::ptrdiff_t row = 0; row < kProductRows; row += kRows) {
      product_rows<kRows>(a + row * a_stride, a_stride, inner, b + at, b_stride,
                          c + row * c_stride + at, c_stride);
    }
  }
}

void FoldPanels(const Four<const double>& panels, const Four<double>& parts,
                std::ptrdiff_t stride) {
  const D d;
  for (std::ptrdiff_t j = 0; j < kPanelNodes; ++j) {
    for (std::ptrdiff_t k = 0; k < kPanelNodes; k += kLanes) {
      const Images images(j, k);
      Real f[4];
      for (std::size_t i = 0; i < 4; ++i) {
        f[i] = hn::LoadU(d, panels[i] + images.at[i]);
        if (i % 2 == 1) f[i] = hn::Reverse(d, f[i]);
      }
      sums_and_differences(f);
      for (std::size_t i = 0; i < 4; ++i) hn::StoreU(f[i], d, parts[i] + j * stride + k);
    }
  }
}

double UnfoldPanels(const Four<const double>& parts, std::ptrdiff_t row,
                    const Four<double>& panels) {
  const D d;
  Real greatest = hn::Zero(d);
  for (std::ptrdiff_t j = 0; j < kProductRows; ++j) {
    for (std::ptrdiff_t k = 0; k < kPanelNodes; k += kLanes) {
      const Images images(row + j, k);
      Real f[4];
      for (std::size_t i = 0; i < 4; ++i) f[i] = hn::LoadU(d, parts[i] + j * kPanelNodes + k);
      sums_and_differences(f);
      for (std::size_t i = 0; i < 4; ++i) {
        greatest = hn::Max(greatest, f[i]);
        if (i % 2 == 1) f[i] = hn::Reverse(d, f[i]);
        hn::StoreU(f[i], d, panels[i] + images.at[i]);
      }
    }
  }
  return hn::GetLane(hn::MaxOfLanes(d, greatest));
}

}  // namespace rarefy::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rarefy::kernels {

const std::array<double, kPanelNodes>& panel_nodes() { return panel_tables().nodes; }

HWY_EXPORT(PanelDeposits);
void panel_deposits(const PanelPoint* points, std::ptrdiff_t count, double* values) {
  HWY_DYNAMIC_DISPATCH(PanelDeposits)(points, count, values);
}

HWY_EXPORT(PanelValues);
void panel_values(const PanelPoint* points, std::ptrdiff_t count, const double* values,
                  double* out) {
  HWY_DYNAMIC_DISPATCH(PanelValues)(points, count, values, out);
}

HWY_EXPORT(PanelProduct);
void panel_product(const double* a, std::ptrdiff_t a_stride, std::ptrdiff_t inner, const double* b,
                   std::ptrdiff_t b_stride, std::ptrdiff_t columns, double* c,
                   std::ptrdiff_t c_stride) {
  HWY_DYNAMIC_DISPATCH(PanelProduct)(a, a_stride, inner, b, b_stride, columns, c, c_stride);
}

HWY_EXPORT(FoldPanels);
void fold_panels(const Four<const double>& panels, const Four<double>& parts,
                 std::ptrdiff_t stride) {
  HWY_DYNAMIC_DISPATCH(FoldPanels)(panels, parts, stride);
}

HWY_EXPORT(UnfoldPanels);
double unfold_panels(const Four<const double>& parts, std::ptrdiff_t row,
                     const Four<double>& panels) {
  return HWY_DYNAMIC_DISPATCH(UnfoldPanels)(parts, row, panels);
}

}  // namespace rarefy::kernels
#endif
