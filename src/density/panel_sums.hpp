// Sums of Gaussians over a crowd of points in the plane, at a cost that does not depend on how
// many they are.
//
// The box is cut into panels about two bandwidths wide, with 14 x 14 Chebyshev nodes each. Points
// are weights W on the nodes of their panels; the sum of Gaussians at all nodes, the field, is
//
//   F = G_x W G_y^T,   G(i, j) = exp(-(node_i - node_j)^2 / 2),
//
// two products of small matrices, because a Gaussian is a product of one in x and one in y;
// panels more than four apart are passed over. A query reads the polynomial through the
// field of its panel. (W. Fong and E. Darve, "The black-box fast multipole method", J. Comput.
// Phys. 228, 2009, with one level and the near field taken in.)
//
// Points that came or went since the field was made are summed one by one, in single precision,
// until that has cost as much as another field. So the cost is bounded whether they are few
// (a reservoir that has seen much) or many (one that never forgets).
//
// Every sum comes with a bound on its error; where that is not small against the sum itself, in
// the sparse tail, CellMoments gives it instead.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "density/cell_moments.hpp"
#include "kernels/kernel_sums.hpp"
#include "rarefy/core/batch.hpp"
#include "rarefy/core/state.hpp"
#include "rarefy/core/workers.hpp"

namespace rarefy {

class PanelSums {
 public:
  static constexpr double kWidestSide = 2.1;  ///< of a panel, in bandwidths
  static constexpr Index kMostPanels = 4096;  ///< a field takes about 2 us and 5 KB for each
  static constexpr double kTolerance = 1e-5;  ///< the relative error that is put up with
  /// The greatest error of the field's polynomials, relative to the field's peak. On one axis it
  /// is 5.9e-10 for panels of the widest side, on both together twice that, and neighbouring
  /// panels add a little.
  static constexpr double kFieldError = 2e-9;

  /// Whether a box of that size, in bandwidths, has a reasonable number of panels.
  [[nodiscard]] static bool fits(double width, double height);

  /// For points around the box of that size about the origin.
  PanelSums(double width, double height);

  /// Points that came and points that went; the latter must have come before.
  void change(const std::vector<PlanePoint>& came, const std::vector<PlanePoint>& went,
              Workers& workers);
  /// Makes the field anew if that is due, before `queries` queries.
  void settle(Index queries, Workers& workers);

  /// log of the sum of exp(-d^2 / 2) for each query. Out of reach of all points (more than
  /// CellMoments::kReach away) it is left to the caller: NaN.
  void log_sums(const PlanePoint* queries, Index count, double* out) const;

  /// The same for those, with the points of a cell taken for their mean.
  [[nodiscard]] double log_sum_of_crowds(PlanePoint query) const;

  [[nodiscard]] std::int64_t count() const {
    return cells_.count() + static_cast<std::int64_t>(outside_.points.size());
  }
  [[nodiscard]] std::pair<Index, Index> panels() const { return {x_.panels, y_.panels}; }
  /// Points that came or went since the field was made.
  [[nodiscard]] Index loose() const { return came_.count() + went_.count(); }
  [[nodiscard]] std::size_t bytes() const;

  void save(StateWriter& out) const;
  void load(StateReader& in);

 private:
  // Points that are summed one by one.
  struct Loose {
    Loose() : columns(2) {}
    [[nodiscard]] Index count() const { return static_cast<Index>(points.size()); }
    void add(const std::vector<PlanePoint>& more);
    void remove(PlanePoint point);
    void clear();
    std::vector<PlanePoint> points;
    kernels::PointColumns columns;  // the same in the coordinates of gaussian_sums
  };
  [[nodiscard]] bool covers(PlanePoint point) const;
  [[nodiscard]] kernels::PanelPoint on_panel(PlanePoint point) const;
  void hand_out(const std::vector<PlanePoint>& points, int sign);
  void deposit(Workers& workers);
  void make_field(Workers& workers);
  void make_field_rows(Index panel);
  [[nodiscard]] double tail(PlanePoint query) const;

  // Gaussians between a panel's nodes and those of its neighbours on one axis.
  struct Axis {
    explicit Axis(double width);
    Index panels;
    double side;
    double origin;
    std::vector<double> kernel_rows;     // a row for each of its own nodes
    std::vector<double> kernel_columns;  // the same, transposed
  };

  Axis x_, y_;
  Index stride_;  // of a row of nodes
  std::vector<double> weights_, half_way_, field_;
  std::vector<double> peaks_;         // of the field, by columns of panels
  std::vector<std::int64_t> counts_;  // of points in each panel of the weights
  double peak_ = 0.0;                 // of the field
  double field_cost_ = 0.0;           // in terms of a single-precision kernel
  double loose_cost_ = 0.0;           // spent on loose points since the field was made
  Loose came_, went_;                 // since the field was made
  Loose outside_;                     // of the panels
  CellMoments cells_;                 // all but those outside
  std::vector<PlanePoint> inside_, beside_, left_;  // scratch
  std::vector<std::vector<kernels::PanelPoint>> groups_;
};

}  // namespace rarefy
