#include <fmt/format.h>

#include <utility>

#include "experiment/make_parts.hpp"
#include "rarefy/compat/published.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/emitters/evolution_strategy_emitter.hpp"
#include "rarefy/emitters/gaussian_emitter.hpp"
#include "rarefy/emitters/iso_line_emitter.hpp"
#include "rarefy/emitters/lm_ma_es.hpp"
#include "rarefy/emitters/separable_cma_es.hpp"

namespace rarefy {
namespace {

constexpr double kUnknownStep = 1.0;  // until the probe has found one

std::unique_ptr<EvolutionStrategy> make_strategy(const Config& config, const DomainInfo& domain) {
  CmaEsOptions options = config.emitters.cma_es;
  options.dimension = domain.solution_dim;
  options.batch = config.emitters.batch;
  options.sigma0 = config.emitters.sigma0.value_or(kUnknownStep);
  options.bounds = bounds_of(config.emitters, domain);
  const LinearStrategyOptions linear = {.dimension = options.dimension,
                                        .batch = options.batch,
                                        .sigma0 = options.sigma0,
                                        .mirrored = options.mirrored,
                                        .bounds = options.bounds};
  switch (strategy_for(config.emitters.strategy, domain.solution_dim)) {
    case Strategy::cma_es:
    case Strategy::automatic: break;
    case Strategy::sep_cma_es: return std::make_unique<SeparableCmaEs>(linear);
    case Strategy::lm_ma_es: return std::make_unique<LmMaEs>(linear);
  }
  if (config.profile == Profile::published) {
    return std::make_unique<compat::PublishedCmaEs>(std::move(options));
  }
  return std::make_unique<CmaEs>(std::move(options));
}

IsoLineOptions iso_line_options(const Config& config, const DomainInfo& domain) {
  IsoLineOptions options = config.emitters.iso_line;
  options.dimension = domain.solution_dim;
  options.batch = config.emitters.batch;
  options.sigma_iso = config.emitters.iso_sigma.value_or(kUnknownStep);
  options.bounds = bounds_of(config.emitters, domain);
  return options;
}

}  // namespace

Bounds bounds_of(const EmitterOptions& options, const DomainInfo& domain) {
  Bounds bounds;
  bounds.resamples = options.resamples;
  bounds.repair = options.repair;
  switch (options.range.kind) {
    case SolutionRange::Kind::none: break;
    case SolutionRange::Kind::domain:
      if (!domain.solution_low || !domain.solution_high) {
        throw Error(ErrorKind::parameter, "bounds", "domain",
                    fmt::format("none or LOW,HIGH: '{}' has no natural range", domain.name));
      }
      bounds.lower = {*domain.solution_low};
      bounds.upper = {*domain.solution_high};
      break;
    case SolutionRange::Kind::given:
      bounds.lower = {options.range.low};
      bounds.upper = {options.range.high};
      break;
  }
  return bounds;
}

std::unique_ptr<Emitter> make_strategy_emitter(const Config& config, const DomainInfo& domain,
                                               std::uint32_t index) {
  return std::make_unique<EvolutionStrategyEmitter>(make_strategy(config, domain), seed_of(config),
                                                    index, config.emitters.stop,
                                                    config.emitters.selection);
}

std::unique_ptr<Emitter> make_iso_line_emitter(const Config& config, const DomainInfo& domain,
                                               std::uint32_t index) {
  return std::make_unique<IsoLineEmitter>(iso_line_options(config, domain), seed_of(config), index);
}

std::unique_ptr<Emitter> make_gaussian_emitter(const Config& config, const DomainInfo& domain,
                                               std::uint32_t index) {
  auto options = iso_line_options(config, domain);
  return std::make_unique<GaussianEmitter>(GaussianOptions{.dimension = options.dimension,
                                                           .batch = options.batch,
                                                           .sigma = options.sigma_iso,
                                                           .bounds = std::move(options.bounds)},
                                           seed_of(config), index);
}

}  // namespace rarefy
