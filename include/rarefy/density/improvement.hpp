// Improvement ranking: the density of CMA-ME.
//
// Fontaine, Togelius, Nikolaidis, Hoover, "Covariance matrix adaptation for the rapid
// illumination of behavior space", GECCO 2020: the improvement emitter's ranking.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "rarefy/density/density.hpp"
#include "rarefy/tessellations/tessellation.hpp"

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
  /// The cells are those of `tessellation`; batches that name theirs must mean the same.
  explicit Improvement(std::shared_ptr<const Tessellation> tessellation);

  [[nodiscard]] std::string_view name() const override { return "improvement"; }
  [[nodiscard]] Index feature_dim() const override { return tessellation_->feature_dim(); }
  [[nodiscard]] bool informed() const override { return true; }
  void score(const Evaluated& batch, std::span<double> scores, Workers& workers) override;
  [[nodiscard]] double accepts_below() const override { return 0.0; }
  using Density::observe;
  void observe(const Evaluated& batch, Workers& workers) override;
  void identify(StateOptions& options) const override;
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

  std::shared_ptr<const Tessellation> tessellation_;
  std::vector<double> best_;
  std::vector<Candidate> ranking_;  // scratch of score()
  std::vector<Index> assigned_;     // scratch: cells
};

}  // namespace rarefy
