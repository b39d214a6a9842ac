// Sums of Gaussians over a crowd of points in a box, as a table.
//
// The box is cut into panels less than three bandwidths wide, with 16 x 16 Chebyshev nodes
// each. Points are weights W on the nodes of their panels; the sum of Gaussians at all nodes, the
// field, is
//
//   F = G_x W G_y^T,   G(i, j) = exp(-(node_i - node_j)^2 / 2),
//
// two products of small matrices, because a Gaussian is a product of one in x and one in y. Panels
// more than three apart have next to nothing to do with each other, and most such pairs are left
// out. A query reads the polynomial through the field of its panel. (W. Fong and E. Darve, "The
// black-box fast multipole method", J. Comput. Phys. 228, 2009, with one level and the near field
// taken in.)
//
// The nodes lie symmetrically about the middle of the box, so G takes what is even to what is
// even, and odd to odd. Each part is known by half of its nodes: G becomes two matrices of a
// quarter of the size. That saves 40 % of the work on a box of 6 x 6 panels, and less on larger
// ones, where most of G is left out anyway.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "density/panels/plane_point.hpp"
#include "kernels/panels.hpp"
#include "rarefy/core/batch.hpp"
#include "rarefy/core/state.hpp"
#include "rarefy/core/workers.hpp"

namespace rarefy {

class PanelField {
 public:
  static constexpr double kWidestSide = 2.85;  ///< of a panel, in bandwidths
  /// The greatest error of the polynomials, relative to the field's peak. On one axis it is
  /// 1.1e-9 for panels of the widest side, on both together twice that; neighbouring panels, and
  /// those left out where panels are narrow, add a little.
  static constexpr double kError = 4e-9;

  /// How many panels a box of that size, in bandwidths, would have.
  [[nodiscard]] static double panels_for(double width, double height);

  /// For the box of that size about the origin.
  PanelField(double width, double height);

  [[nodiscard]] bool covers(PlanePoint point) const;
  [[nodiscard]] kernels::PanelPoint on_panel(PlanePoint point) const;

  /// Takes points in and out, all on the panels, and makes the field anew.
  void change(const std::vector<PlanePoint>& came, const std::vector<PlanePoint>& went,
              Workers& workers);

  /// The sums of exp(-d^2 / 2) at places on the panels.
  void values(const kernels::PanelPoint* places, Index count, double* out) const;

  [[nodiscard]] double peak() const { return peak_; }
  /// Multiplications that a new field takes.
  [[nodiscard]] double cost() const;
  [[nodiscard]] std::pair<Index, Index> panels() const { return {x_.panels, y_.panels}; }
  /// Width and height of a panel.
  [[nodiscard]] PlanePoint side() const { return {x_.side, y_.side}; }

  void save(StateWriter& out) const;
  void load(StateReader& in);

 private:
  // Even or odd about the middle.
  enum Parity { kEven, kOdd };

  // The panels of the lower half whose points count for the field of one of them.
  struct Window {
    Index first, count;
  };

  struct Axis {
    explicit Axis(double width);
    Index panels;  // even
    Index half;    // of them
    double side;
    double origin;
    [[nodiscard]] Window window(Index panel) const;
    // The matrix between a panel's nodes (rows) and those of its window (columns), a row as long
    // as the widest window; and its transpose, with rows of kPanelNodes.
    [[nodiscard]] const double* rows(Parity parity, Index panel) const;
    [[nodiscard]] const double* columns(Parity parity, Index panel) const;

   private:
    // Far from the middle all panels have one matrix; close to it each has its own two.
    [[nodiscard]] std::size_t block_of(Parity parity, Index panel) const;
    void fill_block(Parity parity, Index panel);
    Index first_near_middle_;
    std::vector<std::vector<double>> rows_, columns_;
  };

  // A panel of the lower left quarter, and its mirror images.
  [[nodiscard]] std::array<Index, 4> images(Index column, Index row) const;
  void sort_by_panel(const std::vector<PlanePoint>& came, const std::vector<PlanePoint>& went);
  void deposit(Index quarter_panel);
  void fold(Index quarter_panel);
  void make_rows(Index task);
  void make(Workers& workers);

  Axis x_, y_;
  std::vector<double> weights_, field_;       // a block for each panel
  std::array<std::vector<double>, 4> parts_;  // of the weights, by parity along x and y
  std::array<std::vector<double>, 4> half_way_;
  std::vector<std::int64_t> counts_;  // of points in each panel
  std::vector<double> peaks_;         // of the field, by tasks
  double peak_ = 0.0;
  std::vector<kernels::PanelPoint> changes_, sorted_;  // scratch
  std::vector<Index> starts_;                          // of the panels in sorted_
};

}  // namespace rarefy
