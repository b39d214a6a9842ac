// A crowd of points, cell by cell, in memory that does not grow with their number.
//
// Each cell keeps the weights that its points have on the cell's Chebyshev nodes
// (kernels/panels.hpp). To any Gaussian that is not too far away, those nodes are as good as the
// points: cells are about half a bandwidth wide, and from 12 bandwidths away the sum over the
// nodes still has seven digits. That is far beyond where other sums lose the density in rounding.
//
// Few queries come here, while every point does. So a cell first puts its points by: it keeps them
// as they are, and turns some dozens at a time into weights, which costs a fraction of one by one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "density/panels/plane_point.hpp"
#include "kernels/panels.hpp"
#include "rarefy/core/batch.hpp"
#include "rarefy/core/state.hpp"
#include "rarefy/core/workers.hpp"

namespace rarefy {

class CellMoments {
 public:
  static constexpr double kWidestSide = 0.58;  ///< of a cell, in bandwidths
  static constexpr double kReach = 12.0;       ///< how far away the sums are good
  static constexpr double kNothing = 1e300;    ///< a squared distance where there is no point

  /// `across` x `up` cells of that size from `origin` on.
  CellMoments(PlanePoint origin, PlanePoint size, Index across, Index up);

  /// Takes points in, and out again those that went. All must lie on the cells.
  void change(const std::vector<PlanePoint>& came, const std::vector<PlanePoint>& went,
              Workers& workers);

  /// log of the sum of exp(-d^2 / 2) over all points, d their distances from `query`, and a lower
  /// bound of the smallest d^2. Good up to kReach from the nearest.
  struct Sum {
    double log_sum;
    double nearest;
  };
  [[nodiscard]] Sum log_sum(PlanePoint query) const;

  /// For queries that are out of reach: calls use(mean of a cell's points, their number).
  template <typename Use>
  void for_each_cell(Use&& use) const {
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      if (cells_[i].count > 0) use(mean_of(i), static_cast<double>(cells_[i].count));
    }
  }

  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] std::size_t bytes() const;

  void save(StateWriter& out) const;
  void load(StateReader& in);

 private:
  static constexpr Index kGroups = 8;  // tasks that take points; a cell belongs to one of them
  static constexpr std::size_t kMostPutBy = 32;
  struct Cell {
    std::int64_t place;  // column * up + row
    std::int64_t count;  // of points, those put by included
    std::size_t put_by;  // of points that came or went
  };
  [[nodiscard]] PlanePoint mean_of(std::size_t cell) const;
  [[nodiscard]] PlanePoint centre_of(std::int64_t place) const;
  [[nodiscard]] PlanePoint point_of(std::int64_t place, const kernels::PanelPoint& on_cell) const;
  Index cell_at(std::int64_t place);
  void hand_out(const std::vector<PlanePoint>& points, int sign);
  void take(const std::vector<kernels::PanelPoint>& group);
  void load_points(StateReader& in, std::size_t count);
  // Those that a cell has put by.
  template <typename Self>
  [[nodiscard]] static auto put_by(Self& self, std::size_t cell) {
    return std::span(self.put_by_).subspan(cell * kMostPutBy, self.cells_[cell].put_by);
  }

  PlanePoint origin_, size_;
  Index across_, up_;
  std::vector<std::int32_t> index_;          // of the cell at each place; -1: none yet
  std::vector<Cell> cells_;                  // in the order in which they were first met
  std::vector<double> moments_;              // a block for each cell
  std::vector<kernels::PanelPoint> put_by_;  // kMostPutBy for each cell
  std::int64_t count_ = 0;
  std::vector<std::vector<kernels::PanelPoint>> groups_;  // scratch
};

}  // namespace rarefy
