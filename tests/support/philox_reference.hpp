// Random123's own Philox4x32-10, and its inverse, to choose the words that a test needs.
#pragma once

#include <Random123/philox.h>

#include <array>
#include <cstdint>

using PhiloxWords = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

inline PhiloxWords philox_reference(const PhiloxWords& counter, const PhiloxKey& key) {
  const r123::Philox4x32::ctr_type c = {{counter[0], counter[1], counter[2], counter[3]}};
  const r123::Philox4x32::key_type k = {{key[0], key[1]}};
  const auto words = r123::Philox4x32()(c, k);
  return {words[0], words[1], words[2], words[3]};
}

/// The counter whose block is `words`. A round multiplies two words by odd constants and mixes in
/// the high halves, so it is undone by multiplying with the constants' inverses modulo 2^32.
inline PhiloxWords philox_inverse(PhiloxWords words, const PhiloxKey& key) {
  constexpr std::uint32_t kMultiplier0 = 0xD2511F53U, kMultiplier1 = 0xCD9E8D57U;
  const auto inverse = [](std::uint32_t odd) {
    std::uint32_t x = odd;  // right to three bits; each step of Newton doubles them
    for (int i = 0; i < 4; ++i) x *= 2U - odd * x;
    return x;
  };
  const auto high_half = [](std::uint32_t a, std::uint32_t b) {
    return static_cast<std::uint32_t>((std::uint64_t{a} * b) >> 32);
  };
  for (std::uint32_t round = 10; round-- > 0;) {
    const std::uint32_t k0 = key[0] + round * 0x9E3779B9U;
    const std::uint32_t k1 = key[1] + round * 0xBB67AE85U;
    const std::uint32_t c0 = words[3] * inverse(kMultiplier0);
    const std::uint32_t c2 = words[1] * inverse(kMultiplier1);
    words = {c0, words[0] ^ high_half(c2, kMultiplier1) ^ k0, c2,
             words[2] ^ high_half(c0, kMultiplier0) ^ k1};
  }
  return words;
}
