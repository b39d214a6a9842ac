#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace rarefy::kernels {

/// A stream of Philox4x32-10 blocks: counter[0] counts the blocks.
struct PhiloxName {
  std::array<std::uint32_t, 4> counter;
  std::array<std::uint32_t, 2> key;
};

/// Standard normal numbers: block j gives numbers 2j and 2j + 1 by the method of
/// Box and Muller.
///   lanes      f64
///   accuracy   within 1e-15 * (1 + |z|) of the exact transform of the same bits
///   range      |z| <= 8.58, from uniforms that are odd multiples of 2^-53
///   bits       the same for every instruction set and vector length
void fill_normals(const PhiloxName& name, double* out, std::size_t count);

}  // namespace rarefy::kernels
