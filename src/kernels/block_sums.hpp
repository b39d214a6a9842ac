// Sums of Gaussians over points in small blocks, most of which are too far away to matter.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rarefy::kernels {

/// Points in blocks of kSize, each block with the box around its points. A place that holds no
/// point counts for nothing.
class PointBlocks {
 public:
  static constexpr std::ptrdiff_t kSize = 32;

  explicit PointBlocks(std::ptrdiff_t dims) : dims_(dims) {}

  [[nodiscard]] std::ptrdiff_t dims() const { return dims_; }
  [[nodiscard]] std::ptrdiff_t count() const { return count_; }
  void reserve(std::ptrdiff_t blocks);
  /// So many blocks, all of them empty.
  void reset(std::ptrdiff_t blocks);
  /// Place `at` of block at / kSize holds a point, or none. Its block has the box it had before
  /// until it is fitted.
  void set(std::ptrdiff_t at, std::span<const float> point);
  void clear(std::ptrdiff_t at);
  /// Makes the box of a block that of the points in it.
  void fit(std::ptrdiff_t block);

  /// Coordinates of a block, kSize for each dimension, then the squares of the points' lengths.
  [[nodiscard]] const float* points(std::ptrdiff_t block) const {
    return points_.data() + first_ + block * stride();
  }
  [[nodiscard]] const float* low(std::ptrdiff_t d) const { return low_.data() + d * padded(); }
  [[nodiscard]] const float* high(std::ptrdiff_t d) const { return high_.data() + d * padded(); }
  /// No point is longer: as far from 0 as any was since the blocks were reset.
  [[nodiscard]] float longest() const { return longest_; }
  /// There has been a point of that length.
  void note_length(float length) { longest_ = std::max(longest_, length); }
  /// Blocks there is room for, a whole number of vectors.
  [[nodiscard]] std::ptrdiff_t padded() const {
    return (count_ + kLongestVector - 1) / kLongestVector * kLongestVector;
  }

  static constexpr float kFarAway = 1e18F;
  static constexpr std::ptrdiff_t kLongestVector = 64;  ///< floats, of any instruction set

 private:
  [[nodiscard]] std::ptrdiff_t stride() const { return (dims_ + 1) * kSize; }

  std::ptrdiff_t dims_;
  std::ptrdiff_t count_ = 0;
  std::vector<float> points_;
  std::ptrdiff_t first_ = 0;       // where they begin
  std::vector<float> low_, high_;  // of the boxes, a column for each dimension
  float longest_ = 0.0F;
};

/// What gaussian_block_sums needs to write on; one for each thread.
struct BlockScratch {
  static constexpr std::ptrdiff_t kQueries = 12;  ///< that look at the blocks together
  void make_room(const PointBlocks& blocks);
  std::vector<float> bounds;
};

/// To each of `count` queries' sums adds that of 2^(-d^2) over all points, d the distance to the
/// query, but for blocks that are left out because all of them together cannot come to more than
/// `tolerance` times the sum. The nearest blocks come first.
///   lanes      f32, sums of up to 2,048 points added up in f64
///   accuracy   what is left out is at most `tolerance` of the sum, all of it missing; beside
///              that a relative error of at most 3e-6 + kRounding. Where coordinates are so long
///              that d^2 = x^2 + y^2 - 2xy would be rounded to more, differences are squared
///   range      terms below 2^-126 count as 2^-126, and so do empty places that are looked at;
///              a sum below 2^-60 may be anything
/// A query's result does not depend on other queries.
void gaussian_block_sums(const PointBlocks& blocks, const float* queries, std::ptrdiff_t count,
                         double tolerance, BlockScratch& scratch, double* sums);

/// Of gaussian_block_sums: how much the rounding of d^2 may change a term, relatively.
constexpr double kRounding = 4e-4;

}  // namespace rarefy::kernels
