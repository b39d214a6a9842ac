#include "density/neighbours/point_leaf.hpp"

#include <algorithm>
#include <limits>

#include "core/at.hpp"

namespace rarefy {
PointLeaf::PointLeaf(Index dims) : dims_(dims), numbers_(at(kCapacity)) {
  const auto size = at((kCapacity + 2 * kBlocks) * dims) * sizeof(double);
  memory_.reset(static_cast<double*>(::operator new[](size, kAlignment)));
  clear();
}

void PointLeaf::clear() {
  count_ = 0;
  std::fill(memory_.get(), memory_.get() + (kCapacity + 2 * kBlocks) * dims_,
            std::numeric_limits<double>::infinity());
}

void PointLeaf::append(const double* point, std::uint32_t number) {
  const Index i = count_++;
  double* const lows = memory_.get() + i / kBlock;
  double* const highs = lows + kBlocks * dims_;
  const bool first = i % kBlock == 0;
  for (Index d = 0; d < dims_; ++d) {
    points()[place(i, d)] = point[d];
    double& low = lows[d * kBlocks];
    double& high = highs[d * kBlocks];
    low = first ? point[d] : std::min(low, point[d]);
    high = first ? point[d] : std::max(high, point[d]);
  }
  numbers_[at(i)] = number;
}

LeafRows::LeafRows(Index dims)
    : dims_(dims),
      rows_(at(PointLeaf::kCapacity * dims)),
      numbers_(at(PointLeaf::kCapacity)),
      order_(at(PointLeaf::kCapacity)),
      low_(at(dims)),
      high_(at(dims)) {}

void LeafRows::take(const PointLeaf& leaf) {
  count_ = leaf.count();
  for (Index i = 0; i < count_; ++i) {
    order_[at(i)] = i;
    numbers_[at(i)] = leaf.number(i);
    for (Index d = 0; d < dims_; ++d) rows_[at(i * dims_ + d)] = leaf.coordinate(i, d);
  }
}

void LeafRows::give(PointLeaf& leaf, Index first, Index count) const {
  leaf.clear();
  for (Index i = first; i < first + count; ++i) leaf.append(row(i), numbers_[at(order_[at(i)])]);
}

Index LeafRows::widest(Index first, Index count) {
  std::fill(low_.begin(), low_.end(), std::numeric_limits<double>::infinity());
  std::fill(high_.begin(), high_.end(), -std::numeric_limits<double>::infinity());
  for (Index i = first; i < first + count; ++i) {
    for (Index d = 0; d < dims_; ++d) {
      low_[at(d)] = std::min(low_[at(d)], row(i)[d]);
      high_[at(d)] = std::max(high_[at(d)], row(i)[d]);
    }
  }
  Index dim = 0;
  for (Index d = 1; d < dims_; ++d) {
    if (high_[at(d)] - low_[at(d)] > high_[at(dim)] - low_[at(dim)]) dim = d;
  }
  return dim;
}

void LeafRows::halve(Index first, Index end, Index count, Index dim) {
  const auto begin = order_.begin() + first;
  std::nth_element(begin, begin + count, order_.begin() + end, [&](Index a, Index b) {
    return rows_[at(a * dims_ + dim)] < rows_[at(b * dims_ + dim)];
  });
}

Index LeafRows::divide(Index dim, double where) {
  const auto begin = order_.begin();
  return std::partition(begin, begin + count_,
                        [&](Index a) { return rows_[at(a * dims_ + dim)] < where; }) -
         begin;
}

void LeafRows::sort_into_blocks(Index first, Index count) {
  while (count > PointLeaf::kBlock) {
    const Index blocks = (count + PointLeaf::kBlock - 1) / PointLeaf::kBlock;
    const Index half = (blocks + 1) / 2 * PointLeaf::kBlock;
    halve(first, first + count, half, widest(first, count));
    sort_into_blocks(first + half, count - half);
    count = half;
  }
}

}  // namespace rarefy
