// Sums of Gaussians over a crowd of points in the plane, at a cost that does not depend on how
// many they are.
//
// A PanelField has the sums over the points that there were when it was made. Points that came or
// went since then are summed one by one, in single precision, until that has cost as much as
// another field. So the cost is bounded whether they are few (a reservoir that has seen much) or
// many (one that never forgets).
//
// Every sum comes with a bound on its error; where that is not small against the sum itself, in
// the sparse tail, CellMoments gives it instead.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "density/panels/cell_moments.hpp"
#include "density/panels/panel_field.hpp"
#include "kernels/kernel_sums.hpp"
#include "rarefy/core/batch.hpp"
#include "rarefy/core/state.hpp"
#include "rarefy/core/workers.hpp"

namespace rarefy {

class PanelSums {
 public:
  static constexpr double kMostPanels = 2500;  ///< a field takes about 2 us and 8 KB for each
  static constexpr double kMargin = 0.4;       ///< that panels reach beyond the box, in bandwidths
  static constexpr double kTolerance = 1e-5;   ///< the greatest relative error of a sum

  /// Whether a box of that size, in bandwidths, has a reasonable number of panels.
  [[nodiscard]] static bool fits(double width, double height);

  /// For points in and around the box of that size about the origin. Those up to kMargin outside
  /// are like those inside; those further out are summed one by one.
  PanelSums(double width, double height);

  /// Points that came and points that went; the latter must have come before.
  void change(const std::vector<PlanePoint>& came, const std::vector<PlanePoint>& went,
              Workers& workers);
  /// Makes the field anew if that is due, before `queries` queries.
  void settle(Index queries, Workers& workers);

  /// log of the sum of exp(-d^2 / 2) for each query. Out of reach of all points (more than
  /// CellMoments::kReach away) it is left to the caller: NaN.
  void log_sums(const PlanePoint* queries, Index count, double* out) const;

  /// The sums themselves with bounds on their errors, infinite off the panels: for whoever adds up
  /// several crowds, of which only the total has to be right.
  void sums(const PlanePoint* queries, Index count, double* out, double* errors) const;
  /// What log_sums gives where the bound is not small against the sum: slow, and right up to
  /// CellMoments::kReach from the nearest point; NaN beyond.
  [[nodiscard]] double log_sum_in_tail(PlanePoint query) const;

  /// The same for those out of reach, with the points of a cell taken for their mean.
  [[nodiscard]] double log_sum_of_crowds(PlanePoint query) const;

  [[nodiscard]] std::int64_t count() const {
    return cells_.count() + static_cast<std::int64_t>(outside_.points.size());
  }
  [[nodiscard]] std::pair<Index, Index> panels() const { return field_.panels(); }
  /// Points too far outside the box to be on a panel.
  [[nodiscard]] Index outside() const { return outside_.count(); }
  /// Points that came or went since the field was made.
  [[nodiscard]] Index loose() const { return came_.count() + went_.count(); }

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
    // Where there is no point, `out` is left as it is.
    void sums(const float* queries, Index count, double* out) const;
    std::vector<PlanePoint> points;
    kernels::PointColumns columns;  // the same in the coordinates of gaussian_sums
  };
  // What rounding to single precision does to sums over points whose coordinates are at most so
  // large.
  class Rounding {
   public:
    explicit Rounding(double farthest);
    /// The error is at most this part of the sum, and what terms that are farther than kCloseBy
    /// add: like 2^(-d^2) itself it becomes ever smaller with the distance.
    [[nodiscard]] double relative() const;
    [[nodiscard]] double absolute(Index points) const;

   private:
    static constexpr double kCloseBy = 4.0;
    static constexpr double kFaint = 0x1p-16;  // a term that far away
    double close_by_;                          // its relative error
  };

  PanelField field_;
  double loose_cost_ = 0.0;  // in kernels, spent on loose points since the field was made
  Loose came_, went_;        // since then
  Loose outside_;            // of the panels
  CellMoments cells_;        // all but those outside
  Rounding inside_rounding_, outside_rounding_;
  std::vector<PlanePoint> inside_, beside_, left_;  // scratch
};

}  // namespace rarefy
