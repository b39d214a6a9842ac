#include "runs/least_state.hpp"

#include <fmt/format.h>

#include "rarefy/core/error.hpp"
#include "rarefy/experiment/algorithm_table.hpp"
#include "rarefy/restarts/step_probe.hpp"

namespace rarefy {
namespace {

// In double precision, in which no product overflows.
double emitter_bytes(const Config& config, double n) {
  const bool full = algorithm_of(config).emitter == &kStrategyEmitter &&
                    config.emitters.strategy == Strategy::cma_es;
  const double matrices = config.emitters.cma_es.factor == Factor::eigen ? 3 : 2;
  return sizeof(double) * (full ? matrices * n * n : n);  // else at least a mean
}

// The parameters of a network, and two moments of each.
double network_bytes(double inputs, const std::vector<Index>& layers, double outputs) {
  double parameters = 0;
  for (const auto width : layers) {
    parameters += static_cast<double>(width) * (inputs + 1);
    inputs = static_cast<double>(width);
  }
  parameters += outputs * (inputs + 1);
  return 3 * sizeof(float) * parameters;
}

double probe_bytes(const Config& config, double features) {
  if (config.emitters.*algorithm_of(config).emitter->step) return 0;
  return sizeof(double) * static_cast<double>(StepProbe::kRungs) * (2 + 2 * features);
}

double flow_bytes(const FlowNetworkOptions& network, double features) {
  return network_bytes(features + 2.0 * static_cast<double>(network.frequencies), network.layers,
                       features);
}

// Of each cell, whether it is empty.
double discount_bytes(const DiscountNetworkOptions& network, double features, double cells) {
  return network_bytes(features, network.layers, 1.0) + cells / 8.0;
}

// Their weights, means and covariances.
double mixture_bytes(const MixtureOptions& mixture, double features) {
  return sizeof(double) * static_cast<double>(mixture.components) * (features + 1) *
         (features + 2) / 2;
}

double density_bytes(const Config& config, double features, double cells) {
  const auto* density = algorithm_of(config).density;
  double bytes = 0;
  if (density == &kThresholds || density == &kImprovement) bytes += sizeof(double) * cells;
  if (density == &kDiscountModel) {
    bytes += discount_bytes(config.density.discount.network, features, cells);
  }
  if (density == &kFlowDensity) bytes += flow_bytes(config.density.flow.network, features);
  if (density == &kMixtureDensity) bytes += mixture_bytes(config.density.mixture, features);
  // The published buffer is full of zeros from the start.
  if (config.profile == Profile::published &&
      (density == &kFlowDensity || density == &kKernelDensity || density == &kQualityDensity ||
       density == &kMixtureDensity)) {
    bytes += sizeof(double) * static_cast<double>(config.density.buffer) * features;
  }
  return bytes;
}

}  // namespace

double least_state_bytes(const Config& config, const DomainInfo& problem, Index cells) {
  const auto count = static_cast<double>(cells);
  const double visits = sizeof(double) * count;
  return visits +
         static_cast<double>(config.emitters.count) *
             emitter_bytes(config, static_cast<double>(problem.solution_dim)) +
         density_bytes(config, static_cast<double>(problem.feature_dim()), count) +
         probe_bytes(config, static_cast<double>(problem.feature_dim()));
}

void check_state_size(const Config& config, const DomainInfo& problem, Index cells,
                      std::size_t bytes) {
  const double least = least_state_bytes(config, problem, cells);
  if (static_cast<double>(bytes) >= least) return;
  throw Error(ErrorKind::corrupt, "saved state", fmt::format("{} bytes", bytes),
              fmt::format("at least {:.0f} with {} cells, n {} and the other parameters", least,
                          cells, problem.solution_dim));
}

}  // namespace rarefy
