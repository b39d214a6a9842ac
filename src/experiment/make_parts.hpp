// The parts that a configuration names, one by one. Private to the tables and make_search.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "rarefy/density/density.hpp"
#include "rarefy/domains/domain.hpp"
#include "rarefy/emitters/bounds.hpp"
#include "rarefy/emitters/emitter.hpp"
#include "rarefy/experiment/config.hpp"
#include "rarefy/restarts/restart_point.hpp"
#include "rarefy/restarts/restart_trigger.hpp"
#include "rarefy/tessellations/tessellation.hpp"

namespace rarefy {

[[nodiscard]] inline std::uint64_t seed_of(const Config& config) {
  return static_cast<std::uint64_t>(config.seed);
}

// make_restarts.cpp
/// Whether restarts have a memory of their own to choose from.
[[nodiscard]] bool remembers(const Config& config);

// make_emitter.cpp
[[nodiscard]] Bounds bounds_of(const EmitterOptions& options, const DomainInfo& domain);
[[nodiscard]] std::unique_ptr<Emitter> make_strategy_emitter(const Config& config,
                                                             const DomainInfo& domain,
                                                             std::uint32_t index);
[[nodiscard]] std::unique_ptr<Emitter> make_iso_line_emitter(const Config& config,
                                                             const DomainInfo& domain,
                                                             std::uint32_t index);
[[nodiscard]] std::unique_ptr<Emitter> make_gaussian_emitter(const Config& config,
                                                             const DomainInfo& domain,
                                                             std::uint32_t index);

// make_density.cpp
using Cells = std::shared_ptr<const Tessellation>;
[[nodiscard]] std::unique_ptr<Density> make_kernel_density(const Config& config,
                                                           const DomainInfo& domain,
                                                           const Cells& cells);
[[nodiscard]] std::unique_ptr<Density> make_quality_density(const Config& config,
                                                            const DomainInfo& domain,
                                                            const Cells& cells);
[[nodiscard]] std::unique_ptr<Density> make_flow_density(const Config& config,
                                                         const DomainInfo& domain,
                                                         const Cells& cells);
[[nodiscard]] std::unique_ptr<Density> make_mixture_density(const Config& config,
                                                            const DomainInfo& domain,
                                                            const Cells& cells);
[[nodiscard]] std::unique_ptr<Density> make_novelty(const Config& config, const DomainInfo& domain,
                                                    const Cells& cells);
[[nodiscard]] std::unique_ptr<Density> make_thresholds(const Config& config,
                                                       const DomainInfo& domain,
                                                       const Cells& cells);
[[nodiscard]] std::unique_ptr<Density> make_discount_model(const Config& config,
                                                           const DomainInfo& domain,
                                                           const Cells& cells);
[[nodiscard]] std::unique_ptr<Density> make_improvement(const Config& config,
                                                        const DomainInfo& domain,
                                                        const Cells& cells);
[[nodiscard]] std::unique_ptr<Density> make_no_density(const Config& config,
                                                       const DomainInfo& domain,
                                                       const Cells& cells);

/// Whether anything ever starts at x0: not where solutions to start from are given.
[[nodiscard]] inline bool starts_at_x0(const Config& config) {
  return config.emitters.initial_solutions.empty() || config.restarts.at == RestartAt::origin;
}

// make_restarts.cpp
[[nodiscard]] std::unique_ptr<RestartTrigger> make_trigger(const RestartOptions& options);
[[nodiscard]] std::unique_ptr<RestartPoint> make_restart_point(const Config& config,
                                                               const DomainInfo& domain);

// check_config.cpp
/// Throws where values that are fine by themselves do not fit each other.
void check_config(const Config& config, const DomainInfo& domain);

}  // namespace rarefy
