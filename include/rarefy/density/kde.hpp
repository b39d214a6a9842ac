// Kernel density estimation: the density of DDS-KDE.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rarefy/core/names.hpp"
#include "rarefy/density/bandwidth.hpp"
#include "rarefy/density/density_estimate.hpp"
#include "rarefy/density/feature_buffer.hpp"

namespace rarefy {

enum class Kernel { gaussian, triangular, epanechnikov };

template <>
struct EnumNames<Kernel> {
  static constexpr std::string_view thing = "kernel";
  static constexpr std::pair<Kernel, std::string_view> all[] = {
      {Kernel::gaussian, "gaussian"},
      {Kernel::triangular, "triangular"},
      {Kernel::epanechnikov, "epanechnikov"}};
};

/// How the sums are made.
///   direct   one term for each feature in the buffer
///   panels   from tables that are kept up to date as features come and go: the cost does not
///            depend on how many there are (1 or 2 features, Gaussian kernel)
///   blocks   one term for each feature in blocks of neighbours that are near enough to matter
///            (Gaussian kernel; worth it with up to 6 features)
///   sampled  scores from some thousand features, chosen for the candidates of an emitter by what
///            they are worth to them: the cost hardly depends on how many there are (Gaussian
///            kernel; worth it from 10,000 features on). log_density() is summed directly
enum class KdeMethod { automatic, direct, panels, blocks, sampled };

template <>
struct EnumNames<KdeMethod> {
  static constexpr std::string_view thing = "kde";
  static constexpr std::pair<KdeMethod, std::string_view> all[] = {{KdeMethod::automatic, "auto"},
                                                                   {KdeMethod::direct, "direct"},
                                                                   {KdeMethod::panels, "panels"},
                                                                   {KdeMethod::blocks, "blocks"},
                                                                   {KdeMethod::sampled, "sampled"}};
};

struct KdeOptions {
  FeatureSpace space;
  Kernel kernel = Kernel::gaussian;
  /// auto: by the box and the buffer's capacity, not by the data; 10,000 if there is no limit
  Bandwidth bandwidth = Bandwidth::automatic();
  KdeMethod method = KdeMethod::automatic;
  /// Weight in scores of what lies between the kernels' width and kDetailScale of it; 0: none.
  /// Of no effect with more than two features.
  double detail = 0.0;
  /// Whether scores are logarithms. Densities themselves underflow to 0 far from all features,
  /// where all candidates tie then; everywhere else they rank the same.
  bool log_scores = true;

  bool operator==(const KdeOptions&) const = default;
};

struct KernelCoordinates;
class FineCounts;  // private to the library, as is:
class KdeSums;     // how `method` makes them; private to the library

/// The density at y of N buffered features x_i, with bandwidths h_d and m features:
///
///   p(y) = 1 / (N c prod_d h_d) * sum_i K(u_i),   u_i = || ((y_d - x_id) / h_d)_d ||
///
///   gaussian      K(u) = exp(-u^2 / 2)      c = (2 pi)^(m/2)
///   triangular    K(u) = max(0, 1 - u)      c = S / (m (m + 1))
///   epanechnikov  K(u) = max(0, 1 - u^2)    c = 2 S / (m (m + 2))
///
/// with S the surface of the unit sphere in m dimensions, so that p integrates to 1. (The
/// paper's equation 2 leaves out c and has h where this has h^m: a constant factor, which no
/// ranking sees.) Scores are natural logarithms of p, plus what `detail` adds (`log_scores`).
///
/// Detail. A kernel that is wide enough to lead a search across the box cannot see a gap that is
/// narrower than itself, and a search that has come to such a gap has no reason to fill it. So
/// features are counted on a finer grid as well, all that ever came (FineCounts), and scores are
///
///   ln p(y) + detail * ln((1 + N(y)) / (1 + E(y)))
///
/// where N is how many of `capacity` samples lie within a kernel of kDetailScale * h around y by
/// these counts, and E how many would by p: no more than `capacity` ever count. Where neither
/// expects any, nothing is added. log_density() has no detail.
///
/// Far tail: below 2^-60 of its peak the Gaussian is summed in double precision, so it never
/// underflows, and no two candidates tie because both were 0. Where a kernel of bounded support
/// has no sample in reach, p is 0; so that such candidates are still ranked, the farthest first,
/// their score is kNoDensity - u of the nearest sample.
///
/// Error of direct sums: |log p - exact| <= 2e-6 * (1 + r), r half the diagonal of feature space
/// in bandwidths (coordinates are rounded to single precision); 1e-12 relative in the far tail.
/// With a local bandwidth r is in bandwidths of the narrowest kernels.
/// Error of panels: 1e-5; more than 12 bandwidths from every feature the sum is exact again,
/// unless the buffer has no limit and so keeps no features: there, those of a cell half a
/// bandwidth wide are taken for their mean.
/// Error of blocks: 1e-3 at most, beside that of direct sums. What is left out is at most 5e-4 of
/// the sum, and rounding comes to at most 4e-4; the far tail is that of direct sums.
/// Error of samples: by chance, a standard error of 2 % of p at most as the sample itself estimates
/// it (typically 0.01 %), and no feature that is left out can be worth more than 5 % of p;
/// candidates for which that cannot be had are summed directly. It moves those that are scored
/// together alike, and depends on which these are.
class KernelDensity : public DensityEstimate {
 public:
  KernelDensity(KdeOptions options, std::unique_ptr<FeatureBuffer> buffer);
  ~KernelDensity() override;
  KernelDensity(const KernelDensity&) = delete;
  KernelDensity& operator=(const KernelDensity&) = delete;

  static constexpr double kNoDensity = -1000.0;
  static constexpr double kDetailScale = 0.15;  ///< of the bandwidth

  [[nodiscard]] std::string_view name() const override { return "kde"; }
  [[nodiscard]] Index feature_dim() const override { return options_.space.dim(); }
  [[nodiscard]] bool informed() const override;
  void score(const Evaluated& batch, std::span<double> scores, Workers& workers) override;
  void log_density(BatchView features, std::span<double> out, Workers& workers) override;
  void refined_log_density(BatchView features, std::span<double> out, Workers& workers) override;
  [[nodiscard]] BatchView samples() const override { return buffer_->contents(); }
  [[nodiscard]] std::int64_t sample_count() const override { return buffer_->count(); }
  using Density::observe;
  void observe(const Evaluated& batch, Workers& workers) override;
  void identify(StateOptions& options) const override;
  void save(StateWriter& out) const override;
  void load(StateReader& in) override;

  /// What `automatic` comes to with a buffer of that capacity (0: no limit). Throws where another
  /// was asked for and cannot serve.
  [[nodiscard]] static KdeMethod method_for(const KdeOptions& options, Index capacity);
  /// The same for who wants scores and nothing else of it: `sampled`, too, where that is faster.
  [[nodiscard]] static KdeMethod method_to_rank(const KdeOptions& options, Index capacity);
  [[nodiscard]] KdeMethod method() const { return method_; }
  [[nodiscard]] std::string description() const override;

  [[nodiscard]] const FeatureBuffer& buffer() const { return *buffer_; }
  /// As they are now: a bandwidth that follows the data changes.
  [[nodiscard]] std::span<const double> bandwidths() const { return bandwidths_; }
  /// For each of samples(), what the bandwidths are multiplied by for its kernel: lambda_i of a
  /// local bandwidth, whose kernels are K(u_i / lambda_i) / lambda_i^m. Empty for other rules.
  [[nodiscard]] std::vector<double> multiples() const;

 private:
  template <typename Sums>
  void fill(BatchView features, std::span<double> out, Workers& workers, Sums sums);
  void add_detail(BatchView features, std::span<double> scores) const;
  void use_bandwidths(std::vector<double> bandwidths);
  void use_multiples(const KernelCoordinates& coordinates);
  void follow_data();

  KdeOptions options_;
  std::unique_ptr<FeatureBuffer> buffer_;
  std::vector<double> bandwidths_;
  double log_constant_ = 0.0;  // ln(c prod h)
  KdeMethod method_ = KdeMethod::direct;
  // Of bandwidths that follow the data: how many features were seen, and from how many on they are
  // fitted again.
  std::int64_t seen_ = 0, next_fit_ = 0;
  std::unique_ptr<FineCounts> fine_;  // where there is detail
  std::unique_ptr<KdeSums> sums_;     // over the contents of the buffer, by that method
};

}  // namespace rarefy
