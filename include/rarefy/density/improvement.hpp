// Improvement ranking: the density of CMA-ME.
//
// Fontaine, Togelius, Nikolaidis, Hoover, "Covariance matrix adaptation for the rapid
// illumination of behavior space", GECCO 2020: the improvement emitter's ranking.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "rarefy/archives/last_cells.hpp"
#include "rarefy/density/density.hpp"

namespace rarefy {

/// Candidates that found a new cell come first, the greatest objective first; then those that
/// improve on the best of their cell, by how much; then the rest, by how little they fall short.
/// What counts is what was known before the batch: two rows in the same new cell are both new.
///
/// Scores are places in that ranking, of the whole batch that is scored: whole numbers without
/// gaps, the same where stage and value are the same, below 0 for the first two stages and from
/// 0 on for the rest. So they mean something within one batch only.
class Improvement : public Density {
 public:
  explicit Improvement(std::shared_ptr<LastCells> cells);
  explicit Improvement(std::shared_ptr<const Tessellation> tessellation)
      : Improvement(std::make_shared<LastCells>(std::move(tessellation))) {}

  [[nodiscard]] std::string_view name() const override { return "improvement"; }
  [[nodiscard]] Index feature_dim() const override { return cells_->tessellation().feature_dim(); }
  [[nodiscard]] bool informed() const override { return true; }
  void score(BatchView features, std::span<const double> objectives, std::span<double> scores,
             Workers& workers) override;
  [[nodiscard]] double accepts_below() const override { return 0.0; }
  using Density::observe;
  void observe(BatchView features, std::span<const double> objectives, Workers& workers) override;
  void save(StateWriter& out) const override;
  void load(StateReader& in) override;

  /// The best objective of each cell; minus infinity where nothing was found yet.
  [[nodiscard]] std::span<const double> best() const { return best_; }

 private:
  enum class Stage : std::uint8_t { new_cell, improves, falls_short };
  struct Candidate {
    Stage stage;
    double value;  // greater is better within a stage
    Index row;
  };

  std::shared_ptr<LastCells> cells_;
  std::vector<double> best_;
  std::vector<Candidate> ranking_;  // scratch of score()
};

}  // namespace rarefy
