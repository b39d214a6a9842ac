// How often features came by, told apart more finely than a kernel does.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "rarefy/core/batch.hpp"
#include "rarefy/core/feature_space.hpp"
#include "rarefy/core/state.hpp"

namespace rarefy {

/// All features ever seen, of one or two dimensions, on a grid over the box. Each is spread over
/// three nodes along every dimension by a quadratic B-spline, and the grid is read by the same
/// spline: the estimate is smooth, and close to that of a Gaussian kernel whose deviation is
/// 1 / sqrt(2) of the grid's spacing (the variance of a quadratic B-spline is 1/4; two of them).
/// Features outside of the box count as if on its border.
class FineCounts {
 public:
  /// Spacings follow from the deviations wanted, one for each dimension, as far as 1 to kMost
  /// of them make up the box.
  FineCounts(FeatureSpace space, std::span<const double> deviations);

  static constexpr Index kMost = 512;
  static constexpr Index kMostDims = 2;
  /// How many numbers it would keep.
  [[nodiscard]] static Index nodes_of(const FeatureSpace& space,
                                      std::span<const double> deviations);

  void add(BatchView features);
  [[nodiscard]] double total() const { return total_; }
  /// The part of all features that lies around a place: density times volume().
  [[nodiscard]] double share(std::span<const double> features) const;
  /// Of a Gaussian kernel of the deviations that it has: the product of sqrt(2 pi) deviation.
  [[nodiscard]] double volume() const { return volume_; }
  /// Of one of its cells.
  [[nodiscard]] double cell_volume() const { return cell_volume_; }

  void save(StateWriter& out) const;
  void load(StateReader& in);

 private:
  template <typename Visit>
  void visit_nodes(std::span<const double> features, Visit visit) const;

  FeatureSpace space_;
  std::vector<Index> intervals_;  // along each dimension; nodes are 3 more
  double volume_ = 1, cell_volume_ = 1;
  std::vector<double> counts_;
  double total_ = 0;
};

}  // namespace rarefy
