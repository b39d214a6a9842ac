#include "rarefy/core/random.hpp"

#include <Random123/philox.h>

#include <numeric>
#include <utility>

#include "kernels/normals.hpp"

namespace rarefy {

namespace {

// Where the parts of a name go in Philox's counter and key. The block number
// comes first, so that vector code counts in one word.
kernels::PhiloxName philox_name(const StreamKey& key) {
  return {
      .counter = {0, (static_cast<std::uint32_t>(key.purpose) << 24) | (key.index & 0xFFFFFFU),
                  static_cast<std::uint32_t>(key.iteration),
                  static_cast<std::uint32_t>(key.iteration >> 32)},
      .key = {static_cast<std::uint32_t>(key.seed), static_cast<std::uint32_t>(key.seed >> 32)},
  };
}

}  // namespace

std::array<std::uint32_t, 4> philox_block(const StreamKey& key, std::uint32_t block) {
  const auto name = philox_name(key);
  const r123::Philox4x32::ctr_type counter = {
      {block, name.counter[1], name.counter[2], name.counter[3]}};
  const r123::Philox4x32::key_type words = {{name.key[0], name.key[1]}};
  const auto result = r123::Philox4x32()(counter, words);
  return {result[0], result[1], result[2], result[3]};
}

std::uint32_t RandomStream::bits32() {
  if (used_ == words_.size()) {
    words_ = philox_block(key_, next_block_++);
    used_ = 0;
  }
  return words_[used_++];
}

std::uint64_t RandomStream::bits64() {
  const std::uint64_t low = bits32();
  return low | (static_cast<std::uint64_t>(bits32()) << 32);
}

double RandomStream::uniform() { return static_cast<double>(bits64() >> 11) * 0x1p-53; }

double RandomStream::uniform_open() {
  return (static_cast<double>(bits64() >> 12) + 0.5) * 0x1p-52;
}

std::uint64_t RandomStream::below(std::uint64_t bound) {
  // Lemire, "Fast random integer generation in an interval", ACM TOMACS 2019:
  // the high half of bits * bound, drawn again in the few cases that would bias it.
  __extension__ using Wide = unsigned __int128;
  Wide product = static_cast<Wide>(bits64()) * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t threshold = (0 - bound) % bound;
    while (static_cast<std::uint64_t>(product) < threshold) {
      product = static_cast<Wide>(bits64()) * bound;
    }
  }
  return static_cast<std::uint64_t>(product >> 64);
}

void fill_normals(const StreamKey& key, std::span<double> out) {
  kernels::fill_normals(philox_name(key), out.data(), out.size());
}

void random_permutation(RandomStream& random, std::span<Index> out) {
  std::iota(out.begin(), out.end(), Index{0});
  for (std::size_t i = out.size(); i > 1; --i) {
    std::swap(out[i - 1], out[random.below(i)]);
  }
}

}  // namespace rarefy
