#include "density/neighbours/neighbour_search.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "core/at.hpp"

namespace rarefy {
namespace {

// Leaves that a query visits on its own once it has k distances. More of them would lower its
// limit further, but each is read from memory for one query alone.
constexpr Index kFirstLeaves = 8;

// As kernels/distances.hpp defines it.
double box_distance(const NeighbourIndex& index, Index node, const double* query) {
  const double* const low = index.low(node);
  const double* const high = index.high(node);
  double sum = 0.0;
  for (Index d = 0; d < index.dims(); ++d) {
    const double outside = std::max(std::max(low[d] - query[d], query[d] - high[d]), 0.0);
    sum += outside * outside;
  }
  return sum;
}

}  // namespace

void NeighbourSearch::run(const NeighbourIndex& index, BatchView queries, Index first, Index step,
                          std::span<SmallestDistances> best) {
  index_ = &index;
  best_ = best;
  const std::size_t count = best.size();
  seekers_.resize(count);
  visited_part_.resize(count);
  visited_.clear();
  blocks_.resize(count);
  for_leaf_.resize(count + static_cast<std::size_t>(kernels::vector_padding()));
  for_block_.resize(count + 1);
  if (frontier_.capacity() < at(index.leaves())) frontier_.reserve(2 * at(index.leaves()));

  bool finished = true;
  for (std::size_t i = 0; i < count; ++i) {
    const auto row = queries.row(first + static_cast<Index>(i) * step);
    seekers_[i] = {row.data(), best[i].limit(), best[i].room()};
    const std::size_t begin = visited_.size();
    if (visit_nearest(static_cast<Index>(i))) {
      seekers_[i].limit = 0.0;
      visited_.resize(begin);
    } else {
      finished = false;
    }
    std::sort(visited_.begin() + static_cast<Index>(begin), visited_.end());
    visited_part_[i] = {static_cast<Index>(begin), static_cast<Index>(visited_.size())};
  }
  if (!finished) visit_all();
}

// Visits leaves from the nearest on; true when those left are all too far.
bool NeighbourSearch::visit_nearest(Index query) {
  const auto farther = [](const Step& a, const Step& b) { return a.distance > b.distance; };
  const auto& seeker = seekers_[at(query)];
  frontier_.clear();
  frontier_.push_back({box_distance(*index_, 0, seeker.query), 0});
  Index visits = 0;
  while (!frontier_.empty()) {
    std::pop_heap(frontier_.begin(), frontier_.end(), farther);
    const Step nearest = frontier_.back();
    frontier_.pop_back();
    if (!(nearest.distance < seeker.limit)) return true;
    if (visits == kFirstLeaves) return false;
    Index node = nearest.node;
    while (index_->node(node).leaf < 0) {
      Index near = index_->node(node).left;
      Index far = near + 1;
      double near_distance = box_distance(*index_, near, seeker.query);
      double far_distance = box_distance(*index_, far, seeker.query);
      if (far_distance < near_distance) {
        std::swap(near, far);
        std::swap(near_distance, far_distance);
      }
      if (far_distance < seeker.limit) {
        frontier_.push_back({far_distance, far});
        std::push_heap(frontier_.begin(), frontier_.end(), farther);
      }
      node = near;
    }
    if (seeker.limit < std::numeric_limits<double>::infinity()) ++visits;
    visited_.push_back(index_->node(node).leaf);
    visit_alone(query, index_->node(node).leaf);
  }
  return true;
}

// Takes all queries that are not finished through the leaves they have not visited.
void NeighbourSearch::visit_all() {
  const Index dims = index_->dims();
  const auto count = static_cast<Index>(seekers_.size());
  constexpr Index kPadding = kernels::vector_padding();
  const Index stride = (count + kPadding - 1) / kPadding * kPadding;
  columns_.assign(at(stride * dims), 0.0);
  limits_.assign(at(stride), 0.0);
  for (Index i = 0; i < count; ++i) {
    const auto& seeker = seekers_[at(i)];
    limits_[at(i)] = seeker.limit;
    for (Index d = 0; d < dims; ++d) columns_[at(d * stride + i)] = seeker.query[d];
  }
  for (Index leaf = 0; leaf < index_->leaves(); ++leaf) {
    const Index node = index_->node_of_leaf(leaf);
    const Index in_reach =
        kernels::queries_in_reach(index_->low(node), index_->high(node), columns_.data(), stride,
                                  dims, limits_.data(), for_leaf_.data());
    Index concerned = 0;
    for (Index i = 0; i < in_reach; ++i) {
      const Index query = for_leaf_[at(i)];
      auto& mine = visited_part_[at(query)];
      while (mine.next < mine.end && visited_[at(mine.next)] < leaf) ++mine.next;
      const bool visited = mine.next < mine.end && visited_[at(mine.next)] == leaf;
      if (!visited) for_leaf_[at(concerned++)] = query;
    }
    if (concerned == 0) continue;
    visit_together(leaf, concerned);
    for (Index i = 0; i < concerned; ++i) {
      const Index query = for_leaf_[at(i)];
      limits_[at(query)] = seekers_[at(query)].limit;
    }
  }
}

// Shows the points of a leaf to one query, the nearest blocks first.
void NeighbourSearch::visit_alone(Index query, Index leaf) {
  const PointLeaf& points = index_->leaf(leaf);
  const auto& seeker = seekers_[at(query)];
  std::array<double, at(PointLeaf::kBlocks)> distance{};
  auto left = kernels::boxes_in_reach(points.box_low(), points.box_high(), seeker.query,
                                      index_->dims(), seeker.limit, distance.data());
  while (left != 0) {
    int nearest = std::countr_zero(left);
    for (auto others = left; others != 0; others &= others - 1) {
      const int block = std::countr_zero(others);
      if (distance[at(block)] < distance[at(nearest)]) nearest = block;
    }
    if (!(distance[at(nearest)] < seeker.limit)) return;
    left ^= 1U << nearest;
    kernels::collect_nearer(points.block(nearest), index_->dims(), seekers_.data(), &query, 1);
    show(query);
  }
}

// Shows the points of a leaf to the first `count` queries of for_leaf_, block by block, so that a
// block is read once for all of them.
void NeighbourSearch::visit_together(Index leaf, Index count) {
  const Index dims = index_->dims();
  const PointLeaf& points = index_->leaf(leaf);
  std::array<double, at(PointLeaf::kBlocks)> distance{};
  std::uint32_t any = 0;
  for (Index i = 0; i < count; ++i) {
    const auto& seeker = seekers_[at(for_leaf_[at(i)])];
    blocks_[at(i)] = kernels::boxes_in_reach(points.box_low(), points.box_high(), seeker.query,
                                             dims, seeker.limit, distance.data());
    any |= blocks_[at(i)];
  }
  for (; any != 0; any &= any - 1) {
    const int block = std::countr_zero(any);
    Index concerned = 0;
    for (Index i = 0; i < count; ++i) {
      for_block_[at(concerned)] = for_leaf_[at(i)];
      concerned += static_cast<Index>(blocks_[at(i)] >> block & 1U);
    }
    kernels::collect_nearer(points.block(block), dims, seekers_.data(), for_block_.data(),
                            concerned);
    for (Index i = 0; i < concerned; ++i) show(for_block_[at(i)]);
  }
}

// Shows a query's results what it has collected.
void NeighbourSearch::show(Index query) {
  auto& seeker = seekers_[at(query)];
  auto& best = best_[at(query)];
  const Index found = seeker.out - best.room();
  if (found == 0) return;
  best.show(found);
  seeker.limit = best.limit();
  seeker.out = best.room();
}

}  // namespace rarefy
