// Which rows of a batch could be evaluated, and the batch that they make without the others.
//
// Only the loop knows of failures: density, tessellation and archive see a batch in which every
// row is valid. Where nothing failed that is the caller's own, and nothing is copied.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rarefy/core/batch.hpp"
#include "rarefy/core/evaluated.hpp"

namespace rarefy {

class UsableRows {
 public:
  /// Values that mark a row as failed.
  struct MeansFailed {
    bool nan = false;
    bool not_finite = false;
  };

  /// Looks through a batch that was told. Rows whose `valid` is 0 failed (empty: all are valid),
  /// and those with a value that means it. Throws where a row that did not fail has a value that is
  /// not finite.
  void find(BatchView features, std::span<const double> objectives,
            std::span<const std::uint8_t> valid, MeansFailed means_failed);

  /// Counts a row as if it had failed.
  void leave_out(Index row) {
    auto& flag = usable_[static_cast<std::size_t>(row)];
    count_ -= flag;
    flag = 0;
  }

  [[nodiscard]] Index count() const { return count_; }
  [[nodiscard]] bool all() const { return count_ == static_cast<Index>(usable_.size()); }
  [[nodiscard]] bool operator[](Index row) const {
    return usable_[static_cast<std::size_t>(row)] != 0;
  }
  /// Which of some rows are, 1 or 0 each; empty where all rows of the batch are.
  [[nodiscard]] std::span<const std::uint8_t> flags(Index first, Index count) const {
    if (all()) return {};
    return std::span(usable_).subspan(static_cast<std::size_t>(first),
                                      static_cast<std::size_t>(count));
  }
  /// How many there are before that row, and so its place among them if it is one.
  [[nodiscard]] Index before(Index row) const;

  /// The rows that are usable, one after the other. Good until the next call.
  [[nodiscard]] Evaluated gather(BatchView features, std::span<const double> objectives);
  [[nodiscard]] BatchView gather_solutions(BatchView solutions);

  /// The reverse, in place: the first count() values go to the rows they belong to, all others
  /// become `failed`.
  template <typename Value>
  void scatter(std::span<Value> values, Value failed) const {
    if (all()) return;
    Index from = count_;
    for (auto row = values.size(); row-- > 0;) {  // no value is overwritten before it was moved
      values[row] = usable_[row] != 0 ? values[static_cast<std::size_t>(--from)] : failed;
    }
  }

 private:
  void gather_rows(BatchView from, Batch& to) const;

  std::vector<std::uint8_t> usable_;
  Index count_ = 0;
  // Made the first time something fails.
  Batch solutions_, features_;
  std::vector<double> objectives_;
};

}  // namespace rarefy
