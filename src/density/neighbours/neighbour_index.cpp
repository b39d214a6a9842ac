#include "density/neighbours/neighbour_index.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>

#include "core/at.hpp"
#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

// Points that come in order, or again and again the same, make a tree that is deep on one side.
// Up to this depth it is left as it is; trees of random points are much shallower.
Index tolerated_depth(Index leaves) {
  return 2 * static_cast<Index>(std::bit_width(static_cast<std::size_t>(leaves))) + 16;
}

}  // namespace

NeighbourIndex::NeighbourIndex(Index dims) : dims_(dims), rows_(dims) { clear(); }

void NeighbourIndex::clear() {
  size_ = 0;
  depth_ = 0;
  nodes_.clear();
  boxes_.clear();
  node_of_leaf_.clear();
  while (!leaves_.empty()) {
    spare_.push_back(std::move(leaves_.back()));
    leaves_.pop_back();
  }
  make_leaf_node(add_node(), add_leaf());
}

Index NeighbourIndex::add_leaf() {
  if (spare_.empty()) {
    leaves_.emplace_back(dims_);
  } else {
    leaves_.push_back(std::move(spare_.back()));
    leaves_.back().clear();
    spare_.pop_back();
  }
  node_of_leaf_.push_back(0);
  return leaves() - 1;
}

// A node with an empty box.
Index NeighbourIndex::add_node() {
  nodes_.emplace_back();
  boxes_.insert(boxes_.end(), at(dims_), std::numeric_limits<double>::infinity());
  boxes_.insert(boxes_.end(), at(dims_), -std::numeric_limits<double>::infinity());
  return static_cast<Index>(nodes_.size()) - 1;
}

void NeighbourIndex::make_leaf_node(Index node, Index leaf) {
  nodes_[at(node)].leaf = leaf;
  node_of_leaf_[at(leaf)] = node;
}

// Extends the box of a node.
void NeighbourIndex::include(Index node, const double* low, const double* high) {
  double* const lows = boxes_.data() + 2 * node * dims_;
  double* const highs = lows + dims_;
  for (Index d = 0; d < dims_; ++d) {
    lows[d] = std::min(lows[d], low[d]);
    highs[d] = std::max(highs[d], high[d]);
  }
}

Index NeighbourIndex::widest(Index node) const {
  Index dim = 0;
  for (Index d = 1; d < dims_; ++d) {
    if (high(node)[d] - low(node)[d] > high(node)[dim] - low(node)[dim]) dim = d;
  }
  return dim;
}

void NeighbourIndex::add(std::span<const double> point) {
  if (size_ == std::numeric_limits<std::uint32_t>::max()) {
    throw Error(ErrorKind::state, "neighbour index: it has no room for more than 2^32 - 1 points");
  }
  Index node = 0;
  Index depth = 0;
  include(node, point.data(), point.data());
  while (nodes_[at(node)].leaf < 0) {
    const Node& here = nodes_[at(node)];
    node = here.left + (point[at(here.dim)] < here.at ? 0 : 1);
    ++depth;
    include(node, point.data(), point.data());
  }
  PointLeaf& leaf = leaves_[at(nodes_[at(node)].leaf)];
  leaf.append(point.data(), static_cast<std::uint32_t>(size_++));
  if (leaf.count() == PointLeaf::kCapacity) {
    split(node, depth);
  } else if (leaf.count() % PointLeaf::kBlock == 0) {
    // The block that is now full has points from all over the leaf; sorted, each block has
    // neighbours, and a small box.
    rows_.take(leaf);
    rows_.sort_into_blocks(0, leaf.count());
    rows_.give(leaf, 0, leaf.count());
  }
}

void NeighbourIndex::split(Index node, Index depth) {
  constexpr Index kAll = PointLeaf::kCapacity;
  const Index old = nodes_[at(node)].leaf;
  const Index dim = widest(node);
  const double least = low(node)[dim];
  rows_.take(leaves_[at(old)]);
  Index count = kAll / 2;
  rows_.halve(0, kAll, count, dim);
  double where = rows_.row(count)[dim];
  if (least < high(node)[dim]) {  // else all points are the same, and any half will do
    if (!(least < where)) {       // more than half are equal and smallest: these go left
      where = high(node)[dim];
      for (Index i = 0; i < kAll; ++i) {
        if (rows_.row(i)[dim] > least) where = std::min(where, rows_.row(i)[dim]);
      }
    }
    count = rows_.divide(dim, where);
  }
  const Index fresh = add_leaf();
  const Index left = add_node();
  const Index right = add_node();
  nodes_[at(node)] = {.leaf = -1, .left = left, .dim = dim, .at = where};
  make_leaf_node(left, old);
  make_leaf_node(right, fresh);
  for (Index i = 0; i < kAll; ++i) include(i < count ? left : right, rows_.row(i), rows_.row(i));
  rows_.sort_into_blocks(0, count);
  rows_.sort_into_blocks(count, kAll - count);
  rows_.give(leaves_[at(old)], 0, count);
  rows_.give(leaves_[at(fresh)], count, kAll - count);
  depth_ = std::max(depth_, depth + 1);
  if (depth_ > tolerated_depth(leaves())) rebuild();
}

// Makes the tree anew over the leaves as they are.
void NeighbourIndex::rebuild() {
  leaf_boxes_.clear();
  for (const Index node : node_of_leaf_) {
    leaf_boxes_.insert(leaf_boxes_.end(), low(node), low(node) + 2 * dims_);
  }
  order_.resize(at(leaves()));
  std::iota(order_.begin(), order_.end(), Index{0});
  nodes_.clear();
  boxes_.clear();
  depth_ = 0;
  build(add_node(), 0, leaves(), 0);
}

// Makes `node` the tree of the leaves order_[first], ..., halved by the middles of their boxes.
void NeighbourIndex::build(Index node, Index first, Index end, Index depth) {
  depth_ = std::max(depth_, depth);
  const auto leaf_low = [&](Index leaf) { return leaf_boxes_.data() + 2 * leaf * dims_; };
  for (Index i = first; i < end; ++i) {
    const double* const lows = leaf_low(order_[at(i)]);
    include(node, lows, lows + dims_);
  }
  if (end - first == 1) {
    make_leaf_node(node, order_[at(first)]);
    return;
  }
  const Index dim = widest(node);
  const auto middle = [&](Index leaf) {
    const double* const lows = leaf_low(leaf);
    return 0.5 * lows[dim] + 0.5 * lows[dims_ + dim];
  };
  const Index half = first + (end - first) / 2;
  const auto begin = order_.begin();
  std::nth_element(begin + first, begin + half, begin + end,
                   [&](Index a, Index b) { return middle(a) < middle(b); });
  const double where = middle(order_[at(half)]);
  const Index left = add_node();
  const Index right = add_node();
  nodes_[at(node)] = {.leaf = -1, .left = left, .dim = dim, .at = where};
  build(left, first, half, depth + 1);
  build(right, half, end, depth + 1);
}

void NeighbourIndex::copy_to(BatchSpan out) const {
  for (const auto& leaf : leaves_) {
    for (Index i = 0; i < leaf.count(); ++i) {
      const auto row = out.row(static_cast<Index>(leaf.number(i)));
      for (Index d = 0; d < dims_; ++d) row[at(d)] = leaf.coordinate(i, d);
    }
  }
}

}  // namespace rarefy
