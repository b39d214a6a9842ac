// Every algorithm in a small search, made of its parts, on a problem that takes no time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rarefy/archives/archive.hpp"
#include "rarefy/core/batch.hpp"
#include "rarefy/core/state.hpp"
#include "rarefy/density/annealed_thresholds.hpp"
#include "rarefy/density/discount_model.hpp"
#include "rarefy/density/flow.hpp"
#include "rarefy/density/improvement.hpp"
#include "rarefy/density/kde.hpp"
#include "rarefy/density/mixture.hpp"
#include "rarefy/density/no_density.hpp"
#include "rarefy/density/novelty.hpp"
#include "rarefy/density/quality_density.hpp"
#include "rarefy/density/reservoir.hpp"
#include "rarefy/emitters/cma_es.hpp"
#include "rarefy/emitters/evolution_strategy_emitter.hpp"
#include "rarefy/emitters/gaussian_emitter.hpp"
#include "rarefy/emitters/iso_line_emitter.hpp"
#include "rarefy/restarts/adaptive_restart.hpp"
#include "rarefy/restarts/restart_trigger.hpp"
#include "rarefy/search.hpp"
#include "rarefy/tessellations/grid.hpp"

namespace every {

using rarefy::Index;

constexpr Index kDimension = 4;
constexpr Index kEmitters = 3;
constexpr Index kRows = 8;  // of one emitter

inline std::vector<std::string> algorithms() {
  return {"dds-kde", "dds-cnf", "dds-gmm", "dds-qd",     "ns",
          "cma-mae", "dms",     "cma-me",  "map-elites", "map-elites-line"};
}

inline const rarefy::FeatureSpace& space() {
  static const rarefy::FeatureSpace box = {{-1, -1}, {1, 1}};
  return box;
}

inline std::unique_ptr<rarefy::Density> density(
    const std::string& algorithm, const std::shared_ptr<const rarefy::Tessellation>& cells) {
  const auto buffer = [] {
    return std::make_unique<rarefy::Reservoir>(
        rarefy::ReservoirOptions{.feature_dim = 2, .capacity = 100, .seed = 1});
  };
  if (algorithm == "dds-kde") {
    return std::make_unique<rarefy::KernelDensity>(rarefy::KdeOptions{.space = space()}, buffer());
  }
  if (algorithm == "dds-qd") {
    return std::make_unique<rarefy::QualityDensity>(
        rarefy::QualityOptions{.weight = 0.5, .seed = 1},
        std::make_unique<rarefy::KernelDensity>(rarefy::KdeOptions{.space = space()}, buffer()));
  }
  if (algorithm == "dds-cnf") {
    return std::make_unique<rarefy::FlowDensity>(
        rarefy::FlowOptions{.space = space(),
                            .network = {.layers = {8, 8}},
                            .training = {.steps = 2, .batch = 16},
                            .integration = {.steps = 3},
                            .seed = 1},
        buffer());
  }
  if (algorithm == "dds-gmm") {
    return std::make_unique<rarefy::MixtureDensity>(
        rarefy::MixtureOptions{.space = space(), .components = 5, .batch = 32, .seed = 1},
        buffer());
  }
  if (algorithm == "ns") {
    return std::make_unique<rarefy::NoveltyDensity>(
        rarefy::NoveltyOptions{.space = space(), .neighbours = 5, .threshold = 0.05});
  }
  if (algorithm == "cma-mae") {
    return std::make_unique<rarefy::AnnealedThresholds>(
        rarefy::AnnealedThresholdsOptions{.learning_rate = 0.1, .minimum = -100.0}, cells);
  }
  if (algorithm == "dms") {
    return std::make_unique<rarefy::DiscountModel>(
        rarefy::DiscountModelOptions{.minimum = -100.0,
                                     .range = 100.0,
                                     .network = {.layers = {8, 8}},
                                     .training = {.empty = 10, .initial = 50},
                                     .seed = 1},
        cells);
  }
  if (algorithm == "cma-me") return std::make_unique<rarefy::Improvement>(cells);
  return std::make_unique<rarefy::NoDensity>(2);
}

inline std::unique_ptr<rarefy::Emitter> emitter(const std::string& algorithm, std::uint32_t index) {
  if (algorithm == "map-elites") {
    return std::make_unique<rarefy::GaussianEmitter>(
        rarefy::GaussianOptions{.dimension = kDimension, .batch = kRows, .sigma = 0.3}, 1, index);
  }
  if (algorithm == "map-elites-line") {
    return std::make_unique<rarefy::IsoLineEmitter>(
        rarefy::IsoLineOptions{
            .dimension = kDimension, .batch = kRows, .sigma_iso = 0.3, .sigma_line = 0.2},
        1, index);
  }
  const auto selection = algorithm == "cma-me" ? rarefy::Selection::filter : rarefy::Selection::mu;
  return std::make_unique<rarefy::EvolutionStrategyEmitter>(
      std::make_unique<rarefy::CmaEs>(
          rarefy::CmaEsOptions{.dimension = kDimension, .batch = kRows, .sigma0 = 0.3}),
      1, index, rarefy::StopTests{}, selection);
}

inline std::unique_ptr<rarefy::RestartTrigger> trigger(const std::string& algorithm) {
  if (algorithm == "cma-me") return std::make_unique<rarefy::NoImprovementTrigger>();
  return std::make_unique<rarefy::StagnationTrigger>(
      rarefy::StagnationOptions{.patience = 6, .patience_rate = 0.1});
}

inline rarefy::SearchParts parts(const std::string& algorithm) {
  const auto cells = std::make_shared<rarefy::Grid>(space(), std::vector<Index>{10, 10});
  rarefy::SearchParts parts;
  for (std::uint32_t e = 0; e < kEmitters; ++e) {
    parts.emitters.push_back(emitter(algorithm, e));
    parts.triggers.push_back(trigger(algorithm));
  }
  parts.restart_point = std::make_unique<rarefy::AdaptiveRestart>(
      rarefy::AdaptiveRestartOptions{.emitters = kEmitters, .average_of = 4, .compared = 8});
  parts.density = density(algorithm, cells);
  parts.archive = std::make_unique<rarefy::Archive>(cells, kDimension);
  return parts;
}

/// Features are two sums of a solution's values, and leave the box now and then.
inline void evaluate(rarefy::BatchView solutions, rarefy::Batch& features,
                     std::vector<double>& objectives) {
  features.resize(solutions.rows(), 2);
  objectives.resize(static_cast<std::size_t>(solutions.rows()));
  for (Index i = 0; i < solutions.rows(); ++i) {
    const auto x = solutions.row(i);
    features(i, 0) = 0.5 * (x[0] + x[1]);
    features(i, 1) = 0.5 * (x[2] - x[3]);
    double squares = 0.0;
    for (const double value : x) squares += value * value;
    objectives[static_cast<std::size_t>(i)] = -squares;
  }
}

/// A search with its problem: step() is one iteration.
class Loop {
 public:
  explicit Loop(const std::string& algorithm,
                rarefy::SearchOptions options = {.seed = 1, .threads = 1})
      : search(parts(algorithm), std::move(options)) {}

  void step(const std::vector<std::uint8_t>& valid = {}) {
    evaluate(search.ask(), features, objectives);
    search.tell(features, objectives, valid);
  }
  void steps(int count) {
    for (int i = 0; i < count; ++i) step();
  }
  [[nodiscard]] std::vector<std::byte> state() const {
    rarefy::StateWriter out;
    search.save(out);
    return out.bytes();
  }
  void load(const std::vector<std::byte>& bytes) {
    rarefy::StateReader in(bytes);
    search.load(in);
  }

  rarefy::Search search;
  rarefy::Batch features;
  std::vector<double> objectives;
};

}  // namespace every
