#include "kernels/network.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/network.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>
// After highway.h; and it has a guard for each target.
#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace rarefy::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, kUnitMultiple>;
using Real = hn::Vec<D>;

HWY_INLINE std::ptrdiff_t lanes() { return static_cast<std::ptrdiff_t>(hn::Lanes(D())); }

struct Bent {
  Real value, slope;
};

struct Elu {
  HWY_INLINE Bent operator()(Real x) const {
    const D d;
    const Real one = hn::Set(d, 1.0F);
    const auto positive = hn::Gt(x, hn::Zero(d));
    // For positive x the other branch counts; this one is computed all the same, and must not
    // overflow.
    const Real below = hn::Expm1(d, hn::IfThenZeroElse(positive, x));
    return {hn::IfThenElse(positive, x, below), hn::IfThenElse(positive, one, hn::Add(below, one))};
  }
};

struct Silu {
  HWY_INLINE Bent operator()(Real x) const {
    const D d;
    const Real one = hn::Set(d, 1.0F);
    const Real small = hn::Exp(d, hn::Neg(hn::Abs(x)));  // never overflows
    const Real share = hn::Div(one, hn::Add(one, small));
    const Real sigmoid = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Mul(small, share), share);
    const Real rest = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), share, hn::Mul(small, share));
    const Real value = hn::Mul(x, sigmoid);
    return {value, hn::MulAdd(value, rest, sigmoid)};
  }
};

struct Tanh {
  HWY_INLINE Bent operator()(Real x) const {
    const D d;
    const Real value = hn::Tanh(d, x);
    return {value, hn::NegMulAdd(value, value, hn::Set(d, 1.0F))};
  }
};

struct Relu {
  HWY_INLINE Bent operator()(Real x) const {
    const D d;
    const Real zero = hn::Zero(d);
    const Real slope = hn::IfThenElseZero(hn::Gt(x, zero), hn::Set(d, 1.0F));
    const auto number = hn::Eq(x, x);  // NaN stays NaN
    return {hn::IfThenElse(hn::Le(x, zero), zero, x), hn::IfThenElse(number, slope, x)};
  }
};

template <typename Bend>
void activate_by(Bend bend, float* z, const float* bias, float* slope, std::ptrdiff_t units,
                 std::ptrdiff_t columns) {
  const D d;
  for (std::ptrdiff_t c = 0; c < columns; ++c) {
    for (std::ptrdiff_t u = 0; u < units; u += lanes()) {
      float* const at = z + c * units + u;
      const Bent bent = bend(hn::Add(hn::LoadU(d, at), hn::LoadU(d, bias + u)));
      hn::StoreU(bent.value, d, at);
      hn::StoreU(bent.slope, d, slope + c * units + u);
    }
  }
}

}  // namespace

void Activate(Activation activation, float* z, const float* bias, float* slope,
              std::ptrdiff_t units, std::ptrdiff_t columns) {
  switch (activation) {
    case Activation::elu: activate_by(Elu(), z, bias, slope, units, columns); break;
    case Activation::silu: activate_by(Silu(), z, bias, slope, units, columns); break;
    case Activation::tanh: activate_by(Tanh(), z, bias, slope, units, columns); break;
    case Activation::relu: activate_by(Relu(), z, bias, slope, units, columns); break;
  }
}

void Scale(float* values, const float* factors, std::ptrdiff_t count) {
  const D d;
  for (std::ptrdiff_t i = 0; i < count; i += lanes()) {
    hn::StoreU(hn::Mul(hn::LoadU(d, values + i), hn::LoadU(d, factors + i)), d, values + i);
  }
}

void ScaleRows(const float* slopes, const float* weights, float* out, std::ptrdiff_t units,
               std::ptrdiff_t columns) {
  const D d;
  for (std::ptrdiff_t c = 0; c < columns; ++c) {
    for (std::ptrdiff_t u = 0; u < units; u += lanes()) {
      const std::ptrdiff_t at = c * units + u;
      hn::StoreU(hn::Mul(hn::LoadU(d, slopes + at), hn::LoadU(d, weights + u)), d, out + at);
    }
  }
}

void AddDotProducts(const float* row, const float* values, float* sums, std::ptrdiff_t units,
                    std::ptrdiff_t columns) {
  const D d;
  for (std::ptrdiff_t c = 0; c < columns; ++c) {
    Real sum = hn::Zero(d);
    for (std::ptrdiff_t u = 0; u < units; u += lanes()) {
      sum = hn::MulAdd(hn::LoadU(d, values + c * units + u), hn::LoadU(d, row + u), sum);
    }
    sums[c] += hn::GetLane(hn::SumOfLanes(d, sum));
  }
}

void SumRows(const float* values, float* out, std::ptrdiff_t units, std::ptrdiff_t columns) {
  const D d;
  for (std::ptrdiff_t u = 0; u < units; u += lanes()) {
    Real sum = hn::Zero(d);
    for (std::ptrdiff_t c = 0; c < columns; ++c) {
      sum = hn::Add(sum, hn::LoadU(d, values + c * units + u));
    }
    hn::StoreU(sum, d, out + u);
  }
}

bool TakeAdamStep(const AdamStep& step, const float* gradient, float* parameters, float* first,
                  float* second, std::ptrdiff_t count) {
  const D d;
  const Real beta1 = hn::Set(d, step.beta1);
  const Real beta2 = hn::Set(d, step.beta2);
  const Real rest1 = hn::Set(d, 1.0F - step.beta1);
  const Real rest2 = hn::Set(d, 1.0F - step.beta2);
  const Real rate = hn::Set(d, step.rate);
  const Real epsilon = hn::Set(d, step.epsilon);
  Real trouble = hn::Zero(d);  // x - x is 0 for what is finite, and NaN else
  for (std::ptrdiff_t i = 0; i < count; i += lanes()) {
    const Real g = hn::LoadU(d, gradient + i);
    const Real m = hn::MulAdd(beta1, hn::LoadU(d, first + i), hn::Mul(rest1, g));
    const Real v = hn::MulAdd(beta2, hn::LoadU(d, second + i), hn::Mul(rest2, hn::Mul(g, g)));
    const Real way = hn::Div(hn::Mul(rate, m), hn::Add(hn::Sqrt(v), epsilon));
    const Real p = hn::Sub(hn::LoadU(d, parameters + i), way);
    hn::StoreU(m, d, first + i);
    hn::StoreU(v, d, second + i);
    hn::StoreU(p, d, parameters + i);
    trouble = hn::Add(trouble, hn::Add(hn::Sub(p, p), hn::Sub(v, v)));
  }
  return hn::AllTrue(d, hn::Eq(trouble, hn::Zero(d)));
}

}  // namespace rarefy::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rarefy::kernels {
HWY_EXPORT(Activate);
HWY_EXPORT(Scale);
HWY_EXPORT(ScaleRows);
HWY_EXPORT(AddDotProducts);
HWY_EXPORT(SumRows);
HWY_EXPORT(TakeAdamStep);

void activate(Activation activation, float* z, const float* bias, float* slope,
              std::ptrdiff_t units, std::ptrdiff_t columns) {
  HWY_DYNAMIC_DISPATCH(Activate)(activation, z, bias, slope, units, columns);
}

void scale(float* values, const float* factors, std::ptrdiff_t count) {
  HWY_DYNAMIC_DISPATCH(Scale)(values, factors, count);
}

void scale_rows(const float* slopes, const float* weights, float* out, std::ptrdiff_t units,
                std::ptrdiff_t columns) {
  HWY_DYNAMIC_DISPATCH(ScaleRows)(slopes, weights, out, units, columns);
}

void add_dot_products(const float* row, const float* values, float* sums, std::ptrdiff_t units,
                      std::ptrdiff_t columns) {
  HWY_DYNAMIC_DISPATCH(AddDotProducts)(row, values, sums, units, columns);
}

void sum_rows(const float* values, float* out, std::ptrdiff_t units, std::ptrdiff_t columns) {
  HWY_DYNAMIC_DISPATCH(SumRows)(values, out, units, columns);
}

bool adam_step(const AdamStep& step, const float* gradient, float* parameters, float* first,
               float* second, std::ptrdiff_t count) {
  return HWY_DYNAMIC_DISPATCH(TakeAdamStep)(step, gradient, parameters, first, second, count);
}
}  // namespace rarefy::kernels
#endif
