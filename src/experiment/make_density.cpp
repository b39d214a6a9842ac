#include <fmt/format.h>

#include <optional>
#include <utility>

#include "experiment/make_parts.hpp"
#include "rarefy/compat/published.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/density/annealed_thresholds.hpp"
#include "rarefy/density/discount_model.hpp"
#include "rarefy/density/endless_buffer.hpp"
#include "rarefy/density/flow.hpp"
#include "rarefy/density/improvement.hpp"
#include "rarefy/density/kde.hpp"
#include "rarefy/density/mixture.hpp"
#include "rarefy/density/no_density.hpp"
#include "rarefy/density/novelty.hpp"
#include "rarefy/density/quality_density.hpp"
#include "rarefy/density/reservoir.hpp"

namespace rarefy {
namespace {

bool is_published(const Config& config) { return config.profile == Profile::published; }

std::unique_ptr<FeatureBuffer> make_buffer(const Config& config, const DomainInfo& domain) {
  const Index capacity = config.density.buffer;
  if (is_published(config)) {
    return std::make_unique<compat::PublishedBuffer>(compat::PublishedBufferOptions{
        .feature_dim = domain.feature_dim(), .capacity = capacity, .seed = seed_of(config)});
  }
  return std::make_unique<Reservoir>(ReservoirOptions{
      .feature_dim = domain.feature_dim(), .capacity = capacity, .seed = seed_of(config)});
}

double least_threshold(const Config& config, const DomainInfo& domain) {
  const auto least = domain.objective_floor();
  const auto minimum = config.density.threshold_min ? config.density.threshold_min : least;
  if (!minimum) {
    throw Error(
        ErrorKind::parameter, "threshold-min", "auto",
        fmt::format("a number: '{}' does not say what its least objective is", domain.name));
  }
  return *minimum;
}

// From the least threshold to the greatest objective, which is 1 where all are.
double range_of_discounts(const Config& config, const DomainInfo& domain, double minimum) {
  if (config.density.discount_range) return *config.density.discount_range;
  const auto greatest = domain.greatest_objective || !domain.constant_objective
                            ? domain.greatest_objective
                            : std::optional(1.0);
  if (!greatest || !(*greatest > minimum)) {
    throw Error(ErrorKind::parameter, "discount-range", "auto",
                fmt::format("a number: '{}' does not say what its greatest objective is, or it is "
                            "not above threshold-min",
                            domain.name));
  }
  return *greatest - minimum;
}

std::unique_ptr<DensityEstimate> make_kernel_estimate(const Config& config,
                                                      const DomainInfo& domain) {
  KdeOptions options = config.density.kde;
  options.space = domain.feature_space;
  if (is_published(config)) {
    options.method = KdeMethod::direct;
    return std::make_unique<compat::PublishedDensity>(
        std::make_unique<KernelDensity>(std::move(options), make_buffer(config, domain)),
        config.density.kde.log_scores);
  }
  options.method = KernelDensity::method_to_rank(options, config.density.buffer);
  std::unique_ptr<FeatureBuffer> buffer;
  if (config.density.buffer == 0 && KernelDensity::method_for(options, 0) == KdeMethod::panels) {
    buffer = std::make_unique<EndlessBuffer>(domain.feature_dim(), seed_of(config));
  } else {
    buffer = make_buffer(config, domain);
  }
  return std::make_unique<KernelDensity>(std::move(options), std::move(buffer));
}

}  // namespace

std::unique_ptr<Density> make_kernel_density(const Config& config, const DomainInfo& domain,
                                             const Cells& /*cells*/) {
  return make_kernel_estimate(config, domain);
}

std::unique_ptr<Density> make_quality_density(const Config& config, const DomainInfo& domain,
                                              const Cells& /*cells*/) {
  QualityOptions options = config.density.quality;
  options.seed = seed_of(config);
  return std::make_unique<QualityDensity>(options, make_kernel_estimate(config, domain));
}

std::unique_ptr<Density> make_flow_density(const Config& config, const DomainInfo& domain,
                                           const Cells& /*cells*/) {
  FlowOptions options = config.density.flow;
  options.space = domain.feature_space;
  options.seed = seed_of(config);
  auto buffer = make_buffer(config, domain);
  if (is_published(config)) {
    return std::make_unique<compat::PublishedFlow>(std::move(options), std::move(buffer));
  }
  return std::make_unique<FlowDensity>(std::move(options), std::move(buffer));
}

std::unique_ptr<Density> make_mixture_density(const Config& config, const DomainInfo& domain,
                                              const Cells& /*cells*/) {
  MixtureOptions options = config.density.mixture;
  options.space = domain.feature_space;
  options.seed = seed_of(config);
  return std::make_unique<MixtureDensity>(std::move(options), make_buffer(config, domain));
}

std::unique_ptr<Density> make_novelty(const Config& config, const DomainInfo& domain,
                                      const Cells& /*cells*/) {
  NoveltyOptions options = config.density.novelty;
  options.space = domain.feature_space;
  if (is_published(config)) return std::make_unique<compat::PublishedNovelty>(std::move(options));
  return std::make_unique<NoveltyDensity>(std::move(options));
}

std::unique_ptr<Density> make_thresholds(const Config& config, const DomainInfo& domain,
                                         const Cells& cells) {
  return std::make_unique<AnnealedThresholds>(
      AnnealedThresholdsOptions{.learning_rate = config.density.alpha,
                                .minimum = least_threshold(config, domain)},
      cells);
}

std::unique_ptr<Density> make_discount_model(const Config& config, const DomainInfo& domain,
                                             const Cells& cells) {
  DiscountModelOptions options = config.density.discount;
  options.learning_rate = config.density.alpha;
  options.minimum = least_threshold(config, domain);
  options.range = range_of_discounts(config, domain, options.minimum);
  options.seed = seed_of(config);
  return std::make_unique<DiscountModel>(std::move(options), cells);
}

std::unique_ptr<Density> make_improvement(const Config& /*config*/, const DomainInfo& /*domain*/,
                                          const Cells& cells) {
  return std::make_unique<Improvement>(cells);
}

std::unique_ptr<Density> make_no_density(const Config& /*config*/, const DomainInfo& domain,
                                         const Cells& /*cells*/) {
  return std::make_unique<NoDensity>(domain.feature_dim());
}

}  // namespace rarefy
