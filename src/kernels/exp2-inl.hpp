// Powers of two in single precision, for kernels of densities. Included once for each instruction
// set, as Highway's own headers are.
#if defined(RAREFY_KERNELS_EXP2_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef RAREFY_KERNELS_EXP2_INL_HPP_
#undef RAREFY_KERNELS_EXP2_INL_HPP_
#else
#define RAREFY_KERNELS_EXP2_INL_HPP_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rarefy::kernels::HWY_NAMESPACE {
namespace {

// 2^-x for 0 <= x <= 126 (greater x is taken for 126): -x = k + f with k the
// nearest integer, 2^f by a minimax polynomial (relative error 7.5e-8 at most on
// [-1/2, 1/2]), and 2^k by writing k into the exponent.
HWY_INLINE hwy::HWY_NAMESPACE::Vec<hwy::HWY_NAMESPACE::ScalableTag<float>> exp2_of_minus(
    hwy::HWY_NAMESPACE::Vec<hwy::HWY_NAMESPACE::ScalableTag<float>> x) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> i;
  const auto magic = hn::Set(d, 0x1.8p23F);  // adding to it rounds to the nearest integer
  const auto clamped = hn::Min(x, hn::Set(d, 126.0F));
  const auto rounded = hn::Sub(magic, clamped);
  const auto f = hn::Sub(hn::Sub(magic, rounded), clamped);
  auto p = hn::Set(d, 0x1.5c08e6p-10F);
  p = hn::MulAdd(p, f, hn::Set(d, 0x1.3d0c52p-7F));
  p = hn::MulAdd(p, f, hn::Set(d, 0x1.c6b6e4p-5F));
  p = hn::MulAdd(p, f, hn::Set(d, 0x1.ebf918p-3F));
  p = hn::MulAdd(p, f, hn::Set(d, 0x1.62e428p-1F));
  p = hn::MulAdd(p, f, hn::Set(d, 0x1.000002p+0F));
  // The low bits of `rounded` are k; shifted into the exponent they add to it.
  const auto k = hn::ShiftLeft<23>(hn::BitCast(i, rounded));
  return hn::BitCast(d, hn::Add(hn::BitCast(i, p), k));
}

}  // namespace
}  // namespace rarefy::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // once for each instruction set
