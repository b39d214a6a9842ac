// The k smallest of many distances.
#pragma once

#include <span>
#include <vector>

#include "rarefy/core/batch.hpp"

namespace rarefy {

/// Keeps the k smallest of the squared distances that it is shown. They are collected in a
/// buffer that is sifted when it is full, which takes less than keeping them in order.
class SmallestDistances {
 public:
  /// Starts anew; k > 0.
  void begin(Index k);

  /// Values that are not below it change nothing. Infinite until k values were shown.
  [[nodiscard]] double limit() const { return limit_; }
  /// Where to write values before show(): as many as a block of points has.
  [[nodiscard]] double* room() { return values_.data() + count_; }
  /// Says that `count` values, finite and >= 0, were written to room().
  void show(Index count);

  /// The values kept, in no stated order; k of them, or all where fewer were shown. Behind them
  /// is room for kernels::vector_padding() more.
  [[nodiscard]] std::span<double> finish();

 private:
  void sift(Index most);

  std::vector<double> values_;
  Index k_ = 0;
  Index count_ = 0;
  Index full_ = 0;  // time to sift
  double limit_ = 0.0;
};

}  // namespace rarefy
