#include "kernels/normals.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/normals.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rarefy::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<double>;
using U = hn::Repartition<std::uint64_t, D>;
using W = hn::Repartition<std::uint32_t, D>;
using Real = hn::Vec<D>;
using Bits = hn::Vec<U>;

HWY_INLINE Bits bits_of(std::uint64_t value) { return hn::Set(U(), value); }
HWY_INLINE Real real(double value) { return hn::Set(D(), value); }

// Horner's rule with a separate product and sum: a fused operation would give
// other bits on processors that have one.
HWY_INLINE Real times_plus(Real a, Real b, double c) { return hn::Add(hn::Mul(a, b), real(c)); }

// Four 32-bit words in two 64-bit lanes: w1 above w0, and w3 above w2.
struct Block {
  Bits first, second;
};

HWY_INLINE Bits product(Bits a, std::uint32_t multiplier) {
  return hn::MulEven(hn::BitCast(W(), a), hn::BitCast(W(), bits_of(multiplier)));
}

// So many vectors are made side by side: each alone would wait for its own results.
constexpr int kSideBySide = 2;

HWY_INLINE Bits halves_swapped(Bits a) {
  return hn::BitCast(U(), hn::Shuffle2301(hn::BitCast(W(), a)));
}

// Philox4x32-10; constants from Salmon et al. 2011, table 2 and section 3.3. The high half of a
// product goes into w0 or w2, its low half becomes w1 or w3.
HWY_INLINE void philox(Block* blocks, std::uint32_t k0, std::uint32_t k1) {
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < kSideBySide; ++i) {
      Block& c = blocks[i];
      const Bits p0 = product(c.first, 0xD2511F53U);
      const Bits p1 = product(c.second, 0xCD9E8D57U);
      c.first = hn::Xor3(halves_swapped(p1), hn::ShiftRight<32>(c.first), bits_of(k0));
      c.second = hn::Xor3(halves_swapped(p0), hn::ShiftRight<32>(c.second), bits_of(k1));
    }
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  }
}

HWY_INLINE std::uint64_t two_words(std::uint32_t low, std::uint32_t high) {
  return low | std::uint64_t{high} << 32;
}

// 52 random bits as a number k * 2^-52 in [0, 1), exactly.
HWY_INLINE Real unit_interval(Bits word) {
  const Bits one = bits_of(0x3FF0000000000000U);
  return hn::Sub(hn::BitCast(D(), hn::Or(hn::ShiftRight<12>(word), one)), real(1.0));
}

// ln(u) for u in (0, 1): u = m * 2^e with m in [sqrt(1/2), sqrt(2)), then
// ln(m) = 2 artanh(s), s = (m - 1) / (m + 1), by its Taylor series in s; with
// |s| <= 0.1716 the first term left out is below 2^-60 of the sum.
HWY_INLINE Real logarithm(Real u) {
  const Bits raw = hn::BitCast(U(), u);
  // A small integer added to the bits of 2^52 gives the double 2^52 + integer.
  const Real two52 = real(0x1p52);
  const Real biased = hn::Sub(
      hn::BitCast(D(), hn::Or(hn::ShiftRight<52>(raw), bits_of(0x4330000000000000U))), two52);
  Real exponent = hn::Sub(biased, real(1023.0));
  Real m = hn::BitCast(
      D(), hn::Or(hn::And(raw, bits_of(0x000FFFFFFFFFFFFFU)), bits_of(0x3FF0000000000000U)));
  const auto large = hn::Gt(m, real(1.4142135623730951));
  m = hn::IfThenElse(large, hn::Mul(m, real(0.5)), m);
  exponent = hn::IfThenElse(large, hn::Add(exponent, real(1.0)), exponent);

  const Real s = hn::Div(hn::Sub(m, real(1.0)), hn::Add(m, real(1.0)));
  const Real t = hn::Mul(s, s);
  Real series = real(2.0 / 21);
  series = times_plus(series, t, 2.0 / 19);
  series = times_plus(series, t, 2.0 / 17);
  series = times_plus(series, t, 2.0 / 15);
  series = times_plus(series, t, 2.0 / 13);
  series = times_plus(series, t, 2.0 / 11);
  series = times_plus(series, t, 2.0 / 9);
  series = times_plus(series, t, 2.0 / 7);
  series = times_plus(series, t, 2.0 / 5);
  series = times_plus(series, t, 2.0 / 3);
  const Real ln_m = hn::Add(hn::Mul(real(2.0), s), hn::Mul(hn::Mul(s, t), series));
  return hn::Add(hn::Mul(exponent, real(0.6931471805599453)), ln_m);
}

struct Circle {
  Real cosine, sine;
};

// cos and sin of 2 pi u for u in [0, 1): the nearest quarter turn is taken off
// exactly, the rest (at most an eighth of a turn) by Taylor series.
HWY_INLINE Circle on_circle(Real u) {
  const Real quarters = hn::Mul(u, real(4.0));
  const Real magic = real(0x1.8p52);  // adding it rounds to the nearest integer
  const Real rounded = hn::Add(quarters, magic);
  const Bits turn = hn::BitCast(U(), rounded);
  const Real x = hn::Mul(hn::Sub(quarters, hn::Sub(rounded, magic)), real(1.5707963267948966));
  const Real t = hn::Mul(x, x);

  Real s = real(-1.0 / 1307674368000);  // 15!
  s = times_plus(s, t, 1.0 / 6227020800);
  s = times_plus(s, t, -1.0 / 39916800);
  s = times_plus(s, t, 1.0 / 362880);
  s = times_plus(s, t, -1.0 / 5040);
  s = times_plus(s, t, 1.0 / 120);
  s = times_plus(s, t, -1.0 / 6);
  s = hn::Add(x, hn::Mul(hn::Mul(x, t), s));
  Real c = real(1.0 / 20922789888000);  // 16!
  c = times_plus(c, t, -1.0 / 87178291200);
  c = times_plus(c, t, 1.0 / 479001600);
  c = times_plus(c, t, -1.0 / 3628800);
  c = times_plus(c, t, 1.0 / 40320);
  c = times_plus(c, t, -1.0 / 720);
  c = times_plus(c, t, 1.0 / 24);
  c = times_plus(c, t, -0.5);
  c = times_plus(c, t, 1.0);

  // Quarter turns 0..3 take (c, s) to (c, s), (-s, c), (-c, -s), (s, -c).
  const auto odd = hn::Ne(hn::And(turn, bits_of(1)), bits_of(0));
  const auto swap = hn::RebindMask(D(), odd);
  const Real cosine = hn::IfThenElse(swap, s, c);
  const Real sine = hn::IfThenElse(swap, c, s);
  const Bits sine_sign = hn::ShiftLeft<62>(hn::And(turn, bits_of(2)));
  const Bits cosine_sign = hn::ShiftLeft<62>(hn::And(hn::Add(turn, bits_of(1)), bits_of(2)));
  return {hn::BitCast(D(), hn::Xor(hn::BitCast(U(), cosine), cosine_sign)),
          hn::BitCast(D(), hn::Xor(hn::BitCast(U(), sine), sine_sign))};
}

}  // namespace

void FillNormals(const PhiloxName& name, double* out, std::size_t count) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t at_once = 2 * lanes * kSideBySide;
  HWY_ALIGN double rest[2 * kSideBySide * hn::MaxLanes(D())];
  for (std::size_t done = 0; done < count; done += at_once) {
    Block words[kSideBySide];
    for (int i = 0; i < kSideBySide; ++i) {
      const std::uint64_t first = name.counter[0] + done / 2 + static_cast<std::size_t>(i) * lanes;
      const Bits place = hn::And(hn::Add(hn::Iota(U(), 0), bits_of(first)), bits_of(0xFFFFFFFFU));
      words[i] = {hn::Or(place, bits_of(two_words(0, name.counter[1]))),
                  bits_of(two_words(name.counter[2], name.counter[3]))};
    }
    philox(words, name.key[0], name.key[1]);
    const bool all = count - done >= at_once;
    double* to = all ? out + done : rest;
    for (int i = 0; i < kSideBySide; ++i) {
      // u1 = k 2^-52 + 2^-53 is never 0 or 1, so its logarithm is finite and negative.
      const Real u1 = hn::Add(unit_interval(words[i].first), real(0x1p-53));
      const Real radius = hn::Sqrt(hn::Mul(real(-2.0), logarithm(u1)));
      const Circle at = on_circle(unit_interval(words[i].second));
      hn::StoreInterleaved2(hn::Mul(radius, at.cosine), hn::Mul(radius, at.sine), d,
                            to + static_cast<std::size_t>(i) * 2 * lanes);
    }
    if (!all) std::copy(rest, rest + (count - done), out + done);
  }
}

}  // namespace rarefy::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rarefy::kernels {
HWY_EXPORT(FillNormals);

void fill_normals(const PhiloxName& name, double* out, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(FillNormals)(name, out, count);
}
}  // namespace rarefy::kernels
#endif
