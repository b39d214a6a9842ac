// The nearest of points that keep coming: which they are, and how far.
#pragma once

#include <memory>
#include <span>

#include "rarefy/core/batch.hpp"

namespace rarefy {

/// Exact: the k smallest distances of a query are those of a plain loop over all points, to the
/// bit. Which of two points at the same distance is named is not stated, but always the same.
/// Squares of distances must not overflow: what is farther is not found.
class NearestNeighbours {
 public:
  explicit NearestNeighbours(Index dims);
  ~NearestNeighbours();
  NearestNeighbours(const NearestNeighbours&) = delete;
  NearestNeighbours& operator=(const NearestNeighbours&) = delete;

  [[nodiscard]] Index dims() const;
  [[nodiscard]] Index size() const;

  /// Takes in points, which must be finite; they are numbered as they come, from 0.
  void add(BatchView points);
  void clear();

  /// Row i of `distances` and of `numbers`, k values each, are those of the k points nearest to
  /// query i, the nearest first. k is 1 to size(). A point that is not found is number -1, at an
  /// infinite distance.
  void find(BatchView queries, Index k, std::span<double> distances,
            std::span<Index> numbers) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace rarefy
