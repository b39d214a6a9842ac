#include "kernels/block_sums.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/block_sums.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/exp2-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace rarefy::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Tag = hn::ScalableTag<float>;
using Vector = hn::Vec<Tag>;

constexpr std::ptrdiff_t kSize = PointBlocks::kSize;
constexpr std::ptrdiff_t kMostProducts = 16;  // dimensions; beyond, differences are squared
constexpr std::ptrdiff_t kPortion = 64;       // blocks whose terms are added up in single precision
// Queries begin with the blocks whose bound is at least kFirst of the greatest, and go on to
// smaller ones by this factor, until those to come cannot matter; or until bounds are kNothing,
// which blocks that are far away cannot be told apart from by theirs.
constexpr float kFirst = 0x1p-3F, kStep = 0x1p-2F, kNothing = 0x1p-120F;

// For each block 2^-d^2 with d the distance to its box: no point of it has a greater term. Returns
// the greatest.
float make_bounds(const PointBlocks& blocks, const float* query, float* bounds) {
  const Tag d;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  Vector greatest = hn::Zero(d);
  for (std::ptrdiff_t at = 0; at < blocks.count(); at += lanes) {
    Vector squared = hn::Zero(d);
    for (std::ptrdiff_t j = 0; j < blocks.dims(); ++j) {
      const Vector y = hn::Set(d, query[j]);
      const Vector below = hn::Sub(hn::LoadU(d, blocks.low(j) + at), y);
      const Vector above = hn::Sub(y, hn::LoadU(d, blocks.high(j) + at));
      const Vector outside = hn::Max(hn::Max(below, above), hn::Zero(d));
      squared = hn::MulAdd(outside, outside, squared);
    }
    const Vector bound = exp2_of_minus(squared);
    greatest = hn::Max(greatest, bound);
    hn::StoreU(bound, d, bounds + at);
  }
  return hn::GetLane(hn::MaxOfLanes(d, greatest));
}

// The sum of the bounds that are no greater than `least`.
double sum_of_smaller(const float* bounds, std::ptrdiff_t count, float least) {
  const Tag d;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  Vector sum = hn::Zero(d);
  const Vector lower = hn::Set(d, least);
  for (std::ptrdiff_t at = 0; at < count; at += lanes) {
    const Vector bound = hn::LoadU(d, bounds + at);
    sum = hn::Add(sum, hn::IfThenElseZero(hn::Le(bound, lower), bound));
  }
  return static_cast<double>(hn::GetLane(hn::SumOfLanes(d, sum)));
}

// Notes for each block among [from, to), in wanted[block - from], that a query has a use for it:
// least < bound <= most.
void choose(const float* bounds, std::ptrdiff_t from, std::ptrdiff_t to, float most, float least,
            std::uint32_t bit, std::uint32_t* wanted) {
  const Tag d;
  const hn::RebindToUnsigned<Tag> u;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  const Vector upper = hn::Set(d, most);
  const Vector lower = hn::Set(d, least);
  const auto mark = hn::Set(u, bit);
  for (std::ptrdiff_t at = from; at < to; at += lanes) {
    const Vector bound = hn::LoadU(d, bounds + at);
    const auto now = hn::RebindMask(u, hn::And(hn::Gt(bound, lower), hn::Le(bound, upper)));
    const auto before = hn::LoadU(u, wanted + at - from);
    hn::StoreU(hn::Or(before, hn::IfThenElseZero(now, mark)), u, wanted + at - from);
  }
}

struct Query {
  const float* place = nullptr;
  float doubled[kMostProducts] = {};  // -2 times that
  float square = 0.0F;
  bool by_differences = true;
  // Blocks whose bound is in (least, most] come next; those with a greater one have been.
  float most = std::numeric_limits<float>::infinity();
  float least = 0.0F;
  double sum = 0.0;
};

// Vectors of points that kCount queries look at together: a term is a long chain of operations,
// each of which waits for the one before.
constexpr int kTogether = 2;
constexpr std::ptrdiff_t kVectors = kSize / static_cast<std::ptrdiff_t>(hn::MaxLanes(Tag()));
static_assert(kVectors % kTogether == 0, "the rest of a block would not be looked at");

// The squared distances from queries to vectors of points, as x^2 + y^2 - 2xy.
template <int kDims>
struct ByProduct {
  template <int kCount>
  static HWY_INLINE void squares(const float* points, const Query* const* queries,
                                 std::ptrdiff_t dims, Vector (*squared)[kTogether]) {
    const Tag d;
    const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
    const auto count = kDims > 0 ? kDims : dims;
    for (int v = 0; v < kTogether; ++v) {
      const Vector own = hn::LoadU(d, points + count * kSize + v * lanes);
      for (int q = 0; q < kCount; ++q) {
        squared[q][v] = hn::Add(own, hn::Set(d, queries[q]->square));
      }
    }
    for (std::ptrdiff_t j = 0; j < count; ++j) {
      Vector x[kTogether];
      for (int v = 0; v < kTogether; ++v) x[v] = hn::LoadU(d, points + j * kSize + v * lanes);
      for (int q = 0; q < kCount; ++q) {
        const Vector y = hn::Set(d, queries[q]->doubled[j]);
        for (int v = 0; v < kTogether; ++v) squared[q][v] = hn::MulAdd(x[v], y, squared[q][v]);
      }
    }
    for (int q = 0; q < kCount; ++q) {  // rounding may have made one negative
      for (int v = 0; v < kTogether; ++v) squared[q][v] = hn::Max(squared[q][v], hn::Zero(d));
    }
  }
};

// The same as the sums of squared differences.
struct ByDifference {
  template <int kCount>
  static HWY_INLINE void squares(const float* points, const Query* const* queries,
                                 std::ptrdiff_t dims, Vector (*squared)[kTogether]) {
    const Tag d;
    const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
    for (int q = 0; q < kCount; ++q) {
      for (int v = 0; v < kTogether; ++v) squared[q][v] = hn::Zero(d);
    }
    for (std::ptrdiff_t j = 0; j < dims; ++j) {
      for (int q = 0; q < kCount; ++q) {
        const Vector y = hn::Set(d, queries[q]->place[j]);
        for (int v = 0; v < kTogether; ++v) {
          const Vector x = hn::LoadU(d, points + j * kSize + v * lanes);
          const Vector difference = hn::Sub(x, y);
          squared[q][v] = hn::MulAdd(difference, difference, squared[q][v]);
        }
      }
    }
  }
};

// Adds the terms of a block to the sums of its queries, a vector each.
template <typename Squares, int kCount>
HWY_INLINE void add_terms(const float* points, std::ptrdiff_t dims, const Query* const* queries,
                          float* const* sums) {
  const Tag d;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  Vector sum[kCount];
  for (int q = 0; q < kCount; ++q) sum[q] = hn::Load(d, sums[q]);
  for (std::ptrdiff_t v = 0; v < kVectors; v += kTogether, points += kTogether * lanes) {
    Vector squared[kCount][kTogether];
    Squares::template squares<kCount>(points, queries, dims, squared);
    for (int q = 0; q < kCount; ++q) {
      for (int w = 0; w < kTogether; ++w) {
        sum[q] = hn::Add(sum[q], exp2_of_minus(squared[q][w]));
      }
    }
  }
  for (int q = 0; q < kCount; ++q) hn::Store(sum[q], d, sums[q]);
}

// All queries look at a portion of the blocks, each at those that it wants.
template <typename Squares>
void sum_portion(const PointBlocks& blocks, std::ptrdiff_t from, std::ptrdiff_t to,
                 const std::uint32_t* wanted, Query* queries, std::ptrdiff_t count) {
  const Tag d;
  constexpr auto kLanes = hn::MaxLanes(Tag());
  HWY_ALIGN float sums[BlockScratch::kQueries * kLanes] = {};
  for (std::ptrdiff_t block = from; block < to; ++block) {
    const Query* these[BlockScratch::kQueries];
    float* their_sums[BlockScratch::kQueries];
    int number = 0;
    for (std::uint32_t bits = wanted[block - from]; bits != 0; bits &= bits - 1) {
      const auto q = static_cast<std::size_t>(hwy::Num0BitsBelowLS1Bit_Nonzero32(bits));
      these[number] = queries + q;
      their_sums[number++] = sums + q * kLanes;
    }
    const float* const points = blocks.points(block);
    int k = 0;
    for (; k + 4 <= number; k += 4) {
      add_terms<Squares, 4>(points, blocks.dims(), these + k, their_sums + k);
    }
    if (k + 2 <= number) {
      add_terms<Squares, 2>(points, blocks.dims(), these + k, their_sums + k);
      k += 2;
    }
    if (k < number) {
      add_terms<Squares, 1>(points, blocks.dims(), these + k, their_sums + k);
    }
  }
  for (std::ptrdiff_t q = 0; q < count; ++q) {
    const Vector sum = hn::Load(d, sums + static_cast<std::size_t>(q) * kLanes);
    queries[q].sum += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, sum)));
  }
}

void sum_any(const PointBlocks& blocks, std::ptrdiff_t from, std::ptrdiff_t to, bool by_differences,
             const std::uint32_t* wanted, Query* queries, std::ptrdiff_t count) {
  const auto sum = [&](auto squares) HWY_ATTR {
    sum_portion<decltype(squares)>(blocks, from, to, wanted, queries, count);
  };
  if (by_differences) return sum(ByDifference());
  switch (blocks.dims()) {
    case 3: return sum(ByProduct<3>());
    case 4: return sum(ByProduct<4>());
    case 5: return sum(ByProduct<5>());
    case 6: return sum(ByProduct<6>());
    case 7: return sum(ByProduct<7>());
    case 8: return sum(ByProduct<8>());
    case 9: return sum(ByProduct<9>());
    case 10: return sum(ByProduct<10>());
    default: return sum(ByProduct<0>());
  }
}

// Each query looks at the blocks that come next.
void sum_next(const PointBlocks& blocks, const float* bounds, Query* queries,
              std::ptrdiff_t count) {
  const std::ptrdiff_t stride = blocks.padded();
  for (std::ptrdiff_t from = 0; from < blocks.count(); from += kPortion) {
    const auto to = std::min(from + kPortion, blocks.count());
    for (const bool by_differences : {false, true}) {
      std::uint32_t wanted[kPortion] = {};
      bool any = false;
      for (std::ptrdiff_t q = 0; q < count; ++q) {
        const Query& query = queries[q];
        if (query.by_differences != by_differences) continue;
        choose(bounds + q * stride, from, to, query.most, query.least,
               std::uint32_t{1} << static_cast<std::uint32_t>(q), wanted);
        any = true;
      }
      if (any) sum_any(blocks, from, to, by_differences, wanted, queries, count);
    }
  }
}

// Whether products are good enough. Nothing that is added up on the way to d^2 is greater than
// (x + y)^2, and each of these steps rounds by 2^-24 of it at most. ln 2 of that is the relative
// error of a term.
bool by_products(const PointBlocks& blocks, const Query& query) {
  if (blocks.dims() > kMostProducts) return false;
  const double longest =
      static_cast<double>(blocks.longest()) + std::sqrt(static_cast<double>(query.square));
  const double steps = static_cast<double>(blocks.dims()) + 4.0;
  return longest * longest * steps * 0x1p-24 * 0.7 <= kRounding;
}

}  // namespace

void GaussianBlockSums(const PointBlocks& blocks, const float* places, std::ptrdiff_t count,
                       double tolerance, BlockScratch& scratch, double* sums) {
  Query queries[BlockScratch::kQueries];
  const std::ptrdiff_t stride = blocks.padded();
  float* const bounds = scratch.bounds.data();
  for (std::ptrdiff_t q = 0; q < count; ++q) {
    Query& query = queries[q];
    query.place = places + q * blocks.dims();
    for (std::ptrdiff_t j = 0; j < std::min(blocks.dims(), kMostProducts); ++j) {
      query.doubled[j] = -2.0F * query.place[j];
      query.square += query.place[j] * query.place[j];
    }
    query.by_differences = !by_products(blocks, query);
    query.least = make_bounds(blocks, query.place, bounds + q * stride) * kFirst;
    query.sum = sums[q];
  }
  // The nearest blocks first. What they come to says how small a bound is small enough.
  sum_next(blocks, bounds, queries, count);
  for (std::ptrdiff_t q = 0; q < count; ++q) {
    Query& query = queries[q];
    query.most = query.least;
    const double negligible = tolerance * query.sum / static_cast<double>(kSize);
    while (query.least >= kNothing &&
           sum_of_smaller(bounds + q * stride, blocks.count(), query.least) > negligible) {
      query.least *= kStep;
    }
  }
  sum_next(blocks, bounds, queries, count);
  for (std::ptrdiff_t q = 0; q < count; ++q) sums[q] = queries[q].sum;
}

}  // namespace rarefy::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rarefy::kernels {
HWY_EXPORT(GaussianBlockSums);

namespace {
std::size_t size(std::ptrdiff_t count) { return static_cast<std::size_t>(count); }
}  // namespace

void PointBlocks::reserve(std::ptrdiff_t blocks) {
  points_.reserve(size(blocks * stride() + PointBlocks::kLongestVector));
  low_.reserve(size((blocks + PointBlocks::kLongestVector) * dims_));
  high_.reserve(size((blocks + PointBlocks::kLongestVector) * dims_));
}

void PointBlocks::reset(std::ptrdiff_t blocks) {
  count_ = blocks;
  longest_ = 0.0F;
  points_.resize(size(blocks * stride() + PointBlocks::kLongestVector));
  // Vectors that cross a cache line take twice as long to load.
  constexpr std::uintptr_t kLine = 64;
  const auto beyond = reinterpret_cast<std::uintptr_t>(points_.data()) % kLine;
  first_ = static_cast<std::ptrdiff_t>((kLine - beyond) % kLine / sizeof(float));
  for (std::ptrdiff_t at = 0; at < blocks * kSize; ++at) clear(at);
  low_.assign(size(padded() * dims_), kFarAway);
  high_.assign(size(padded() * dims_), -kFarAway);
}

void PointBlocks::set(std::ptrdiff_t at, std::span<const float> point) {
  float* const place = points_.data() + first_ + at / kSize * stride() + at % kSize;
  float square = 0.0F;
  for (std::ptrdiff_t d = 0; d < dims_; ++d) {
    const float value = point[size(d)];
    place[d * kSize] = value;
    square += value * value;
  }
  place[dims_ * kSize] = square;
  note_length(std::sqrt(square));
}

void PointBlocks::clear(std::ptrdiff_t at) {
  float* const place = points_.data() + first_ + at / kSize * stride() + at % kSize;
  for (std::ptrdiff_t d = 0; d < dims_; ++d) place[d * kSize] = kFarAway;
  place[dims_ * kSize] = std::numeric_limits<float>::max();
}

void PointBlocks::fit(std::ptrdiff_t block) {
  for (std::ptrdiff_t d = 0; d < dims_; ++d) {
    const float* const column = points(block) + d * kSize;
    float low = kFarAway;
    float high = -kFarAway;
    for (std::ptrdiff_t at = 0; at < kSize; ++at) {
      if (column[at] == kFarAway) continue;
      low = std::min(low, column[at]);
      high = std::max(high, column[at]);
    }
    low_[size(d * padded() + block)] = low;
    high_[size(d * padded() + block)] = high;
  }
}

void BlockScratch::make_room(const PointBlocks& blocks) {
  const auto needed = size(blocks.padded() * kQueries);
  if (bounds.size() >= needed) return;
  bounds.resize(needed);
}

void gaussian_block_sums(const PointBlocks& blocks, const float* queries, std::ptrdiff_t count,
                         double tolerance, BlockScratch& scratch, double* sums) {
  for (std::ptrdiff_t first = 0; first < count; first += BlockScratch::kQueries) {
    HWY_DYNAMIC_DISPATCH(GaussianBlockSums)
    (blocks, queries + first * blocks.dims(), std::min(BlockScratch::kQueries, count - first),
     tolerance, scratch, sums + first);
  }
}
}  // namespace rarefy::kernels
#endif
