#include "rarefy/experiment/algorithm_table.hpp"

#include <array>

#include "experiment/make_parts.hpp"
#include "rarefy/core/nearest_name.hpp"
#include "rarefy/experiment/domain_table.hpp"

namespace rarefy {

const EmitterKind kStrategyEmitter = {.make = make_strategy_emitter,
                                      .step = &EmitterOptions::sigma0};
const EmitterKind kIsoLineEmitter = {.make = make_iso_line_emitter,
                                     .step = &EmitterOptions::iso_sigma};
const EmitterKind kGaussianEmitter = {.make = make_gaussian_emitter,
                                      .step = &EmitterOptions::iso_sigma};

const DensityKind kKernelDensity = {.make = make_kernel_density};
const DensityKind kQualityDensity = {.make = make_quality_density};
const DensityKind kFlowDensity = {.make = make_flow_density};
const DensityKind kMixtureDensity = {.make = make_mixture_density};
const DensityKind kNovelty = {.make = make_novelty, .accepts = true};
const DensityKind kThresholds = {.make = make_thresholds, .accepts = true, .has_thresholds = true};
const DensityKind kDiscountModel = {
    .make = make_discount_model, .accepts = true, .has_thresholds = true};
const DensityKind kImprovement = {.make = make_improvement,
                                  .accepts = true,
                                  .shows_progress = false,
                                  .tells_elites_apart = false};
const DensityKind kNoDensity = {.make = make_no_density, .accepts = true};

namespace {

// Among the many cells of a memory, rare ones are found by comparing many.
constexpr Index kElitesCompared = 256;

// Samples in pairs: worth three points of coverage on the linear projection, though it biases the
// step size (docs/reproduction.md).
void set_density_descent(Config& config) {
  config.emitters.cma_es.mirrored = true;
  config.restarts.from = RestartFrom::memory;
  config.restarts.adaptive.compared = kElitesCompared;
}

void set_dds_kde(Config& config) {
  set_density_descent(config);
  config.density.kde.detail = 0.07;  // chosen on LP and the maze: docs/reproduction.md
}

// CMA-MAE and its relative: samples in pairs, restarts and shared shapes serve them as well, with
// objectives and without. (Their authors have none of these: docs/reproduction.md.)
void set_annealed(Config& config) {
  config.emitters.cma_es.mirrored = true;
  config.restarts.from = RestartFrom::archive;
}

// What the algorithms have in common that begin at elites and stay there for a short while.
void set_rival(Config& config) {
  config.emitters.cma_es.mirrored = false;
  config.restarts.when = RestartWhen::basic;
  config.restarts.at = RestartAt::elite;
  config.restarts.from = RestartFrom::archive;
  config.restarts.shape_rate = 0.0;
}

// As its authors define it: parents are those that found or improved something, and an emitter
// of which none does starts anew; at a rare elite, where theirs takes any.
void set_cma_me(Config& config) {
  set_rival(config);
  config.emitters.selection = Selection::filter;
  config.restarts.when = RestartWhen::no_improvement;
  config.restarts.at = RestartAt::rarest;
  config.restarts.adaptive.compared = kElitesCompared;
}

// Its authors' rate on linear projections. (On the arm they take 0.001.)
void set_dms(Config& config) {
  set_annealed(config);
  config.density.alpha = DiscountModelOptions{}.learning_rate;
}

// What all algorithms have in common in the published profile.
void set_published(Config& config, const PublishedValues& values) {
  config.emitters.strategy = Strategy::cma_es;
  config.emitters.cma_es.mirrored = false;
  config.emitters.cma_es.factor = Factor::eigen;
  config.emitters.selection = Selection::mu;
  config.emitters.sigma0 = 0.5;  // where the paper prints no other
  config.emitters.iso_sigma = values.iso_sigma;
  config.restarts.when = RestartWhen::basic;
  config.restarts.at = RestartAt::elite;
  config.restarts.from = RestartFrom::archive;
  config.restarts.adaptive.compared = AdaptiveRestartOptions{}.compared;
  config.restarts.shape_rate = 0.0;
  config.density.kde.bandwidth = Bandwidth::absolute(values.bandwidth);
  config.density.kde.detail = 0.0;
  config.density.kde.log_scores = false;
  config.density.novelty.threshold = values.novelty_threshold;
  config.density.flow.network.layers = {256, 256, 256};
  config.density.flow.integration.steps = 6;  // ranks nearly as 10 do, see docs/reproduction.md
  config.density.outside = Outside::as_is;
}

// Density descent by kernels, and its relatives that the paper does not have.
void set_published_dds(Config& config, const PublishedValues& values) {
  set_published(config, values);
  config.emitters.sigma0 = values.dds_sigma0;
  config.restarts.at = RestartAt::origin;
}

// Which steps serve them, of those that a probe finds (docs/reproduction.md): density descent wants
// smaller ones where there are many features, novelty search anywhere, and emitters that never
// leave an elite far behind much smaller ones where there are few.
constexpr StepChoice kCloseSteps = {.least_spread = 0.25, .most_spread = 0.6};
constexpr StepChoice kCloserSteps = {.least_spread = 0.2, .most_spread = 0.5};
constexpr StepChoice kNearElites = {.part = 0.3};

constexpr std::array kAlgorithms = {
    Algorithm{.name = "dds-kde",
              .meaning = "density descent on a kernel density estimate, by CMA-ES",
              .emitter = &kStrategyEmitter,
              .density = &kKernelDensity,
              .steps_in_many = kCloseSteps,
              .set_defaults = set_dds_kde,
              .set_published = set_published_dds,
              .published_scores_before_observing = false},
    Algorithm{.name = "dds-cnf",
              .meaning = "density descent on a continuous normalizing flow, by CMA-ES",
              .emitter = &kStrategyEmitter,
              .density = &kFlowDensity,
              .steps_in_many = kCloseSteps,
              .set_defaults = set_density_descent,
              .set_published =
                  [](Config& config, const PublishedValues& values) {
                    set_published(config, values);
                    config.emitters.sigma0 = values.cnf_sigma0;
                    config.restarts.at = RestartAt::origin;
                  }},
    // Not in the paper; its values are those of dds-kde.
    Algorithm{.name = "dds-gmm",
              .meaning = "density descent on a mixture of Gaussians, by CMA-ES",
              .emitter = &kStrategyEmitter,
              .density = &kMixtureDensity,
              .steps_in_many = kCloseSteps,
              .set_defaults = set_density_descent,
              .set_published = set_published_dds},
    // Not in the paper. In the other profiles it has what DDS-KDE has there.
    Algorithm{.name = "dds-qd",
              .meaning = "density descent that weighs the objective against density, by CMA-ES",
              .emitter = &kStrategyEmitter,
              .density = &kQualityDensity,
              .steps_in_many = kCloseSteps,
              .set_defaults = set_dds_kde,
              .set_published = set_published_dds,
              .published_scores_before_observing = false},
    Algorithm{.name = "ns",
              .meaning = "novelty search: mean distance to the nearest neighbours, by CMA-ES",
              .emitter = &kStrategyEmitter,
              .density = &kNovelty,
              .steps = kCloserSteps,
              .set_defaults =
                  [](Config& config) {
                    set_density_descent(config);
                    config.restarts.shape_rate = 0.0;  // two points worse on LP with it
                  },
              .set_published = set_published},
    Algorithm{.name = "cma-mae",
              .meaning = "MAP-annealing: thresholds that rise where they are met, by CMA-ES",
              .emitter = &kStrategyEmitter,
              .density = &kThresholds,
              .owns_archive = true,
              .set_defaults = set_annealed,
              .set_published =
                  [](Config& config, const PublishedValues& values) {
                    set_published(config, values);
                    config.emitters.sigma0 = values.cma_mae_sigma0;
                  }},
    // The paper does not have it. Its authors take the step sizes that this one has for CMA-MAE.
    Algorithm{.name = "dms",
              .meaning = "discount model search: a network of thresholds, by CMA-ES",
              .emitter = &kStrategyEmitter,
              .density = &kDiscountModel,
              .owns_archive = true,
              .set_defaults = set_dms,
              .set_published =
                  [](Config& config, const PublishedValues& values) {
                    set_published(config, values);
                    config.emitters.sigma0 = values.cma_mae_sigma0;
                  }},
    Algorithm{.name = "cma-me",
              .meaning = "new cells first, then improvements, by CMA-ES",
              .emitter = &kStrategyEmitter,
              .density = &kImprovement,
              .owns_archive = true,
              .steps = kNearElites,
              .steps_in_many = {},
              .set_defaults = set_cma_me,
              .set_published =
                  [](Config& config, const PublishedValues& values) {
                    set_published(config, values);
                    config.emitters.sigma0 = values.cma_me_sigma0;
                  }},
    Algorithm{.name = "map-elites-line",
              .meaning = "elites varied by noise and along lines to each other",
              .emitter = &kIsoLineEmitter,
              .density = &kNoDensity,
              .owns_archive = true,
              .steps = kNearElites,
              .steps_in_many = {},
              .set_defaults = set_rival,
              .set_published = set_published},
    Algorithm{.name = "map-elites",
              .meaning = "elites varied by noise",
              .emitter = &kGaussianEmitter,
              .density = &kNoDensity,
              .owns_archive = true,
              .steps = kNearElites,
              .steps_in_many = {},
              .set_defaults = set_rival,
              .set_published = set_published},
};

}  // namespace

std::span<const Algorithm> algorithms() { return kAlgorithms; }

void set_text(Config& config, const Algorithm& algorithm, const PublishedValues& printed) {
  const auto flow = config.density.flow;  // of which the paper says nothing
  algorithm.set_published(config, printed);
  config.density.flow = flow;
  config.density.kde.log_scores = true;
  if (!algorithm.owns_archive) config.restarts.at = RestartAt::origin;
}

const Algorithm& algorithm_named(std::string_view name) {
  std::vector<std::string_view> known;
  for (const auto& row : algorithms()) {
    if (row.name == name) return row;
    known.push_back(row.name);
  }
  throw unknown_name("algorithm", name, known);
}

}  // namespace rarefy
