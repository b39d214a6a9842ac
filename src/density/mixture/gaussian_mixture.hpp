// A mixture of Gaussians in coordinates in which the box of feature space is one wide and has its
// middle at 0, with the statistics that it is learned by.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rarefy/core/batch.hpp"
#include "rarefy/core/state.hpp"
#include "rarefy/core/workers.hpp"
#include "rarefy/density/mixture_options.hpp"

namespace rarefy {

/// p(x) = beta N(x; 0, I) + (1 - beta) sum_k w_k N(x; mu_k, S_k). The first term, the background,
/// is never learned: as far out as one likes it tells the farther from the less far.
class GaussianMixture {
 public:
  GaussianMixture(Index dims, const MixtureOptions& options);

  /// Components on the given places, all alike. Cyclically where there are fewer.
  void place(BatchView places);
  /// One step of learning from samples that count for `rate`.
  void learn(BatchView samples, double rate, Workers& workers);

  [[nodiscard]] double log_density(std::span<const double> x, std::span<double> scratch) const;
  /// Numbers that log_density() writes on.
  [[nodiscard]] std::size_t scratch_size() const { return size(components_ + 1 + 2 * dims_); }

  [[nodiscard]] Index components() const { return components_; }
  [[nodiscard]] double weight(Index k) const { return weights_[size(k)]; }
  [[nodiscard]] std::span<const double> mean(Index k) const {
    return std::span(means_).subspan(size(k * dims_), size(dims_));
  }
  /// Components that were begun anew because they had come to nothing.
  [[nodiscard]] std::int64_t reseeded() const { return reseeded_; }

  void save(StateWriter& out) const;
  void load(StateReader& in);

 private:
  [[nodiscard]] static std::size_t size(Index count) { return static_cast<std::size_t>(count); }
  [[nodiscard]] Index squares() const { return dims_ * (dims_ + 1) / 2; }
  // ln of the weighted terms: those of the components, then that of the background.
  void log_terms(std::span<const double> x, std::span<double> terms,
                 std::span<double> difference) const;
  void maximise();
  void maximise(Index k);
  void reseed(BatchView samples);
  void set_statistics(Index k, std::span<const double> place, double count, double variance);

  Index dims_, components_;
  double smoothing_, background_;
  // Sufficient statistics of each component: means over the samples of r, r x and r x x^T, with r
  // its responsibility; of the last the lower triangle, row by row.
  std::vector<double> count_, sum_, square_;
  // What follows from them.
  std::vector<double> weights_, means_;
  std::vector<double> factors_;  // lower Cholesky factors of the covariances, row by row
  std::vector<double> log_scales_;
  std::int64_t reseeded_ = 0;
  // Scratch.
  std::vector<double> responsibilities_, densities_, terms_;
};

}  // namespace rarefy
