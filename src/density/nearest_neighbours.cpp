#include "rarefy/density/nearest_neighbours.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/at.hpp"
#include "density/neighbours/neighbour_index.hpp"
#include "kernels/distances.hpp"
#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

constexpr double kFar = std::numeric_limits<double>::infinity();

// A squared distance, and what is there: a node, or a point's number. Heaps of them have the
// greatest on top; of nodes, whose distances are negated, the nearest.
using Place = std::pair<double, Index>;

// One query at a time: the nearest box first, until none is nearer than the k-th point found.
class Walk {
 public:
  Walk(const NeighbourIndex& index, Index k) : index_(index), k_(at(k)) {}

  /// Ascending.
  const std::vector<Place>& nearest(std::span<const double> query) {
    found_.clear();
    ahead_.assign(1, {-box_distance(query, 0), 0});
    while (!ahead_.empty()) {
      std::pop_heap(ahead_.begin(), ahead_.end());
      const auto [distance, number] = ahead_.back();
      ahead_.pop_back();
      if (-distance >= limit()) break;
      const auto& node = index_.node(number);
      if (node.leaf >= 0) {
        look_into(index_.leaf(node.leaf), query);
        continue;
      }
      for (const Index child : {node.left, node.left + 1}) {
        const double far = box_distance(query, child);
        if (!(far < limit())) continue;
        ahead_.emplace_back(-far, child);
        std::push_heap(ahead_.begin(), ahead_.end());
      }
    }
    std::sort_heap(found_.begin(), found_.end());
    return found_;
  }

 private:
  [[nodiscard]] double limit() const { return found_.size() < k_ ? kFar : found_.front().first; }

  // In the order of the dimensions, as kernels/distances.hpp has it, so that no box is farther
  // than a point in it.
  [[nodiscard]] double box_distance(std::span<const double> query, Index node) const {
    const double* low = index_.low(node);
    const double* high = index_.high(node);
    double sum = 0.0;
    for (std::size_t d = 0; d < query.size(); ++d) {
      const double off = query[d] - std::clamp(query[d], low[d], high[d]);
      sum += off * off;
    }
    return sum;
  }

  // The nearest block first: its points soon make the limit so small that few others are taken.
  void look_into(const PointLeaf& leaf, std::span<const double> query) {
    double distances[kernels::kBoxesPerRow];
    Place blocks[kernels::kBoxesPerRow];
    std::size_t count = 0;
    auto in_reach = kernels::boxes_in_reach(leaf.box_low(), leaf.box_high(), query.data(),
                                            static_cast<Index>(query.size()), limit(), distances);
    for (; in_reach != 0; in_reach &= in_reach - 1) {
      const int block = std::countr_zero(in_reach);
      blocks[count++] = {distances[block], block};
    }
    std::sort(blocks, blocks + count);
    for (std::size_t b = 0; b < count && blocks[b].first < limit(); ++b) {
      look_into(leaf, blocks[b].second, query);
    }
  }

  void look_into(const PointLeaf& leaf, Index block, std::span<const double> query) {
    double sums[PointLeaf::kBlock] = {};
    const double* coordinates = leaf.block(block);
    for (const double value : query) {
      for (Index i = 0; i < PointLeaf::kBlock; ++i) {
        const double off = value - coordinates[i];
        sums[i] += off * off;
      }
      coordinates += PointLeaf::kBlock;
    }
    double limit_now = limit();
    for (Index i = 0; i < PointLeaf::kBlock; ++i) {  // where there is no point, it is infinite
      if (!(sums[i] < limit_now)) continue;
      take({sums[i], leaf.number(block * PointLeaf::kBlock + i)});
      limit_now = limit();
    }
  }

  void take(const Place& point) {
    if (found_.size() < k_) {
      found_.push_back(point);
      std::push_heap(found_.begin(), found_.end());
      return;
    }
    // In the place of the farthest, and down from there.
    std::size_t hole = 0;
    for (std::size_t child = 1; child < k_; child = 2 * hole + 1) {
      if (child + 1 < k_ && found_[child] < found_[child + 1]) ++child;
      if (!(point < found_[child])) break;
      found_[hole] = found_[child];
      hole = child;
    }
    found_[hole] = point;
  }

  const NeighbourIndex& index_;
  std::size_t k_;
  std::vector<Place> found_;  // a heap of points
  std::vector<Place> ahead_;  // a heap of nodes
};

void check_points(BatchView points, Index dims, const char* what) {
  if (points.cols() != dims) {
    throw Error(ErrorKind::data, what, fmt::format("{} columns", points.cols()),
                fmt::format("{}", dims));
  }
  for (Index i = 0; i < points.rows(); ++i) {
    for (const double value : points.row(i)) {
      if (!std::isfinite(value)) {
        throw Error(ErrorKind::data, fmt::format("{}: row {}", what, i), fmt::format("{}", value),
                    "finite numbers");
      }
    }
  }
}

Index checked_dims(Index dims) {
  if (dims < 1) {
    throw Error(ErrorKind::parameter, "neighbours: dimensions", fmt::format("{}", dims),
                "at least 1");
  }
  return dims;
}

}  // namespace

struct NearestNeighbours::Parts {
  explicit Parts(Index dims) : index(dims) {}
  NeighbourIndex index;
};

NearestNeighbours::NearestNeighbours(Index dims)
    : parts_(std::make_unique<Parts>(checked_dims(dims))) {}

NearestNeighbours::~NearestNeighbours() = default;

Index NearestNeighbours::dims() const { return parts_->index.dims(); }

Index NearestNeighbours::size() const { return parts_->index.size(); }

void NearestNeighbours::add(BatchView points) {
  check_points(points, dims(), "points");
  for (Index i = 0; i < points.rows(); ++i) parts_->index.add(points.row(i));
}

void NearestNeighbours::clear() { parts_->index.clear(); }

void NearestNeighbours::find(BatchView queries, Index k, std::span<double> distances,
                             std::span<Index> numbers) const {
  check_points(queries, dims(), "queries");
  if (k < 1 || k > size()) {
    throw Error(ErrorKind::data, "neighbours: k", fmt::format("{}", k),
                fmt::format("1 to {}, the number of points", size()));
  }
  if (distances.size() != at(queries.rows() * k) || numbers.size() != distances.size()) {
    throw Error(ErrorKind::data, "neighbours: room",
                fmt::format("{} distances and {} numbers", distances.size(), numbers.size()),
                fmt::format("{} x {} of each", queries.rows(), k));
  }
  std::fill(distances.begin(), distances.end(), kFar);
  std::fill(numbers.begin(), numbers.end(), Index{-1});
  Walk walk(parts_->index, k);
  for (Index i = 0; i < queries.rows(); ++i) {
    std::size_t to = at(i * k);
    for (const auto& [squared, number] : walk.nearest(queries.row(i))) {
      distances[to] = std::sqrt(squared);
      numbers[to++] = number;
    }
  }
}

}  // namespace rarefy
