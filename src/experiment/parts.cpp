#include "experiment/parts.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cmath>
#include <utility>

#include "rarefy/compat/published.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/density/annealed_thresholds.hpp"
#include "rarefy/density/endless_buffer.hpp"
#include "rarefy/density/flow.hpp"
#include "rarefy/density/improvement.hpp"
#include "rarefy/density/kde.hpp"
#include "rarefy/density/no_density.hpp"
#include "rarefy/density/novelty.hpp"
#include "rarefy/density/reservoir.hpp"
#include "rarefy/emitters/cma_es_emitter.hpp"
#include "rarefy/emitters/gaussian_emitter.hpp"
#include "rarefy/emitters/iso_line_emitter.hpp"
#include "rarefy/emitters/linear_strategy.hpp"
#include "rarefy/restarts/adaptive_restart.hpp"

namespace rarefy::presets {

bool is_published(const Config& config) { return config.profile == "published"; }

namespace {

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
  if (!is_published(config)) return;
  if (config.factor != "eigen" || config.kernel != "gaussian" || config.decompose_every != 0 ||
      config.kde == "panels" || config.strategy != "cma-es") {
    throw Error(
        ErrorKind::parameter, "published profile",
        fmt::format("factor {}, kernel {}, decompose-every {}, kde {}, strategy {}", config.factor,
                    config.kernel, config.decompose_every, config.kde, config.strategy),
        "eigen, gaussian, 0, direct and cma-es, which cannot be changed there");
  }
}

// Which parts make sense with which.
void check_algorithm(const Config& config) {
  const auto refuse = [&](std::string_view thing, const std::string& given,
                          std::string_view expected) {
    throw Error(ErrorKind::parameter, thing, fmt::format("{} with {}", given, config.algorithm),
                expected);
  };
  const bool accepts = !is_density_descent(config);  // has an idea of being accepted
  if (config.selection == "filter" && !accepts) {
    refuse("selection", "filter", "mu: density descent accepts every candidate");
  }
  if (config.restart_when == "no-improvement" && !accepts) {
    refuse("restart-when", "no-improvement",
           "stagnation or basic: density descent accepts every candidate");
  }
  if (config.restart_at == "sparsest" && config.algorithm == "cma-me") {
    refuse("restart-at", "sparsest", "another: its scores do not tell elites apart");
  }
  if (config.algorithm == "cma-mae" && config.objective == "energy" && config.threshold_min >= 0) {
    refuse("threshold-min", fmt::format("{}, objective energy", config.threshold_min),
           "a number below the least objective, -0.3125: above all objectives, a threshold "
           "never lets anything in");
  }
  if (config.restart_when == "stagnation" && config.algorithm == "cma-me") {
    refuse("restart-when", "stagnation",
           "basic or no-improvement: its scores are ranks, and do not show progress");
  }
}

std::unique_ptr<Emitter> make_cma_es_emitter(const Config& config, const DomainInfo& domain,
                                             std::uint32_t index) {
  CmaEsOptions options;
  options.dimension = domain.solution_dim;
  options.batch = config.batch;
  options.sigma0 = config.sigma0;
  options.mirrored = config.mirrored;
  options.factor = config.factor == "eigen" ? Factor::eigen : Factor::cholesky;
  options.bounds = parse_bounds(config, domain);
  options.decompose_every = config.decompose_every;
  const LinearStrategyOptions linear = {.dimension = options.dimension,
                                        .batch = options.batch,
                                        .sigma0 = options.sigma0,
                                        .mirrored = options.mirrored,
                                        .bounds = options.bounds};
  std::unique_ptr<EvolutionStrategy> optimizer;
  if (config.strategy == "sep-cma-es") {
    optimizer = std::make_unique<SeparableCmaEs>(linear);
  } else if (config.strategy == "lm-ma-es") {
    optimizer = std::make_unique<LmMaEs>(linear);
  } else if (is_published(config)) {
    optimizer = std::make_unique<compat::PublishedCmaEs>(options);
  } else {
    optimizer = std::make_unique<CmaEs>(options);
  }
  StopTests stop;
  stop.condition = config.stop_condition;
  stop.step_size = config.stop_step;
  stop.flat = config.stop_flat;
  const auto selection = config.selection == "filter" ? Selection::filter : Selection::mu;
  return std::make_unique<CmaEsEmitter>(std::move(optimizer), seed_of(config), index, stop,
                                        selection);
}

std::unique_ptr<Emitter> make_variation_emitter(const Config& config, const DomainInfo& domain,
                                                std::uint32_t index) {
  if (config.algorithm == "map-elites") {
    return std::make_unique<GaussianEmitter>(
        GaussianOptions{.dimension = domain.solution_dim,
                        .batch = config.batch,
                        .sigma = config.iso_sigma,
                        .bounds = parse_bounds(config, domain)},
        seed_of(config), index);
  }
  return std::make_unique<IsoLineEmitter>(IsoLineOptions{.dimension = domain.solution_dim,
                                                         .batch = config.batch,
                                                         .sigma_iso = config.iso_sigma,
                                                         .sigma_line = config.line_sigma,
                                                         .bounds = parse_bounds(config, domain)},
                                          seed_of(config), index);
}

std::unique_ptr<FeatureBuffer> make_buffer(const Config& config, const DomainInfo& domain) {
  if (is_published(config)) {
    return std::make_unique<compat::PublishedBuffer>(compat::PublishedBufferOptions{
        .feature_dim = domain.feature_dim(), .capacity = config.buffer, .seed = seed_of(config)});
  }
  return std::make_unique<Reservoir>(ReservoirOptions{
      .feature_dim = domain.feature_dim(), .capacity = config.buffer, .seed = seed_of(config)});
}

std::unique_ptr<Density> make_kernel_density(const Config& config, const DomainInfo& domain) {
  KdeOptions options;
  options.space = domain.feature_space;
  options.kernel = kernel_named(config.kernel);
  options.bandwidth = Bandwidth::parse(config.bandwidth);
  options.method = kde_method_named(config.kde);
  if (is_published(config)) {
    options.method = KdeMethod::direct;
    return std::make_unique<compat::PublishedDensity>(
        std::make_unique<KernelDensity>(std::move(options), make_buffer(config, domain)));
  }
  std::unique_ptr<FeatureBuffer> buffer;
  if (config.buffer == 0 && KernelDensity::method_for(options, 0) == KdeMethod::panels) {
    buffer = std::make_unique<EndlessBuffer>(domain.feature_dim(), seed_of(config));
  } else {
    buffer = make_buffer(config, domain);
  }
  return std::make_unique<KernelDensity>(std::move(options), std::move(buffer));
}

std::vector<Index> parse_layers(const std::string& text) {
  constexpr Index kWidest = 10'000;
  std::vector<Index> layers;
  const auto* next = text.data();
  const auto* const end = text.data() + text.size();
  while (true) {
    while (next != end && *next == ' ') ++next;
    Index width = 0;
    const auto [rest, problem] = std::from_chars(next, end, width);
    const bool more = rest != end && *rest == ',';
    if (problem != std::errc() || width < 1 || width > kWidest || (rest != end && !more)) {
      throw Error(ErrorKind::parameter, "flow-layers", fmt::format("'{}'", text),
                  fmt::format("widths of hidden layers, 1 to {}, with commas between", kWidest));
    }
    layers.push_back(width);
    if (!more) return layers;
    next = rest + 1;
  }
}

std::unique_ptr<Density> make_flow(const Config& config, const DomainInfo& domain) {
  FlowOptions options;
  options.space = domain.feature_space;
  options.scaling = feature_scaling_named(config.flow_scaling);
  options.network = {.layers = parse_layers(config.flow_layers),
                     .activation = activation_named(config.flow_activation),
                     .frequencies = config.flow_frequencies};
  options.training = {.steps = config.flow_steps,
                      .batch = config.flow_batch,
                      .rate = config.flow_rate,
                      .smoothing = config.flow_smoothing};
  options.integration = {.integrator = integrator_named(config.flow_integrator),
                         .steps = config.flow_integration_steps,
                         .relative_error = config.flow_relative_error,
                         .absolute_error = config.flow_absolute_error};
  options.seed = seed_of(config);
  auto buffer = make_buffer(config, domain);
  if (is_published(config)) {
    return std::make_unique<compat::PublishedFlow>(std::move(options), std::move(buffer));
  }
  return std::make_unique<FlowDensity>(std::move(options), std::move(buffer));
}

// A number of features' own unit, or of their mean width.
double parse_novelty_threshold(const Config& config, const FeatureSpace& space) {
  double value = 0;
  const std::string_view text = config.novelty_threshold;
  const auto* const end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, value);
  std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  if (problem != std::errc() || !(value >= 0) || !std::isfinite(value) ||
      (!unit.empty() && unit != "width")) {
    throw Error(ErrorKind::parameter, "novelty-threshold", fmt::format("'{}'", text),
                "a number >= 0, or one followed by 'width'");
  }
  if (unit.empty()) return value;
  double width = 0;
  for (Index d = 0; d < space.dim(); ++d) width += space.width(d);
  return value * width / static_cast<double>(space.dim());
}

}  // namespace

bool uses_cma_es(const Config& config) { return !config.algorithm.starts_with("map-elites"); }

namespace {

// Full covariance matrices grow with the square of n. Where they cannot fit, it is better said than
// found out by whoever ends processes that take too much.
void check_memory(const Config& config, const DomainInfo& domain) {
  if (!uses_cma_es(config) || config.strategy != "cma-es") return;
  constexpr double kMatrices = 3;  // the matrix, its factor, and the next factor
  const auto n = static_cast<double>(domain.solution_dim);
  const double needed = kMatrices * sizeof(double) * n * n * static_cast<double>(config.emitters);
  const double there =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  if (there > 0 && needed > there) {
    throw Error(ErrorKind::parameter, "n",
                fmt::format("{}, for which {} full covariance matrices take {:.0f} GB",
                            domain.solution_dim, config.emitters, 1e-9 * needed),
                fmt::format("matrices that fit into the {:.0f} GB of this machine, or --strategy "
                            "sep-cma-es or lm-ma-es, whose memory is linear in n",
                            1e-9 * there));
  }
}

}  // namespace

void check(const Config& config, const DomainInfo& domain) {
  check_published(config);
  check_algorithm(config);
  check_memory(config, domain);
  check_start(config, parse_bounds(config, domain));
}

std::unique_ptr<Emitter> make_emitter(const Config& config, const DomainInfo& domain,
                                      std::uint32_t index) {
  auto emitter = uses_cma_es(config) ? make_cma_es_emitter(config, domain, index)
                                     : make_variation_emitter(config, domain, index);
  emitter->restart(std::vector<double>(static_cast<std::size_t>(domain.solution_dim), config.x0));
  return emitter;
}

std::unique_ptr<RestartTrigger> make_trigger(const Config& config) {
  if (config.restart_when == "basic") return std::make_unique<BasicTrigger>();
  if (config.restart_when == "no-improvement") return std::make_unique<NoImprovementTrigger>();
  return std::make_unique<StagnationTrigger>(
      StagnationOptions{.patience = config.patience, .patience_rate = config.patience_rate});
}

std::unique_ptr<RestartPoint> make_restart_point(const Config& config, const DomainInfo& domain) {
  const Index average_of = config.average_of > 0 ? config.average_of : config.batch / 2;
  if (config.restart_at == "average") return std::make_unique<RestartAtAverage>(average_of);
  if (config.restart_at == "sparsest") return std::make_unique<RestartAtSparsest>(config.compared);
  if (config.restart_at == "rarest") return std::make_unique<RestartAtRarest>(config.compared);
  if (config.restart_at == "elite") return std::make_unique<RestartAtElite>();
  if (config.restart_at == "adaptive") {
    return std::make_unique<AdaptiveRestart>(
        AdaptiveRestartOptions{.emitters = config.emitters,
                               .average_of = average_of,
                               .compared = config.compared,
                               .decay = config.adaptive_decay,
                               .least = config.adaptive_least});
  }
  return std::make_unique<RestartAtOrigin>(
      std::vector<double>(static_cast<std::size_t>(domain.solution_dim), config.x0));
}

std::unique_ptr<Density> make_density(const Config& config, const DomainInfo& domain,
                                      const std::shared_ptr<const Tessellation>& cells) {
  if (config.algorithm == "ns") {
    NoveltyOptions options;
    options.space = domain.feature_space;
    options.neighbours = config.neighbours;
    options.threshold = parse_novelty_threshold(config, domain.feature_space);
    options.count_batch = config.count_batch;
    if (is_published(config)) return std::make_unique<compat::PublishedNovelty>(options);
    return std::make_unique<NoveltyDensity>(options);
  }
  if (config.algorithm == "cma-mae") {
    return std::make_unique<AnnealedThresholds>(
        AnnealedThresholdsOptions{.learning_rate = config.alpha, .minimum = config.threshold_min},
        cells);
  }
  if (config.algorithm == "cma-me") return std::make_unique<Improvement>(cells);
  if (config.algorithm == "dds-cnf") return make_flow(config, domain);
  if (config.algorithm == "dds-kde") return make_kernel_density(config, domain);
  return std::make_unique<NoDensity>(domain.feature_dim());
}

}  // namespace rarefy::presets
