// The nearest neighbours of many queries at once, exactly.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "density/neighbours/neighbour_index.hpp"
#include "density/neighbours/smallest_distances.hpp"
#include "kernels/distances.hpp"
#include "rarefy/core/batch.hpp"

namespace rarefy {

/// Each query first looks at the leaves nearest to it, which tells how far its k-th neighbour can
/// be at most. In few dimensions that is all. Else the queries then go through the other leaves
/// together, so that a leaf is read from memory once for all queries that need it: with millions
/// of points, reading memory is what takes the time.
///
/// No leaf and no block of points is passed over unless its box is at least as far as the k-th
/// distance found so far, both as computed (see kernels/distances.hpp). So the k smallest squared
/// distances are those of a plain loop over all points, to the bit, and depend neither on the
/// shape of the tree nor on what other queries there are.
class NeighbourSearch {
 public:
  /// Shows the squared distances from row first + i * step of `queries` to best[i], leaving out
  /// only such as are not below its limit. Squares that overflow are never shown.
  void run(const NeighbourIndex& index, BatchView queries, Index first, Index step,
           std::span<SmallestDistances> best);

 private:
  struct Step {
    double distance;
    Index node;
  };
  struct Part {
    Index next;
    Index end;
  };

  [[nodiscard]] bool visit_nearest(Index query);
  void visit_all();
  void visit_alone(Index query, Index leaf);
  void visit_together(Index leaf, Index count);
  void show(Index query);

  const NeighbourIndex* index_ = nullptr;
  std::span<SmallestDistances> best_;
  std::vector<kernels::Seeker> seekers_;  // the queries, with their limits
  std::vector<Step> frontier_;            // a heap of nodes, the nearest first
  std::vector<Index> visited_;            // leaves, in ascending order for each query
  std::vector<Part> visited_part_;        // which part of it is whose
  std::vector<double> columns_;           // coordinates of queries, dimension by dimension
  std::vector<double> limits_;
  std::vector<Index> for_leaf_;        // queries that a leaf concerns
  std::vector<std::uint32_t> blocks_;  // and which of its blocks
  std::vector<Index> for_block_;       // queries that a block concerns
};

}  // namespace rarefy
