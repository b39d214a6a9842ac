#include <utility>

#include "experiment/make_parts.hpp"
#include "rarefy/experiment/algorithm_table.hpp"
#include "rarefy/restarts/adaptive_restart.hpp"

namespace rarefy {

std::unique_ptr<RestartTrigger> make_trigger(const RestartOptions& options) {
  switch (options.when) {
    case RestartWhen::basic: return std::make_unique<BasicTrigger>();
    case RestartWhen::no_improvement: return std::make_unique<NoImprovementTrigger>();
    case RestartWhen::stagnation: break;
  }
  return std::make_unique<StagnationTrigger>(options.stagnation);
}

bool remembers(const Config& config) {
  return algorithm_of(config).emitter == &kStrategyEmitter &&
         config.restarts.at != RestartAt::origin && config.restarts.from == RestartFrom::memory;
}

std::unique_ptr<RestartPoint> make_restart_point(const Config& config, const DomainInfo& domain) {
  AdaptiveRestartOptions options = config.restarts.adaptive;
  options.emitters = config.emitters.count;
  if (options.average_of == 0) options.average_of = config.emitters.batch / 2;
  switch (config.restarts.at) {
    case RestartAt::average: return std::make_unique<RestartAtAverage>(options.average_of);
    case RestartAt::sparsest: return std::make_unique<RestartAtSparsest>(options.compared);
    case RestartAt::rarest: return std::make_unique<RestartAtRarest>(options.compared);
    case RestartAt::elite: return std::make_unique<RestartAtElite>();
    case RestartAt::adaptive: return std::make_unique<AdaptiveRestart>(options);
    case RestartAt::origin: break;
  }
  return std::make_unique<RestartAtOrigin>(
      std::vector<double>(static_cast<std::size_t>(domain.solution_dim), config.emitters.x0));
}

}  // namespace rarefy
