// Density and objective together: what dds-qd descends.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rarefy/density/density_estimate.hpp"
#include "rarefy/density/reservoir.hpp"

namespace rarefy {

struct QualityOptions {
  /// w: how many nats of density a candidate may have more for an objective that is better by
  /// one deviation of all that were seen. 0: density alone.
  double weight = 0.06;
  std::uint64_t seed = 0;  ///< of the sample of objectives

  bool operator==(const QualityOptions&) const = default;
};

/// A candidate with features y and objective f has the score
///
///   log p(y) - w (f - c) / s
///
/// with log p another density's estimate (or what it ranks by:
/// DensityEstimate::refined_log_density), and c and s the median and the spread of the objectives
/// seen so far. Where all that is reached is equally dense, only the objective tells candidates
/// apart; where some of it is sparse, density does, for it differs by many nats, and the objective
/// by a few deviations. A search that descends it comes to rest where p is proportional to
/// exp(w f / s): with a small weight, nearly even.
///
/// c and s are those of a uniform sample of kSample objectives: s is the distance between its
/// quartiles, in those of a normal distribution (1.349 deviations), so that a few failures with
/// -1e9 do not set the scale; or, where half of the sample is the same and that is 0, its standard
/// deviation. So scores depend neither on the unit nor on the origin of the objective. As long as
/// all objectives are the same, scores are those of the other density to the bit.
///
/// Objectives beyond +-kGreatest are taken for that.
class QualityDensity : public DensityEstimate {
 public:
  static constexpr Index kSample = 1'000;
  static constexpr double kGreatest = 1e150;  ///< whose square is a number

  QualityDensity(const QualityOptions& options, std::unique_ptr<DensityEstimate> density);

  [[nodiscard]] std::string_view name() const override { return "quality"; }
  [[nodiscard]] Index feature_dim() const override { return density_->feature_dim(); }
  [[nodiscard]] bool informed() const override { return density_->informed(); }
  void score(const Evaluated& batch, std::span<double> scores, Workers& workers) override;
  void log_density(BatchView features, std::span<double> out, Workers& workers) override {
    density_->log_density(features, out, workers);
  }
  void refined_log_density(BatchView features, std::span<double> out, Workers& workers) override {
    density_->refined_log_density(features, out, workers);
  }
  [[nodiscard]] BatchView samples() const override { return density_->samples(); }
  [[nodiscard]] std::int64_t sample_count() const override { return density_->sample_count(); }
  using Density::observe;
  void observe(const Evaluated& batch, Workers& workers) override;
  [[nodiscard]] std::string description() const override { return density_->description(); }
  [[nodiscard]] std::string warning() const override { return density_->warning(); }
  void identify(StateOptions& options) const override;
  void save(StateWriter& out) const override;
  void load(StateReader& in) override;

  /// c and s, above; s is 0 as long as all objectives are the same.
  [[nodiscard]] double centre() const { return centre_; }
  [[nodiscard]] double spread() const { return spread_; }

 private:
  void measure();

  QualityOptions options_;
  std::unique_ptr<DensityEstimate> density_;
  Reservoir objectives_;
  double centre_ = 0.0, spread_ = 0.0;
  Batch limited_;               // scratch of observe(): objectives as rows
  std::vector<Index> changed_;  // scratch
  std::vector<double> sorted_;  // scratch of measure()
};

}  // namespace rarefy
