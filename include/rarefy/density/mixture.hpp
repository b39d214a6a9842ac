// A mixture of Gaussians, learned as the search goes on: the density of DDS-GMM.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rarefy/density/density_estimate.hpp"
#include "rarefy/density/feature_buffer.hpp"
#include "rarefy/density/mixture_options.hpp"

namespace rarefy {

class GaussianMixture;

/// A few dozen Gaussians with full covariances stand for all buffered features, so that a candidate
/// costs the same in any dimension and with any buffer. After every batch they take one step of
/// online EM (src/density/mixture/gaussian_mixture.cpp has its equations) on features drawn from
/// the buffer. A further Gaussian, as broad as the box, is always there: far out, where all others
/// are 0, it still tells the farther from the less far.
///
/// Step n counts for the greater of n^-0.6 and `rate`. Features farther than kReach widths from the
/// middle of the box are learned as if they were there. Scores are logarithms of the density, in
/// the units of the features, and depend neither on the other candidates of a batch nor on the
/// number of threads.
class MixtureDensity : public DensityEstimate {
 public:
  MixtureDensity(MixtureOptions options, std::unique_ptr<FeatureBuffer> buffer);
  ~MixtureDensity() override;
  MixtureDensity(const MixtureDensity&) = delete;
  MixtureDensity& operator=(const MixtureDensity&) = delete;

  static constexpr double kReach = 4.0;

  [[nodiscard]] std::string_view name() const override { return "mixture"; }
  [[nodiscard]] Index feature_dim() const override { return options_.space.dim(); }
  [[nodiscard]] bool informed() const override { return steps_ > 0; }
  void score(const Evaluated& batch, std::span<double> scores, Workers& workers) override;
  void log_density(BatchView features, std::span<double> out, Workers& workers) override;
  [[nodiscard]] BatchView samples() const override { return buffer_->contents(); }
  using Density::observe;
  void observe(const Evaluated& batch, Workers& workers) override;
  [[nodiscard]] std::string description() const override;
  void identify(StateOptions& options) const override;
  void save(StateWriter& out) const override;
  void load(StateReader& in) override;

  [[nodiscard]] const GaussianMixture& mixture() const { return *mixture_; }

 private:
  [[nodiscard]] double coordinate(double feature, Index d, double reach) const;
  void draw(Index rows, Index purpose_index);

  MixtureOptions options_;
  std::unique_ptr<FeatureBuffer> buffer_;
  std::unique_ptr<GaussianMixture> mixture_;
  std::int64_t steps_ = 0;  // names the random numbers of the next
  // Scratch.
  std::vector<Index> changed_;
  Batch drawn_;
  std::vector<double> scratch_;
};

}  // namespace rarefy
