#include "kernels/sampled_sums.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/sampled_sums.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/exp2-inl.hpp"
#include "kernels/squared_distances-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace rarefy::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Tag = hn::ScalableTag<float>;
using Vector = hn::Vec<Tag>;

constexpr std::ptrdiff_t kPortion = 4096;  // points whose terms are added up in single precision
constexpr int kTogether = 4;               // queries that look at a vector of points together

std::ptrdiff_t lanes_of(Tag d) { return static_cast<std::ptrdiff_t>(hn::Lanes(d)); }

double total_of(Vector sum) { return static_cast<double>(hn::GetLane(hn::SumOfLanes(Tag(), sum))); }

template <int kLures>
HWY_INLINE void lured(const PointColumns& points, std::ptrdiff_t at, const Lures& lures,
                      Vector* terms) {
  squared_distances<kLures, 0>(points, at, lures.places, points.dims(), terms);
  const Vector breadth = hn::Set(Tag(), lures.breadth);
  for (int l = 0; l < kLures; ++l) terms[l] = exp2_of_minus(hn::Mul(terms[l], breadth));
}

template <int kLures>
void add_lured(const PointColumns& points, const Lures& lures, std::ptrdiff_t every,
               const float* most, double* sums) {
  const Tag d;
  std::ptrdiff_t looked_at = 0;
  for (int l = 0; l < kLures; ++l) sums[l] = 0.0;
  for (std::ptrdiff_t start = 0; start < points.count(); start += every * kStretch) {
    const auto end = std::min(start + kStretch, points.count());
    Vector sum[kLures];
    for (int l = 0; l < kLures; ++l) sum[l] = hn::Zero(d);
    for (std::ptrdiff_t at = start; at < end; at += lanes_of(d)) {
      Vector terms[kLures];
      lured<kLures>(points, at, lures, terms);
      for (int l = 0; l < kLures; ++l) {
        sum[l] = hn::Add(sum[l], hn::Min(terms[l], hn::Set(d, most[l])));
      }
    }
    for (int l = 0; l < kLures; ++l) sums[l] += total_of(sum[l]);
    looked_at += end - start;
  }
  if (looked_at == 0) return;
  const double part = static_cast<double>(looked_at) / static_cast<double>(points.count());
  for (int l = 0; l < kLures; ++l) sums[l] /= part;
}

// Of the points from `at` on, as many as `inside` says; adds to what is to be expected of those
// whose chance is below 1.
HWY_INLINE void choose_some(Vector terms, hn::Mask<Tag> inside, Vector mark,
                            hn::Vec<hn::RebindToSigned<Tag>> numbers, Chosen& chosen,
                            Vector& expected) {
  const Tag d;
  const hn::RebindToSigned<Tag> i;
  const Vector one = hn::Set(d, 1.0F);
  const Vector chance = hn::Min(hn::Mul(terms, hn::Set(d, chosen.rate)), one);
  const auto sure = hn::And(inside, hn::Ge(chance, one));
  const auto taken = hn::And(inside, hn::Lt(mark, chance));
  expected = hn::Add(expected, hn::IfThenElseZero(hn::AndNot(sure, inside), chance));
  if (hn::AllFalse(d, taken) || chosen.count > chosen.most) return;
  chosen.sure += static_cast<std::ptrdiff_t>(hn::CountTrue(d, sure));
  hn::CompressStore(numbers, hn::RebindMask(i, taken), i, chosen.points + chosen.count);
  chosen.count += static_cast<std::ptrdiff_t>(
      hn::CompressStore(chance, taken, d, chosen.chances + chosen.count));
}

template <int kLures>
void choose(const PointColumns& points, const Lures& lures, Chosen* chosen) {
  const Tag d;
  const hn::RebindToSigned<Tag> i;
  const hn::RebindToUnsigned<Tag> u;
  constexpr std::uint32_t kGolden = 2654435769U;  // 2^32 * 0.618...
  const Vector unit = hn::Set(d, 0x1p-24F);
  const Vector half = hn::Set(d, 0.5F);
  for (int l = 0; l < kLures; ++l) {
    chosen[l].count = chosen[l].sure = 0;
    chosen[l].expected = 0.0;
  }
  for (std::ptrdiff_t start = 0; start < points.count(); start += kPortion) {
    const auto end = std::min(start + kPortion, points.count());
    Vector expected[kLures];
    for (int l = 0; l < kLures; ++l) expected[l] = hn::Zero(d);
    for (std::ptrdiff_t at = start; at < end; at += lanes_of(d)) {
      const auto inside = hn::FirstN(d, static_cast<std::size_t>(end - at));
      const auto numbers = hn::Iota(i, static_cast<std::int32_t>(at));
      const auto turned =
          hn::Mul(hn::Add(hn::BitCast(u, numbers), hn::Set(u, 1U)), hn::Set(u, kGolden));
      Vector terms[kLures];
      lured<kLures>(points, at, lures, terms);
      for (int l = 0; l < kLures; ++l) {
        const auto fraction = hn::ShiftRight<8>(hn::Add(turned, hn::Set(u, chosen[l].offset)));
        const Vector mark =
            hn::Mul(hn::Add(hn::ConvertTo(d, hn::BitCast(i, fraction)), half), unit);
        choose_some(terms[l], inside, mark, numbers, chosen[l], expected[l]);
      }
    }
    for (int l = 0; l < kLures; ++l) chosen[l].expected += total_of(expected[l]);
  }
}

template <int kQueries>
void add_weighted(const PointColumns& points, const float* weights, const float* queries,
                  double* sums, double* variances) {
  const Tag d;
  const Vector one = hn::Set(d, 1.0F);
  for (int q = 0; q < kQueries; ++q) sums[q] = variances[q] = 0.0;
  for (std::ptrdiff_t start = 0; start < points.count(); start += kPortion) {
    const auto end = std::min(start + kPortion, points.count());
    Vector sum[kQueries];
    Vector variance[kQueries];
    for (int q = 0; q < kQueries; ++q) sum[q] = variance[q] = hn::Zero(d);
    for (std::ptrdiff_t at = start; at < end; at += lanes_of(d)) {
      Vector squared[kQueries];
      squared_distances<kQueries, 0>(points, at, queries, points.dims(), squared);
      const Vector weight = hn::LoadU(d, weights + at);
      const Vector beyond = hn::Max(hn::Sub(weight, one), hn::Zero(d));
      for (int q = 0; q < kQueries; ++q) {
        const Vector kernel = exp2_of_minus(squared[q]);
        const Vector term = hn::Mul(weight, kernel);
        sum[q] = hn::Add(sum[q], term);
        variance[q] = hn::MulAdd(hn::Mul(term, kernel), beyond, variance[q]);
      }
    }
    for (int q = 0; q < kQueries; ++q) {
      sums[q] += total_of(sum[q]);
      variances[q] += total_of(variance[q]);
    }
  }
}

}  // namespace

void SumsOfLured(const PointColumns& points, const Lures& lures, std::ptrdiff_t every,
                 const float* most, double* sums) {
  switch (lures.count) {
    case 1: return add_lured<1>(points, lures, every, most, sums);
    case 2: return add_lured<2>(points, lures, every, most, sums);
    case 3: return add_lured<3>(points, lures, every, most, sums);
    default: return add_lured<4>(points, lures, every, most, sums);
  }
}

void ChooseLured(const PointColumns& points, const Lures& lures, Chosen* chosen) {
  switch (lures.count) {
    case 1: return choose<1>(points, lures, chosen);
    case 2: return choose<2>(points, lures, chosen);
    case 3: return choose<3>(points, lures, chosen);
    default: return choose<4>(points, lures, chosen);
  }
}

void WeightedGaussianSums(const PointColumns& points, const float* weights, const float* queries,
                          std::ptrdiff_t count, double* sums, double* variances) {
  std::ptrdiff_t q = 0;
  for (; q + kTogether <= count; q += kTogether) {
    add_weighted<kTogether>(points, weights, queries + q * points.dims(), sums + q, variances + q);
  }
  for (; q < count; ++q) {
    add_weighted<1>(points, weights, queries + q * points.dims(), sums + q, variances + q);
  }
}

}  // namespace rarefy::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rarefy::kernels {
HWY_EXPORT(SumsOfLured);
HWY_EXPORT(ChooseLured);
HWY_EXPORT(WeightedGaussianSums);

void sums_of_lured(const PointColumns& points, const Lures& lures, std::ptrdiff_t every,
                   const float* most, double* sums) {
  if (lures.count > 0) HWY_DYNAMIC_DISPATCH(SumsOfLured)(points, lures, every, most, sums);
}

void choose_lured(const PointColumns& points, const Lures& lures, Chosen* chosen) {
  if (lures.count > 0) HWY_DYNAMIC_DISPATCH(ChooseLured)(points, lures, chosen);
}

void weighted_gaussian_sums(const PointColumns& points, const float* weights, const float* queries,
                            std::ptrdiff_t count, double* sums, double* variances) {
  HWY_DYNAMIC_DISPATCH(WeightedGaussianSums)(points, weights, queries, count, sums, variances);
}
}  // namespace rarefy::kernels
#endif
