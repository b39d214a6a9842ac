// Where an emitter starts anew, by what the search has learned of its domain.
#pragma once

#include <cstdint>
#include <vector>

#include "rarefy/restarts/restart_point.hpp"

namespace rarefy {

struct AdaptiveRestartOptions {
  Index emitters = 0;
  Index average_of = 0;  ///< solutions in an average; must be given
  /// Elites drawn, of which the nearest to a rare one are averaged; 0: four times `average_of`.
  Index average_from = 0;
  Index compared = 64;  ///< elites of which the rarest is taken
  double decay = 0.8;   ///< of what is known about averages, at every new one
  double least = 0.02;  ///< neither side is ever chosen less often than this

  bool operator==(const AdaptiveRestartOptions&) const = default;
};

/// Averages where averages mean something, rare elites where they do not.
///
/// Where features depend on solutions nearly linearly, the average of some solutions has nearly
/// the average of their features, and is a good place to set out from: what varies among solutions
/// of like features, and would only add up, averages out. So that it lies where there is something
/// to be found, the solutions are those whose features, in widths of the box, are nearest to a
/// rare elite's. Where features do not depend on solutions so (the weights of a network, say) it is
/// a solution unlike all that were found, and mostly a bad one; there a rare elite is better
/// (RestartAtRarest). Which it is, the search finds out: whenever an emitter starts at an average,
/// the mean features of its first batch are compared with the average of the features, which they
/// should be. With e^2 the squared error and v the variance of the features that were averaged,
/// both summed over the features, the chance of the rare elite is the mean of min(1, e^2 / v) over
/// past averages, the last ones counting most, under a square root: a relative error. Features
/// count in their own units.
class AdaptiveRestart : public RestartPoint {
 public:
  explicit AdaptiveRestart(const AdaptiveRestartOptions& options);
  void prepare(Index solution_dim, Index feature_dim) override;
  void choose(const RestartContext& context, Index emitter, std::span<double> out) override;
  void observe(Index emitter, BatchView features) override;
  void identify(StateOptions& options) const override;
  void save(StateWriter& out) const override;
  void load(StateReader& in) override;

  /// The chance that the next choice is a rare elite; one half until an average was tried.
  [[nodiscard]] double chance_of_rarest() const;

  /// Of so many elites the rarest is what others are compared with.
  static constexpr Index kCentres = 8;

 private:
  void choose_average(const RestartContext& context, Index emitter, std::span<double> out);
  void draw_neighbours(const Archive& archive, RandomStream& random);

  AdaptiveRestartOptions options_;
  RestartAtRarest rarest_;
  std::vector<std::int64_t> awaited_;  // for each emitter: 1 before the first batch of an average
  Batch expected_;                     // for each emitter: its average's features
  std::vector<double> variance_;       // for each emitter: v, above
  double error_ = 0.0, tried_ = 0.0;   // decayed sums
  struct Drawn {
    double apart = 0;  // squared distance from the centre
    Index elite = 0;
  };
  std::vector<Drawn> drawn_;  // scratch; the first average_of are averaged
};

}  // namespace rarefy
