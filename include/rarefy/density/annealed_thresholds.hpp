// Annealed acceptance thresholds: the density of CMA-MAE.
//
// Fontaine, Nikolaidis, "Covariance matrix adaptation MAP-annealing", GECCO 2023. With a constant
// objective a cell's threshold is a smoothed histogram of how often the cell was visited.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "rarefy/density/density.hpp"
#include "rarefy/tessellations/tessellation.hpp"

namespace rarefy {

struct AnnealedThresholdsOptions {
  /// alpha. 0: thresholds never move, and candidates are ranked by objective alone, as by a
  /// plain optimizer. 1: a threshold jumps to what was accepted, and candidates are ranked by
  /// improvement. Between them, a cell loses its attraction gradually.
  double learning_rate = 0.01;
  double minimum = 0.0;  ///< of all thresholds, at the start: below every objective

  bool operator==(const AnnealedThresholdsOptions&) const = default;
};

/// Every cell has an acceptance threshold t. A candidate with objective f is accepted when f > t,
/// and its score is t - f. In a batch, all rows meet the thresholds from before it; a cell in
/// which k of them were accepted, with mean objective f, then has
///
///   t' = (1 - alpha)^k t + (1 - (1 - alpha)^k) f.
///
/// A threshold never falls, and never exceeds the best objective that was accepted in its cell.
class AnnealedThresholds : public Density {
 public:
  /// The cells are those of `tessellation`; batches that name theirs must mean the same.
  AnnealedThresholds(const AnnealedThresholdsOptions& options,
                     std::shared_ptr<const Tessellation> tessellation);

  [[nodiscard]] std::string_view name() const override { return "annealed-thresholds"; }
  [[nodiscard]] Index feature_dim() const override { return tessellation_->feature_dim(); }
  [[nodiscard]] bool informed() const override { return true; }
  void score(const Evaluated& batch, std::span<double> scores, Workers& workers) override;
  [[nodiscard]] double accepts_below() const override { return 0.0; }
  using Density::observe;
  void observe(const Evaluated& batch, Workers& workers) override;
  void save(StateWriter& out) const override;
  void load(StateReader& in) override;

  /// One for each cell.
  [[nodiscard]] std::span<const double> thresholds() const { return thresholds_; }

 private:
  [[nodiscard]] double annealed(double threshold, std::span<const Index> accepted,
                                std::span<const double> objectives) const;

  AnnealedThresholdsOptions options_;
  std::shared_ptr<const Tessellation> tessellation_;
  std::vector<double> thresholds_;
  std::vector<Index> accepted_;  // scratch of observe(): rows
  std::vector<Index> assigned_;  // scratch: cells
};

}  // namespace rarefy
