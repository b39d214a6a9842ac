#include "rarefy/experiment/relevance.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <vector>

#include "rarefy/experiment/presets.hpp"

namespace rarefy {
namespace {

using Names = std::vector<std::string_view>;

bool has(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

const Names kByCmaEs = {"dds-kde", "dds-cnf", "ns", "cma-mae", "cma-me"};

// Parameters that belong to some of the algorithms, or of the domains, only.
const std::map<std::string_view, Names>& algorithms_of() {
  static const std::map<std::string_view, Names> known = {
      {"sigma0", kByCmaEs},
      {"selection", kByCmaEs},
      {"mirrored", kByCmaEs},
      {"strategy", kByCmaEs},
      {"factor", kByCmaEs},
      {"decompose-every", kByCmaEs},
      {"stop-condition", kByCmaEs},
      {"stop-step", kByCmaEs},
      {"stop-flat", kByCmaEs},
      {"restart-when", kByCmaEs},
      {"patience", kByCmaEs},
      {"patience-rate", kByCmaEs},
      {"restart-at", kByCmaEs},
      {"average-of", kByCmaEs},
      {"compared", kByCmaEs},
      {"adaptive-decay", kByCmaEs},
      {"adaptive-least", kByCmaEs},
      {"buffer", {"dds-kde", "dds-cnf"}},
      {"kernel", {"dds-kde"}},
      {"bandwidth", {"dds-kde"}},
      {"kde", {"dds-kde"}},
      {"neighbours", {"ns"}},
      {"novelty-threshold", {"ns"}},
      {"count-batch", {"ns"}},
      {"alpha", {"cma-mae"}},
      {"threshold-min", {"cma-mae"}},
      {"flow-layers", {"dds-cnf"}},
      {"flow-activation", {"dds-cnf"}},
      {"flow-frequencies", {"dds-cnf"}},
      {"flow-steps", {"dds-cnf"}},
      {"flow-batch", {"dds-cnf"}},
      {"flow-rate", {"dds-cnf"}},
      {"flow-smoothing", {"dds-cnf"}},
      {"flow-scaling", {"dds-cnf"}},
      {"flow-integrator", {"dds-cnf"}},
      {"flow-integration-steps", {"dds-cnf"}},
      {"flow-relative-error", {"dds-cnf"}},
      {"flow-absolute-error", {"dds-cnf"}},
      {"iso-sigma", {"map-elites-line", "map-elites"}},
      {"line-sigma", {"map-elites-line"}},
  };
  return known;
}

const std::map<std::string_view, Names>& domains_of() {
  static const std::map<std::string_view, Names> known = {
      {"m", {"lp", "multi-lp"}}, {"maze", {"maze"}},         {"walls", {"maze"}},
      {"start", {"maze"}},       {"nothing-seen", {"maze"}},
  };
  return known;
}

}  // namespace

std::string why_idle(const Config& config, std::string_view parameter) {
  if (const auto found = algorithms_of().find(parameter);
      found != algorithms_of().end() && !has(found->second, config.algorithm)) {
    return fmt::format("the algorithm is {}, and it belongs to {}", config.algorithm,
                       fmt::join(found->second, ", "));
  }
  if (const auto found = domains_of().find(parameter);
      found != domains_of().end() && !has(found->second, config.domain)) {
    return fmt::format("the domain is {}, and it belongs to {}", config.domain,
                       fmt::join(found->second, ", "));
  }
  if (parameter == "maze" && !config.walls.empty()) return "the walls are given one by one";
  const auto& at = config.restart_at;
  if (parameter == "average-of" && at != "average" && at != "adaptive") {
    return fmt::format("emitters restart at {}; average and adaptive use it", at);
  }
  if (parameter == "compared" && at != "rarest" && at != "sparsest" && at != "adaptive") {
    return fmt::format("emitters restart at {}; rarest, sparsest and adaptive use it", at);
  }
  if (parameter.starts_with("adaptive-") && at != "adaptive") {
    return fmt::format("emitters restart at {}; --restart-at adaptive uses it", at);
  }
  if (parameter.starts_with("patience") && config.restart_when != "stagnation") {
    return fmt::format("emitters restart when {}; --restart-when stagnation uses it",
                       config.restart_when);
  }
  if ((parameter == "factor" || parameter == "decompose-every") && config.strategy != "cma-es") {
    return fmt::format("the strategy is {}, and it belongs to cma-es", config.strategy);
  }
  if ((parameter == "resamples" || parameter == "repair") && config.bounds == "none") {
    return "there are no bounds; --bounds gives some";
  }
  const bool fixed_steps = config.flow_integrator == "rk4";
  if (parameter == "flow-integration-steps" && !fixed_steps) {
    return "the integrator is dopri5, which chooses its steps";
  }
  if ((parameter == "flow-relative-error" || parameter == "flow-absolute-error") && fixed_steps) {
    return "the integrator is rk4; --flow-integrator dopri5 uses it";
  }
  const bool grid = uses_grid(config, make_domain(config)->info());
  if (grid &&
      has({"cells", "cvt-samples", "cvt-seed", "cvt-iterations", "cvt-tolerance"}, parameter)) {
    return "the archive is a grid; --archive cvt makes it one of Voronoi cells";
  }
  if (config.archive == "grid" && parameter == "centroids") {
    return "the archive is a grid; --archive cvt uses them";
  }
  if (!grid && parameter == "grid") return "the archive is a CVT; --archive grid makes it a grid";
  return "";
}

}  // namespace rarefy
