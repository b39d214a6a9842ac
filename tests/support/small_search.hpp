// A small DDS-KDE search on the linear projection, whose parts a test can choose.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "rarefy/archives/archive.hpp"
#include "rarefy/compat/published.hpp"
#include "rarefy/core/batch.hpp"
#include "rarefy/core/state.hpp"
#include "rarefy/density/kde.hpp"
#include "rarefy/density/reservoir.hpp"
#include "rarefy/domains/linear_projection.hpp"
#include "rarefy/emitters/cma_es.hpp"
#include "rarefy/emitters/evolution_strategy_emitter.hpp"
#include "rarefy/evaluators/evaluator.hpp"
#include "rarefy/restarts/adaptive_restart.hpp"
#include "rarefy/restarts/restart_trigger.hpp"
#include "rarefy/search.hpp"
#include "rarefy/tessellations/grid.hpp"

namespace small {

enum class Trigger { basic, stagnation };
enum class Point { origin, elite, average, sparsest, rarest, adaptive };

struct Options {
  std::uint64_t seed = 1;
  rarefy::Index threads = 1;
  rarefy::Index n = 20;
  rarefy::Index emitters = 4;
  rarefy::Index batch = 12;
  rarefy::Index buffer = 400;
  rarefy::Index cells = 30;  // along each feature
  rarefy::Factor factor = rarefy::Factor::cholesky;
  Trigger trigger = Trigger::stagnation;
  Point point = Point::average;
  rarefy::StagnationOptions stagnation = {.patience = 8, .patience_rate = 0.2};
  double shape_rate = 0;  // of what emitters share
  rarefy::StopTests stop_tests = {};
  bool published = false;  // the parts of compat/
  rarefy::LpObjective objective = rarefy::LpObjective::constant;
};

inline std::unique_ptr<rarefy::RestartPoint> restart_point(const Options& options) {
  const auto n = static_cast<std::size_t>(options.n);
  switch (options.point) {
    case Point::origin:
      return std::make_unique<rarefy::RestartAtOrigin>(std::vector<double>(n, 0.0));
    case Point::elite: return std::make_unique<rarefy::RestartAtElite>();
    case Point::average: return std::make_unique<rarefy::RestartAtAverage>(6);
    case Point::sparsest: return std::make_unique<rarefy::RestartAtSparsest>(16);
    case Point::rarest: return std::make_unique<rarefy::RestartAtRarest>(16);
    case Point::adaptive: break;
  }
  return std::make_unique<rarefy::AdaptiveRestart>(rarefy::AdaptiveRestartOptions{
      .emitters = options.emitters, .average_of = 6, .compared = 16});
}

inline std::unique_ptr<rarefy::RestartTrigger> restart_trigger(const Options& options) {
  if (options.trigger == Trigger::basic) return std::make_unique<rarefy::BasicTrigger>();
  return std::make_unique<rarefy::StagnationTrigger>(options.stagnation);
}

inline std::unique_ptr<rarefy::Density> density(const Options& options,
                                                const rarefy::FeatureSpace& space) {
  if (!options.published) {
    // Scott's rule needs to know how many samples there will be.
    const auto bandwidth =
        options.buffer > 0 ? rarefy::Bandwidth::scott() : rarefy::Bandwidth::normalised(0.08);
    return std::make_unique<rarefy::KernelDensity>(
        rarefy::KdeOptions{.space = space, .bandwidth = bandwidth},
        std::make_unique<rarefy::Reservoir>(rarefy::ReservoirOptions{
            .feature_dim = space.dim(), .capacity = options.buffer, .seed = options.seed}));
  }
  auto kde = std::make_unique<rarefy::KernelDensity>(
      rarefy::KdeOptions{.space = space, .bandwidth = rarefy::Bandwidth::normalised(0.05)},
      std::make_unique<rarefy::compat::PublishedBuffer>(rarefy::compat::PublishedBufferOptions{
          .feature_dim = space.dim(), .capacity = options.buffer, .seed = options.seed}));
  return std::make_unique<rarefy::compat::PublishedDensity>(std::move(kde));
}

inline std::unique_ptr<rarefy::CmaEs> optimizer(const Options& options) {
  const rarefy::CmaEsOptions cma = {.dimension = options.n,
                                    .batch = options.batch,
                                    .sigma0 = 0.5,
                                    .mirrored = !options.published,
                                    .factor = options.factor,
                                    .bounds = {}};
  if (options.published) return std::make_unique<rarefy::compat::PublishedCmaEs>(cma);
  return std::make_unique<rarefy::CmaEs>(cma);
}

inline rarefy::SearchParts parts(const Options& options, const rarefy::Domain& domain) {
  const auto& space = domain.info().feature_space;
  rarefy::SearchParts parts;
  for (rarefy::Index e = 0; e < options.emitters; ++e) {
    parts.emitters.push_back(std::make_unique<rarefy::EvolutionStrategyEmitter>(
        optimizer(options), options.seed, static_cast<std::uint32_t>(e), options.stop_tests));
    parts.triggers.push_back(restart_trigger(options));
  }
  parts.restart_point = restart_point(options);
  if (options.shape_rate > 0) {
    parts.common_shape = std::make_unique<rarefy::CommonShape>(
        options.shape_rate, parts.emitters.front()->shape_size());
  }
  parts.density = density(options, space);
  const auto dims = static_cast<std::size_t>(space.dim());
  parts.archive = std::make_unique<rarefy::Archive>(
      std::make_shared<rarefy::Grid>(space, std::vector<rarefy::Index>(dims, options.cells)),
      options.n);
  return parts;
}

/// A search with its domain and its evaluator: step() is one iteration.
class Loop {
 public:
  explicit Loop(const Options& options = {})
      : domain({.n = options.n, .m = 2, .objective = options.objective}),
        search(parts(options, domain), {.seed = options.seed,
                                        .threads = options.threads,
                                        .score_before_observing = !options.published}),
        evaluator(domain, search.workers()),
        features(search.candidates(), search.feature_dim()),
        objectives(static_cast<std::size_t>(search.candidates())) {}

  void evaluate() { evaluator.evaluate(search.ask(), {features, objectives}); }
  void step() {
    evaluate();
    search.tell(features, objectives);
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

  rarefy::LinearProjection domain;
  rarefy::Search search;
  rarefy::ThreadsEvaluator evaluator;
  rarefy::Batch features;
  std::vector<double> objectives;
};

}  // namespace small
