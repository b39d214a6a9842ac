// The algorithms: each is a row, a choice of parts for the one loop.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "rarefy/density/density.hpp"
#include "rarefy/domains/domain.hpp"
#include "rarefy/emitters/emitter.hpp"
#include "rarefy/experiment/config.hpp"
#include "rarefy/restarts/step_probe.hpp"
#include "rarefy/tessellations/tessellation.hpp"

namespace rarefy {

struct PublishedValues;

/// A kind of emitter that an algorithm may have.
struct EmitterKind {
  std::unique_ptr<Emitter> (*make)(const Config& config, const DomainInfo& domain,
                                   std::uint32_t index);
  /// The option that has its step size; none: a probe finds it.
  std::optional<double> EmitterOptions::*step;
};

/// A kind of density that an algorithm may descend.
struct DensityKind {
  std::unique_ptr<Density> (*make)(const Config& config, const DomainInfo& domain,
                                   const std::shared_ptr<const Tessellation>& cells);
  /// It says which candidates are worth having: `filter` and `no-improvement` need to know.
  bool accepts = false;
  /// Scores of one iteration can be compared with those of another: `stagnation` does.
  bool shows_progress = true;
  /// Scores tell one elite from another: `sparsest` compares some.
  bool tells_elites_apart = true;
  /// It has thresholds that start at the least objective.
  bool has_thresholds = false;
};

extern const EmitterKind kStrategyEmitter, kIsoLineEmitter, kGaussianEmitter;
extern const DensityKind kKernelDensity, kQualityDensity, kFlowDensity, kMixtureDensity, kNovelty,
    kThresholds, kDiscountModel, kImprovement, kNoDensity;

struct Algorithm {
  std::string_view name;
  std::string_view meaning;
  const EmitterKind* emitter;
  const DensityKind* density;
  /// The archive of the metric is a part of the algorithm. Elsewhere it is passive in the paper: it
  /// records, and nothing reads it.
  bool owns_archive = false;
  /// Which of the steps that a probe finds its emitters begin with: with one or two features, and
  /// with more.
  StepChoice steps{}, steps_in_many = steps;
  /// What is different from a default-constructed Config.
  void (*set_defaults)(Config& config);
  /// What is different from that in the published profile, given the domain's values. (Which
  /// parts are other ones there, make_*.cpp say.)
  void (*set_published)(Config& config, const PublishedValues& values);
  /// In the published profile, whether a batch is scored before the density takes it in.
  bool published_scores_before_observing = true;
};

/// What is different from an algorithm's defaults in the profile `text`: the hyperparameters that
/// the paper prints, and restarts at its x0, the only starting point it names, where the archive
/// is passive. CMA-MAE and CMA-ME restart at elites, as their own papers say: from x0 they would
/// find nothing new, and restart again at once, for ever.
void set_text(Config& config, const Algorithm& algorithm, const PublishedValues& printed);

[[nodiscard]] std::span<const Algorithm> algorithms();
/// Throws an Error with the nearest name where there is none of that name.
[[nodiscard]] const Algorithm& algorithm_named(std::string_view name);
[[nodiscard]] inline const Algorithm& algorithm_of(const Config& config) {
  return algorithm_named(config.algorithm);
}

}  // namespace rarefy
