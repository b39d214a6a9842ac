#include "kernels/distances.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/distances.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rarefy::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<double, 8>;
using Real = hn::Vec<D>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::ptrdiff_t lanes() { return static_cast<std::ptrdiff_t>(hn::Lanes(D())); }

std::uint32_t mask_bits(hn::Mask<D> mask) {
  std::uint8_t bytes[8] = {};  // the least that StoreMaskBits writes to
  hn::StoreMaskBits(D(), mask, bytes);
  return bytes[0];
}

// (a - b)^2 added to a sum, without fusing.
Real add_square(Real difference, Real sum) { return hn::Add(sum, hn::Mul(difference, difference)); }

// How far `q` lies outside [low, high].
Real outside(Real low, Real high, Real q) {
  return hn::Max(hn::Max(hn::Sub(low, q), hn::Sub(q, high)), hn::Zero(D()));
}

// Squared distances of one vector of points, starting at `column`.
Real squared_distances(const double* column, const double* query, std::ptrdiff_t dims) {
  const D d;
  Real sum = hn::Zero(d);
  for (std::ptrdiff_t j = 0; j < dims; ++j) {
    const Real x = hn::LoadU(d, column + j * kPointsPerBlock);
    sum = add_square(hn::Sub(hn::Set(d, query[j]), x), sum);
  }
  return sum;
}

// Values >= 0 as integers in the same order: their bits. Integers are quicker to tell apart.
std::int64_t rank_of(double value) { return std::bit_cast<std::int64_t>(value); }

// Copies the values below `limit` to `out`, which may lie at or before them. There are
// instructions that do this for a vector; they are slow on some processors.
double* copy_below(const double* values, std::ptrdiff_t count, std::int64_t limit, double* out) {
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const auto rank = rank_of(values[i]);
    *out = std::bit_cast<double>(rank);
    out += rank < limit ? 1 : 0;
  }
  return out;
}

double* append_below(Real values, double limit, double* out) {
  HWY_ALIGN double lane[hn::MaxLanes(D())];
  hn::Store(values, D(), lane);
  return copy_below(lane, lanes(), rank_of(limit), out);
}

// A block is first looked at with fused operations, which are fewer. They round differently, so
// the limit is loosened by more than the difference: each sum is within dims + 2 roundings of
// the exact one, and squares below 1e-300 may be lost. What passes is computed again.
double loosened(double limit, std::ptrdiff_t dims) {
  return limit * (1.0 + static_cast<double>(dims + 2) * 0x1p-50) + 1e-300;
}

// The same for few dimensions, where looking twice does not pay.
double* scan_few(const double* block, const double* query, std::ptrdiff_t dims, double limit,
                 double* out) {
  const D d;
  for (std::ptrdiff_t i = 0; i < kPointsPerBlock; i += lanes()) {
    const Real sum = squared_distances(block + i, query, dims);
    if (hn::AllFalse(d, hn::Lt(sum, hn::Set(d, limit)))) continue;
    out = append_below(sum, limit, out);
  }
  return out;
}

template <int kVectors>
double* scan_points(const double* block, const double* query, std::ptrdiff_t dims, double limit,
                    double loose_limit, double* out) {
  const D d;
  Real sum[kVectors];
  for (int v = 0; v < kVectors; ++v) sum[v] = hn::Zero(d);
  for (std::ptrdiff_t j = 0; j < dims; ++j) {
    const Real q = hn::Set(d, query[j]);
    for (int v = 0; v < kVectors; ++v) {
      const Real x = hn::LoadU(d, block + j * kPointsPerBlock + v * lanes());
      const Real difference = hn::Sub(q, x);
      sum[v] = hn::MulAdd(difference, difference, sum[v]);
    }
  }
  const Real loose = hn::Set(d, loose_limit);
  for (int v = 0; v < kVectors; ++v) {
    if (hn::AllFalse(d, hn::Lt(sum[v], loose))) continue;
    out = append_below(squared_distances(block + v * lanes(), query, dims), limit, out);
  }
  return out;
}

std::ptrdiff_t count_at_most(const double* values, std::ptrdiff_t count, double limit) {
  const D d;
  const Real bound = hn::Set(d, limit);
  std::size_t found = 0;
  for (std::ptrdiff_t i = 0; i < count; i += lanes()) {
    found += hn::CountTrue(d, hn::Le(hn::LoadU(d, values + i), bound));
  }
  return static_cast<std::ptrdiff_t>(found);
}

}  // namespace

std::uint32_t BoxesInReach(const double* low, const double* high, const double* query,
                           std::ptrdiff_t dims, double limit, double* distances) {
  const D d;
  std::uint32_t reached = 0;
  for (std::ptrdiff_t b = 0; b < kBoxesPerRow; b += lanes()) {
    Real sum = hn::Zero(d);
    for (std::ptrdiff_t j = 0; j < dims; ++j) {
      const Real lows = hn::LoadU(d, low + j * kBoxesPerRow + b);
      const Real highs = hn::LoadU(d, high + j * kBoxesPerRow + b);
      sum = add_square(outside(lows, highs, hn::Set(d, query[j])), sum);
    }
    hn::StoreU(sum, d, distances + b);
    reached |= mask_bits(hn::Lt(sum, hn::Set(d, limit))) << b;
  }
  return reached;
}

void CollectNearer(const double* block, std::ptrdiff_t dims, Seeker* seekers,
                   const std::ptrdiff_t* which, std::ptrdiff_t count) {
  constexpr std::ptrdiff_t kFewDimensions = 4;
  constexpr int kVectors = 4;  // enough sums at once to hide the time an addition takes
  for (std::ptrdiff_t s = 0; s < count; ++s) {
    Seeker& seeker = seekers[which[s]];
    if (dims <= kFewDimensions) {
      seeker.out = scan_few(block, seeker.query, dims, seeker.limit, seeker.out);
      continue;
    }
    const double loose_limit = loosened(seeker.limit, dims);
    for (std::ptrdiff_t i = 0; i < kPointsPerBlock; i += kVectors * lanes()) {
      seeker.out = scan_points<kVectors>(block + i, seeker.query, dims, seeker.limit, loose_limit,
                                         seeker.out);
    }
  }
}

std::ptrdiff_t QueriesInReach(const double* low, const double* high, const double* queries,
                              std::ptrdiff_t stride, std::ptrdiff_t dims, const double* limits,
                              std::ptrdiff_t* out) {
  const D d;
  std::ptrdiff_t found = 0;
  for (std::ptrdiff_t i = 0; i < stride; i += lanes()) {
    Real sum = hn::Zero(d);
    for (std::ptrdiff_t j = 0; j < dims; ++j) {
      const Real q = hn::LoadU(d, queries + j * stride + i);
      sum = add_square(outside(hn::Set(d, low[j]), hn::Set(d, high[j]), q), sum);
    }
    for (auto bits = mask_bits(hn::Lt(sum, hn::LoadU(d, limits + i))); bits != 0;
         bits &= bits - 1) {
      out[found++] = i + std::countr_zero(bits);
    }
  }
  return found;
}

double KeepSmallest(double* values, std::ptrdiff_t count, std::ptrdiff_t k, std::ptrdiff_t most,
                    std::ptrdiff_t* kept) {
  const D d;
  for (std::ptrdiff_t i = 0; i < lanes(); ++i) values[count + i] = kInfinity;
  Real least = hn::Set(d, kInfinity);
  Real greatest = hn::Zero(d);
  for (std::ptrdiff_t i = 0; i < count; i += lanes()) {
    const Real value = hn::LoadU(d, values + i);
    least = hn::Min(least, value);
    greatest =
        hn::Max(greatest, hn::IfThenElse(hn::Lt(value, hn::Set(d, kInfinity)), value, hn::Zero(d)));
  }
  // A search for a bound between the least and the greatest value: `few` values, fewer than k,
  // are <= `below`, and `enough`, at least k, are <= `above`. By turns it tries where the bound
  // would be if values were evenly spread, and the middle of what is left: the bits of numbers
  // >= 0, taken as integers, are in the same order as the numbers.
  auto below = std::bit_cast<std::int64_t>(hn::GetLane(hn::MinOfLanes(d, least))) - 1;
  auto above = std::bit_cast<std::int64_t>(hn::GetLane(hn::MaxOfLanes(d, greatest)));
  std::ptrdiff_t few = 0;
  std::ptrdiff_t enough = count;
  for (bool even = true; enough > most && above - below > 1; even = !even) {
    auto bound = below + (above - below) / 2;
    if (even) {
      const auto from = std::bit_cast<double>(below + 1);
      const double share = (static_cast<double>(k - few) + 0.5 * static_cast<double>(most - k)) /
                           static_cast<double>(enough - few);
      const double guess = from + share * (std::bit_cast<double>(above) - from);
      bound = std::clamp(std::bit_cast<std::int64_t>(guess), below + 1, above - 1);
    }
    const auto found = count_at_most(values, count, std::bit_cast<double>(bound));
    if (found >= k) {
      above = bound;
      enough = found;
    } else {
      below = bound;
      few = found;
    }
  }
  // All values <= `above` are wanted; where several equal to it straddle the k-th place, only
  // as many of them as there is room for.
  const auto last = std::bit_cast<double>(above);
  double* to = copy_below(values, count, enough <= most ? above + 1 : above, values);
  for (; to < values + k; ++to) *to = last;
  *kept = to - values;
  return last;
}

void SquareRoots(double* values, std::ptrdiff_t count) {
  const D d;
  for (std::ptrdiff_t i = count; i < count + lanes(); ++i) values[i] = 0.0;
  for (std::ptrdiff_t i = 0; i < count; i += lanes()) {
    hn::StoreU(hn::Sqrt(hn::LoadU(d, values + i)), d, values + i);
  }
}

}  // namespace rarefy::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rarefy::kernels {
HWY_EXPORT(BoxesInReach);
HWY_EXPORT(CollectNearer);
HWY_EXPORT(QueriesInReach);
HWY_EXPORT(KeepSmallest);
HWY_EXPORT(SquareRoots);

std::uint32_t boxes_in_reach(const double* low, const double* high, const double* query,
                             std::ptrdiff_t dims, double limit, double* distances) {
  return HWY_DYNAMIC_DISPATCH(BoxesInReach)(low, high, query, dims, limit, distances);
}

void collect_nearer(const double* block, std::ptrdiff_t dims, Seeker* seekers,
                    const std::ptrdiff_t* which, std::ptrdiff_t count) {
  HWY_DYNAMIC_DISPATCH(CollectNearer)(block, dims, seekers, which, count);
}

std::ptrdiff_t queries_in_reach(const double* low, const double* high, const double* queries,
                                std::ptrdiff_t stride, std::ptrdiff_t dims, const double* limits,
                                std::ptrdiff_t* out) {
  return HWY_DYNAMIC_DISPATCH(QueriesInReach)(low, high, queries, stride, dims, limits, out);
}

double keep_smallest(double* values, std::ptrdiff_t count, std::ptrdiff_t k, std::ptrdiff_t most,
                     std::ptrdiff_t* kept) {
  return HWY_DYNAMIC_DISPATCH(KeepSmallest)(values, count, k, most, kept);
}

void square_roots(double* values, std::ptrdiff_t count) {
  HWY_DYNAMIC_DISPATCH(SquareRoots)(values, count);
}
}  // namespace rarefy::kernels
#endif
