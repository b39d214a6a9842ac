// Random numbers that depend on nothing but their name.
//
// Every number is a pure function of (seed, stream, iteration, position): the
// counter-based generator Philox4x32-10 (Salmon et al., "Parallel random
// numbers: as easy as 1, 2, 3", SC 2011). There is no shared generator to lock
// or to advance, so neither threads nor the order of calls can change a result.
// Uniform and normal numbers are the same bits on every machine: they are made
// with additions, multiplications, divisions and square roots alone, which
// IEEE 754 rounds exactly, never with a library's logarithm or a fused multiply-add.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "rarefy/core/batch.hpp"

namespace rarefy {

/// What a stream of random numbers is for. Streams of different purpose never overlap.
enum class Purpose : std::uint8_t {
  sampling = 0,    ///< an emitter draws solutions
  resampling = 1,  ///< an emitter draws again what fell outside its bounds
  ranking = 2,     ///< ties are broken
  restart = 3,     ///< where an emitter starts anew
  reservoir = 4,   ///< which features the buffer keeps
  centroids = 5,   ///< a tessellation is made
  user = 6,        ///< whatever a program built on the library needs
  parents = 7,     ///< an emitter chooses elites to vary
  weights = 8,     ///< a network before it is trained
  training = 9,    ///< which samples and times a network is trained on
  noise = 10,      ///< where the paths to those samples begin
  probing = 11,    ///< steps of all sizes are tried
  memory = 12,     ///< where the cells lie that restarts remember
};

/// Names a stream. `index` is the emitter, where there is one (24 bits).
struct StreamKey {
  std::uint64_t seed = 0;
  Purpose purpose = Purpose::user;
  std::uint32_t index = 0;
  std::uint64_t iteration = 0;
};

/// One Philox4x32-10 block: four 32-bit words for block number `block` of a stream.
std::array<std::uint32_t, 4> philox_block(const StreamKey& key, std::uint32_t block);

/// Numbers of one stream, one after the other: 2^34 words, then the same again.
class RandomStream {
 public:
  explicit RandomStream(const StreamKey& key) : key_(key) {}

  std::uint32_t bits32();
  std::uint64_t bits64();
  /// Uniform on [0, 1), a multiple of 2^-53.
  double uniform();
  /// Uniform on (0, 1): never exactly 0 or 1, an odd multiple of 2^-53.
  double uniform_open();
  /// Uniform on {0, ..., bound - 1} without bias; bound > 0.
  std::uint64_t below(std::uint64_t bound);

 private:
  StreamKey key_;
  std::array<std::uint32_t, 4> words_{};
  std::uint32_t next_block_ = 0;
  unsigned used_ = 4;
};

/// Fills `out` with independent standard normal numbers of the given stream.
/// Number i depends on the key and on i alone, not on out.size().
void fill_normals(const StreamKey& key, std::span<double> out);

/// Shuffles 0 .. out.size()-1 into `out`.
void random_permutation(RandomStream& random, std::span<Index> out);

}  // namespace rarefy
