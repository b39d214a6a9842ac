#include "kernels/domains.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/domains.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace rarefy::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<double>;
using Real = hn::Vec<D>;

// Adds up term(x) over all x; the last, incomplete vector is filled with `neutral`,
// a value whose term is zero.
template <typename Term>
HWY_INLINE double sum_over(const double* x, std::ptrdiff_t count, double neutral, Term term) {
  const D d;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  Real sum = hn::Zero(d);
  std::ptrdiff_t i = 0;
  for (; i + lanes <= count; i += lanes) sum = hn::Add(sum, term(hn::LoadU(d, x + i)));
  if (i < count) {
    HWY_ALIGN double rest[hn::MaxLanes(D())];
    for (std::ptrdiff_t j = 0; j < lanes; ++j) rest[j] = i + j < count ? x[i + j] : neutral;
    sum = hn::Add(sum, term(hn::Load(d, rest)));
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

}  // namespace

double ClippedSum(const double* x, std::ptrdiff_t count, double range) {
  const D d;
  const Real limit = hn::Set(d, range);
  return sum_over(x, count, 0.0, [&](Real v) HWY_ATTR {
    return hn::IfThenElse(hn::Le(hn::Abs(v), limit), v, hn::Div(limit, v));
  });
}

double ShiftedSphere(const double* x, std::ptrdiff_t count, double shift) {
  const D d;
  return sum_over(x, count, shift, [&](Real v) HWY_ATTR {
    const Real t = hn::Sub(v, hn::Set(d, shift));
    return hn::Mul(t, t);
  });
}

double ShiftedRastrigin(const double* x, std::ptrdiff_t count, double shift) {
  const D d;
  return sum_over(x, count, shift, [&](Real v) HWY_ATTR {
    const Real t = hn::Sub(v, hn::Set(d, shift));
    // 10 - 10 cos(2 pi t) = 20 sin^2(pi r) with r = t less the nearest integer, which is
    // exact: no large argument, no cancellation, and exactly 0 at the optimum.
    const Real r = hn::Sub(t, hn::Round(t));
    const Real s = hn::Sin(d, hn::Mul(r, hn::Set(d, 3.141592653589793)));
    return hn::Add(hn::Mul(t, t), hn::Mul(hn::Set(d, 20.0), hn::Mul(s, s)));
  });
}

void SumOfDirections(const double* angles, std::ptrdiff_t count, double* cosines, double* sines) {
  const D d;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  Real c = hn::Zero(d);
  Real s = hn::Zero(d);
  std::ptrdiff_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const Real angle = hn::LoadU(d, angles + i);
    c = hn::Add(c, hn::Cos(d, angle));
    s = hn::Add(s, hn::Sin(d, angle));
  }
  *cosines += hn::GetLane(hn::SumOfLanes(d, c));
  *sines += hn::GetLane(hn::SumOfLanes(d, s));
  if (i < count) {
    HWY_ALIGN double rest[hn::MaxLanes(D())] = {};
    for (std::ptrdiff_t j = 0; i + j < count; ++j) rest[j] = angles[i + j];
    const Real angle = hn::Load(d, rest);
    HWY_ALIGN double cs[hn::MaxLanes(D())];
    HWY_ALIGN double ss[hn::MaxLanes(D())];
    hn::Store(hn::Cos(d, angle), d, cs);
    hn::Store(hn::Sin(d, angle), d, ss);
    for (std::ptrdiff_t j = 0; i + j < count; ++j) {
      *cosines += cs[j];
      *sines += ss[j];
    }
  }
}

}  // namespace rarefy::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rarefy::kernels {
HWY_EXPORT(ClippedSum);
HWY_EXPORT(ShiftedSphere);
HWY_EXPORT(ShiftedRastrigin);
HWY_EXPORT(SumOfDirections);

double clipped_sum(const double* x, std::ptrdiff_t count, double range) {
  return HWY_DYNAMIC_DISPATCH(ClippedSum)(x, count, range);
}
double shifted_sphere(const double* x, std::ptrdiff_t count, double shift) {
  return HWY_DYNAMIC_DISPATCH(ShiftedSphere)(x, count, shift);
}
double shifted_rastrigin(const double* x, std::ptrdiff_t count, double shift) {
  return HWY_DYNAMIC_DISPATCH(ShiftedRastrigin)(x, count, shift);
}
void sum_of_directions(const double* angles, std::ptrdiff_t count, double* cosines, double* sines) {
  HWY_DYNAMIC_DISPATCH(SumOfDirections)(angles, count, cosines, sines);
}
}  // namespace rarefy::kernels
#endif
