// Points in a tree of boxes, for finding the nearest ones while points keep coming.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "density/neighbours/point_leaf.hpp"
#include "rarefy/core/batch.hpp"

namespace rarefy {

/// A binary tree whose leaves hold the points; every node has the tight box around its points.
/// A point goes down by splits in one dimension each; a full leaf is split at the median of its
/// widest one. Which leaf a point came to is a matter of speed alone: searches read the boxes.
///
/// Memory: 8 dims + 4 bytes a place, 50 to 100 % of the places taken (some 70 % while points
/// keep coming), and a tenth more for boxes. The first leaf alone has 512 places.
class NeighbourIndex {
 public:
  struct Node {
    Index leaf = -1;  // -1: an inner node, which has:
    Index left = 0;   // the child below `at`; the other one is the next node
    Index dim = 0;    // points below `at` in this dimension go left
    double at = 0.0;
  };

  explicit NeighbourIndex(Index dims);

  [[nodiscard]] Index dims() const { return dims_; }
  [[nodiscard]] Index size() const { return size_; }

  /// Takes in a point of finite coordinates.
  void add(std::span<const double> point);
  /// Forgets all points, and keeps their memory for others.
  void clear();
  /// Copies the points, in the order in which they were added, to the rows of `out`.
  void copy_to(BatchSpan out) const;

  /// The tree, from node 0 down, and the ends of its boxes, dims() of each.
  [[nodiscard]] const Node& node(Index i) const { return nodes_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] const double* low(Index node) const { return boxes_.data() + 2 * node * dims_; }
  [[nodiscard]] const double* high(Index node) const { return low(node) + dims_; }

  [[nodiscard]] Index leaves() const { return static_cast<Index>(leaves_.size()); }
  [[nodiscard]] const PointLeaf& leaf(Index i) const {
    return leaves_[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] Index node_of_leaf(Index i) const {
    return node_of_leaf_[static_cast<std::size_t>(i)];
  }
  /// Steps from node 0 to the deepest leaf.
  [[nodiscard]] Index depth() const { return depth_; }

 private:
  Index add_leaf();
  Index add_node();
  void make_leaf_node(Index node, Index leaf);
  void include(Index node, const double* low, const double* high);
  [[nodiscard]] Index widest(Index node) const;
  void split(Index node, Index depth);
  void rebuild();
  void build(Index node, Index first, Index end, Index depth);

  Index dims_;
  Index size_ = 0;
  Index depth_ = 0;
  std::vector<Node> nodes_;
  std::vector<double> boxes_;  // of each node: low ends, then high ends
  std::vector<PointLeaf> leaves_;
  std::vector<Index> node_of_leaf_;
  std::vector<PointLeaf> spare_;  // leaves left over from before clear()

  // Scratch of add().
  LeafRows rows_;
  std::vector<Index> order_;
  std::vector<double> leaf_boxes_;
};

}  // namespace rarefy
