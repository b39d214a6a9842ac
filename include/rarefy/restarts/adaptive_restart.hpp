// Where an emitter starts anew, by what the search has learned of its domain.
#pragma once

#include <cstdint>
#include <vector>

#include "rarefy/restarts/restart_point.hpp"

namespace rarefy {

struct AdaptiveRestartOptions {
  Index emitters = 0;
  Index average_of = 0;  ///< solutions in an average; must be given
  Index compared = 64;   ///< elites of which the rarest is taken
  double decay = 0.8;    ///< of what is known about averages, at every new one
  double least = 0.02;   ///< neither side is ever chosen less often than this

  bool operator==(const AdaptiveRestartOptions&) const = default;
};

/// Averages where averages mean something, rare elites where they do not.
///
/// Where features depend on solutions nearly linearly, the average of some solutions has nearly
/// the average of their features, and is a good place to set out from in any direction. Where
/// they do not (the weights of a network, say) it is a solution unlike all that were found, and
/// mostly a bad one; there a rare elite is better (RestartAtRarest). Which it is, the search
/// finds out: whenever an emitter starts at an average, the mean features of its first batch
/// are compared with the average of the features, which they should be. With e^2 the squared
/// error and v the variance of the features that were averaged, both summed over the features,
/// the chance of the rare elite is the mean of min(1, e^2 / v) over past averages, the last ones
/// counting most, under a square root: a relative error. Features count in their own units.
class AdaptiveRestart : public RestartPoint {
 public:
  explicit AdaptiveRestart(const AdaptiveRestartOptions& options);
  void prepare(Index solution_dim, Index feature_dim) override;
  void choose(const RestartContext& context, Index emitter, std::span<double> out) override;
  void observe(Index emitter, BatchView features) override;
  void save(StateWriter& out) const override;
  void load(StateReader& in) override;

  /// The chance that the next choice is a rare elite; one half until an average was tried.
  [[nodiscard]] double chance_of_rarest() const;

 private:
  void choose_average(const RestartContext& context, Index emitter, std::span<double> out);

  AdaptiveRestartOptions options_;
  RestartAtRarest rarest_;
  std::vector<std::int64_t> awaited_;  // for each emitter: 1 before the first batch of an average
  Batch expected_;                     // for each emitter: its average's features
  std::vector<double> variance_;       // for each emitter: v, above
  double error_ = 0.0, tried_ = 0.0;   // decayed sums
};

}  // namespace rarefy
