#include <fmt/format.h>

#include "experiment/make_parts.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/experiment/algorithm_table.hpp"
#include "rarefy/experiment/parameters.hpp"

namespace rarefy {
namespace {

[[noreturn]] void refuse(std::string_view thing, const std::string& given,
                         std::string_view expected) {
  throw Error(ErrorKind::parameter, thing, given, expected);
}

// The published parts are what they are; a configuration must not claim others.
void check_published(const Config& config) {
  if (config.profile != Profile::published) return;
  const auto& cma_es = config.emitters.cma_es;
  const auto& kde = config.density.kde;
  if (cma_es.factor != Factor::eigen || kde.kernel != Kernel::gaussian ||
      cma_es.decompose_every != 0 || kde.method == KdeMethod::panels ||
      kde.method == KdeMethod::blocks || kde.method == KdeMethod::sampled ||
      config.emitters.strategy != Strategy::cma_es) {
    refuse("published profile",
           fmt::format("factor {}, kernel {}, decompose-every {}, kde {}, strategy {}",
                       name_of(cma_es.factor), name_of(kde.kernel), cma_es.decompose_every,
                       name_of(kde.method), name_of(config.emitters.strategy)),
           "eigen, gaussian, 0, direct and cma-es, which cannot be changed there");
  }
  if (kde.bandwidth.is_local()) {
    refuse("bandwidth", "local, with the published profile", "another, or another profile");
  }
}

// Which parts make sense with which.
void check_algorithm(const Config& config) {
  const auto& density = *algorithm_of(config).density;
  const auto with_algorithm = [&](std::string_view given) {
    return fmt::format("{} with {}", given, config.algorithm);
  };
  if (config.emitters.selection == Selection::filter && !density.accepts) {
    refuse("selection", with_algorithm("filter"),
           "mu or paired: density descent accepts every candidate");
  }
  if (config.emitters.selection == Selection::paired && !config.emitters.cma_es.mirrored &&
      algorithm_of(config).emitter == &kStrategyEmitter) {
    refuse("selection", "paired, with mirrored false",
           "mirrored samples, of which there are pairs");
  }
  if (config.restarts.when == RestartWhen::no_improvement && !density.accepts) {
    refuse("restart-when", with_algorithm("no-improvement"),
           "stagnation or basic: density descent accepts every candidate");
  }
  if (config.restarts.at == RestartAt::sparsest && !density.tells_elites_apart) {
    refuse("restart-at", with_algorithm("sparsest"),
           "another: its scores do not tell elites apart");
  }
  if (config.restarts.when == RestartWhen::stagnation && !density.shows_progress) {
    refuse("restart-when", with_algorithm("stagnation"),
           "basic or no-improvement: its scores are ranks, and do not show progress");
  }
}

void check_thresholds(const Config& config, const DomainInfo& domain) {
  const auto& minimum = config.density.threshold_min;
  if (!algorithm_of(config).density->has_thresholds || !minimum) return;
  if (domain.greatest_objective && *minimum >= *domain.greatest_objective) {
    refuse("threshold-min", fmt::format("{}", *minimum),
           fmt::format("a number below the greatest objective, {}: above all objectives, a "
                       "threshold never lets anything in",
                       *domain.greatest_objective));
  }
}

void check_start(const Config& config, const Bounds& bounds) {
  const double x0 = config.emitters.x0;
  if (!starts_at_x0(config)) return;
  if (bounds.any() && (x0 < bounds.lower[0] || x0 > bounds.upper[0])) {
    refuse("x0", fmt::format("{}", x0),
           fmt::format("a value within the bounds, {} to {}", bounds.lower[0], bounds.upper[0]));
  }
}

// Each is possible by itself. Together they are what a batch takes, which no file vouches for.
void check_batch(const Config& config) {
  constexpr Index kMostRows = 10'000'000;
  const auto& emitters = config.emitters;
  if (emitters.batch > kMostRows / emitters.count) {
    refuse("batch", fmt::format("{} for each of {} emitters", emitters.batch, emitters.count),
           fmt::format("at most {} solutions in an iteration", kMostRows));
  }
}

}  // namespace

void check_config(const Config& config, const DomainInfo& domain) {
  check_values(config);
  check_published(config);
  check_algorithm(config);
  check_thresholds(config, domain);
  check_batch(config);
  check_start(config, bounds_of(config.emitters, domain));
}

}  // namespace rarefy
