// The parts that a configuration names, one by one. Private to presets.cpp.
#pragma once

#include <cstdint>
#include <memory>

#include "rarefy/density/density.hpp"
#include "rarefy/domains/domain.hpp"
#include "rarefy/emitters/emitter.hpp"
#include "rarefy/experiment/config.hpp"
#include "rarefy/restarts/restart_point.hpp"
#include "rarefy/restarts/restart_trigger.hpp"
#include "rarefy/tessellations/tessellation.hpp"

namespace rarefy::presets {

[[nodiscard]] bool is_published(const Config& config);
[[nodiscard]] bool uses_cma_es(const Config& config);

/// Throws where values that are fine by themselves do not fit each other.
void check(const Config& config, const DomainInfo& domain);

[[nodiscard]] std::unique_ptr<Emitter> make_emitter(const Config& config, const DomainInfo& domain,
                                                    std::uint32_t index);
[[nodiscard]] std::unique_ptr<RestartTrigger> make_trigger(const Config& config);
[[nodiscard]] std::unique_ptr<RestartPoint> make_restart_point(const Config& config,
                                                               const DomainInfo& domain);
[[nodiscard]] std::unique_ptr<Density> make_density(
    const Config& config, const DomainInfo& domain,
    const std::shared_ptr<const Tessellation>& cells);

}  // namespace rarefy::presets
