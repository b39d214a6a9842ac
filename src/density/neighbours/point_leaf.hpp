// A few hundred points that lie close together, as the kernels of neighbour search want them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "kernels/distances.hpp"
#include "rarefy/core/batch.hpp"

namespace rarefy {

/// Points in blocks, each with the box around it (see kernels/distances.hpp).
class PointLeaf {
 public:
  static constexpr Index kBlock = kernels::kPointsPerBlock;
  static constexpr Index kBlocks = kernels::kBoxesPerRow;
  static constexpr Index kCapacity = kBlock * kBlocks;

  explicit PointLeaf(Index dims);

  [[nodiscard]] Index count() const { return count_; }
  [[nodiscard]] double coordinate(Index i, Index d) const { return points()[place(i, d)]; }
  /// The number under which point i was appended.
  [[nodiscard]] std::uint32_t number(Index i) const {
    return numbers_[static_cast<std::size_t>(i)];
  }

  void clear();
  void append(const double* point, std::uint32_t number);

  [[nodiscard]] const double* block(Index b) const { return points() + b * dims_ * kBlock; }
  [[nodiscard]] const double* box_low() const { return memory_.get(); }
  [[nodiscard]] const double* box_high() const { return memory_.get() + kBlocks * dims_; }

 private:
  static constexpr std::align_val_t kAlignment{64};  // a cache line, and the longest vector
  struct Free {
    void operator()(double* memory) const { ::operator delete[](memory, kAlignment); }
  };

  [[nodiscard]] double* points() const { return memory_.get() + 2 * kBlocks * dims_; }
  [[nodiscard]] Index place(Index i, Index d) const {
    return (i / kBlock * dims_ + d) * kBlock + i % kBlock;
  }

  Index dims_;
  Index count_ = 0;
  std::unique_ptr<double[], Free> memory_;  // low ends of the boxes, high ends, points
  std::vector<std::uint32_t> numbers_;
};

/// The points of one full or growing leaf, to be put in another order.
class LeafRows {
 public:
  explicit LeafRows(Index dims);

  /// Copies all points of `leaf`.
  void take(const PointLeaf& leaf);
  /// Orders `count` points from `first` on so that neighbours come to lie in the same block:
  /// halves them at the median of their widest dimension, and the halves again.
  void sort_into_blocks(Index first, Index count);
  /// Makes of them the points of `leaf`.
  void give(PointLeaf& leaf, Index first, Index count) const;

  /// Puts the `count` of the points from `first` to `end` that are smallest in dimension `dim`
  /// before the others, and the next larger one directly behind them.
  void halve(Index first, Index end, Index count, Index dim);
  /// Puts those below `where` in dimension `dim` first and returns how many they are.
  Index divide(Index dim, double where);

  [[nodiscard]] const double* row(Index i) const {
    return rows_.data() + order_[static_cast<std::size_t>(i)] * dims_;
  }

 private:
  [[nodiscard]] Index widest(Index first, Index count);

  Index dims_;
  Index count_ = 0;
  std::vector<double> rows_;
  std::vector<std::uint32_t> numbers_;
  std::vector<Index> order_;
  std::vector<double> low_, high_;
};

}  // namespace rarefy
