#include "rarefy/experiment/presets.hpp"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "rarefy/archives/cvt.hpp"
#include "rarefy/archives/grid.hpp"
#include "rarefy/compat/published.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/density/kde.hpp"
#include "rarefy/density/reservoir.hpp"
#include "rarefy/domains/arm.hpp"
#include "rarefy/domains/linear_projection.hpp"
#include "rarefy/emitters/cma_es_emitter.hpp"
#include "rarefy/storage/npy.hpp"

namespace rarefy {
namespace {

bool published(const Config& config) { return config.profile == "published"; }

std::uint64_t seed_of(const Config& config) { return static_cast<std::uint64_t>(config.seed); }

Bounds parse_bounds(const Config& config, const DomainInfo& domain) {
  Bounds bounds;
  bounds.resamples = config.resamples;
  bounds.repair = config.repair == "clip" ? Repair::clip : Repair::reflect;
  if (config.bounds == "none") return bounds;
  if (config.bounds == "domain") {
    if (!domain.solution_low || !domain.solution_high) {
      throw Error(ErrorKind::parameter, "bounds", "domain",
                  fmt::format("none or LOW,HIGH: '{}' has no natural range", domain.name));
    }
    bounds.lower = {*domain.solution_low};
    bounds.upper = {*domain.solution_high};
    return bounds;
  }
  double low = 0, high = 0;
  const auto* const end = config.bounds.data() + config.bounds.size();
  const auto first = std::from_chars(config.bounds.data(), end, low);
  const bool comma = first.ec == std::errc() && first.ptr != end && *first.ptr == ',';
  const auto second = std::from_chars(comma ? first.ptr + 1 : end, end, high);
  if (!comma || second.ec != std::errc() || second.ptr != end || !(low < high)) {
    throw Error(ErrorKind::parameter, "bounds", fmt::format("'{}'", config.bounds),
                "none, domain, or LOW,HIGH with LOW < HIGH");
  }
  bounds.lower = {low};
  bounds.upper = {high};
  return bounds;
}

void check_start(const Config& config, const Bounds& bounds) {
  if (bounds.any() && (config.x0 < bounds.lower[0] || config.x0 > bounds.upper[0])) {
    throw Error(
        ErrorKind::parameter, "x0", fmt::format("{}", config.x0),
        fmt::format("a value within the bounds, {} to {}", bounds.lower[0], bounds.upper[0]));
  }
}

// The published parts are what they are; a configuration must not claim others.
void check_published(const Config& config) {
  if (!published(config)) return;
  if (config.factor != "eigen" || config.kernel != "gaussian" || config.decompose_every != 0) {
    throw Error(ErrorKind::parameter, "published profile",
                fmt::format("factor {}, kernel {}, decompose-every {}", config.factor,
                            config.kernel, config.decompose_every),
                "eigen, gaussian and 0, which cannot be changed there");
  }
}

std::unique_ptr<Emitter> make_emitter(const Config& config, const DomainInfo& domain,
                                      std::uint32_t index) {
  CmaEsOptions options;
  options.dimension = domain.solution_dim;
  options.batch = config.batch;
  options.sigma0 = config.sigma0;
  options.mirrored = config.mirrored;
  options.factor = config.factor == "eigen" ? Factor::eigen : Factor::cholesky;
  options.bounds = parse_bounds(config, domain);
  options.decompose_every = config.decompose_every;
  std::unique_ptr<CmaEs> optimizer;
  if (published(config)) {
    optimizer = std::make_unique<compat::PublishedCmaEs>(options);
  } else {
    optimizer = std::make_unique<CmaEs>(options);
  }
  StopTests stop;
  stop.condition = config.stop_condition;
  stop.step_size = config.stop_step;
  stop.flat = config.stop_flat;
  auto emitter = std::make_unique<CmaEsEmitter>(std::move(optimizer), seed_of(config), index, stop);
  emitter->restart(std::vector<double>(static_cast<std::size_t>(domain.solution_dim), config.x0));
  return emitter;
}

std::unique_ptr<RestartTrigger> make_trigger(const Config& config) {
  if (config.restart_when == "basic") return std::make_unique<BasicTrigger>();
  return std::make_unique<StagnationTrigger>(
      StagnationOptions{.patience = config.patience, .patience_rate = config.patience_rate});
}

std::unique_ptr<RestartPoint> make_restart_point(const Config& config, const DomainInfo& domain) {
  const Index average_of = config.average_of > 0 ? config.average_of : config.batch / 2;
  if (config.restart_at == "average") return std::make_unique<RestartAtAverage>(average_of);
  if (config.restart_at == "sparsest") {
    return std::make_unique<RestartAtSparsest>(config.sparsest_of);
  }
  if (config.restart_at == "between") {
    return std::make_unique<RestartBetween>(average_of, config.sparsest_of);
  }
  if (config.restart_at == "elite") return std::make_unique<RestartAtElite>();
  if (config.restart_at == "mixed") {
    MixedRestartOptions options;
    options.emitters = config.emitters;
    options.average_of = average_of;
    options.sparsest_of = config.sparsest_of;
    options.decay = config.mixed_decay;
    options.sharpness = config.mixed_sharpness;
    options.least = config.mixed_least;
    options.evidence = config.mixed_evidence;
    return std::make_unique<MixedRestart>(options);
  }
  return std::make_unique<RestartAtOrigin>(
      std::vector<double>(static_cast<std::size_t>(domain.solution_dim), config.x0));
}

std::unique_ptr<Density> make_density(const Config& config, const DomainInfo& domain) {
  KdeOptions options;
  options.space = domain.feature_space;
  options.kernel = kernel_named(config.kernel);
  options.bandwidth = Bandwidth::parse(config.bandwidth);
  if (published(config)) {
    auto buffer = std::make_unique<compat::PublishedBuffer>(compat::PublishedBufferOptions{
        .feature_dim = domain.feature_dim(), .capacity = config.buffer, .seed = seed_of(config)});
    return std::make_unique<compat::PublishedDensity>(
        std::make_unique<KernelDensity>(std::move(options), std::move(buffer)));
  }
  auto buffer = std::make_unique<Reservoir>(ReservoirOptions{
      .feature_dim = domain.feature_dim(), .capacity = config.buffer, .seed = seed_of(config)});
  return std::make_unique<KernelDensity>(std::move(options), std::move(buffer));
}

}  // namespace

std::unique_ptr<Domain> make_domain(const Config& config) {
  if (config.domain == "arm") {
    return std::make_unique<Arm>(
        ArmOptions{.n = config.n, .objective = arm_objective_named(config.objective)});
  }
  return std::make_unique<LinearProjection>(LinearProjectionOptions{
      .n = config.n, .m = config.m, .objective = lp_objective_named(config.objective)});
}

bool uses_grid(const Config& config, const DomainInfo& domain) {
  if (config.archive == "auto") return domain.feature_dim() <= 2 && config.centroids.empty();
  return config.archive == "grid";
}

std::shared_ptr<const Tessellation> make_tessellation(const Config& config,
                                                      const DomainInfo& domain, Workers& workers) {
  const auto& space = domain.feature_space;
  if (uses_grid(config, domain)) {
    const auto features = static_cast<std::size_t>(domain.feature_dim());
    return std::make_shared<Grid>(space, std::vector<Index>(features, config.grid));
  }
  if (!config.centroids.empty()) {
    return std::make_shared<Cvt>(space, read_npy_batch(config.centroids));
  }
  CvtOptions options;
  options.cells = config.cells;
  options.samples = config.cvt_samples;
  options.seed = static_cast<std::uint64_t>(config.cvt_seed);
  options.iterations = config.cvt_iterations;
  options.tolerance = config.cvt_tolerance;
  return std::make_shared<Cvt>(space, options, workers);
}

std::unique_ptr<Search> make_search(const Config& config, const DomainInfo& domain, Index threads) {
  Workers workers(threads);
  return make_search(config, domain, make_tessellation(config, domain, workers), threads);
}

std::unique_ptr<Search> make_search(const Config& config, const DomainInfo& domain,
                                    std::shared_ptr<const Tessellation> cells, Index threads) {
  return std::make_unique<Search>(make_parts(config, domain, std::move(cells)),
                                  make_search_options(config, threads));
}

SearchParts make_parts(const Config& config, const DomainInfo& domain,
                       std::shared_ptr<const Tessellation> cells) {
  check_published(config);
  check_start(config, parse_bounds(config, domain));
  SearchParts parts;
  for (std::int64_t i = 0; i < config.emitters; ++i) {
    parts.emitters.push_back(make_emitter(config, domain, static_cast<std::uint32_t>(i)));
    parts.triggers.push_back(make_trigger(config));
  }
  parts.restart_point = make_restart_point(config, domain);
  parts.density = make_density(config, domain);
  parts.archive = std::make_unique<Archive>(std::move(cells), domain.solution_dim);
  return parts;
}

SearchOptions make_search_options(const Config& config, Index threads) {
  return {
      .seed = seed_of(config), .threads = threads, .score_before_observing = !published(config)};
}

}  // namespace rarefy
