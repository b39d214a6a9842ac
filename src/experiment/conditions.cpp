#include "experiment/conditions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "experiment/make_parts.hpp"
#include "rarefy/experiment/domain_table.hpp"
#include "rarefy/experiment/make_search.hpp"

namespace rarefy {
namespace {

template <typename Value>
bool is_among(const std::vector<Value>& values, const Value& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

// The names of the algorithms that have what `has` looks for.
template <typename Has>
Condition algorithm_has(Has has) {
  return {[has](const Config& config) { return has(algorithm_of(config)); },
          [has](const Config& config) {
            std::vector<std::string_view> names;
            for (const auto& row : algorithms()) {
              if (has(row)) names.push_back(row.name);
            }
            return fmt::format("the algorithm is {}, and it belongs to {}", config.algorithm,
                               fmt::join(names, ", "));
          }};
}

// A value of the configuration, `of(config)`, is one of some enumerators.
template <typename Of, typename Enum>
Condition value_is(Of of, std::vector<Enum> values, std::string_view what,
                   std::string_view parameter) {
  return {[=](const Config& config) { return is_among(values, of(config)); },
          [=](const Config& config) {
            std::vector<std::string_view> names;
            names.reserve(values.size());
            for (const auto value : values) names.push_back(name_of(value));
            return fmt::format("{} {}; {} {} {} it", what, name_of(of(config)), parameter,
                               fmt::join(names, " or "), names.size() == 1 ? "uses" : "use");
          }};
}

Condition fixed(bool (*holds)(const Config&), std::string_view otherwise) {
  return {holds, [otherwise](const Config&) { return std::string(otherwise); }};
}

}  // namespace

Condition emitter_is(std::vector<const EmitterKind*> kinds) {
  return algorithm_has(
      [kinds = std::move(kinds)](const Algorithm& row) { return is_among(kinds, row.emitter); });
}

Condition density_is(std::vector<const DensityKind*> kinds) {
  return algorithm_has(
      [kinds = std::move(kinds)](const Algorithm& row) { return is_among(kinds, row.density); });
}

Condition has_density() {
  return algorithm_has([](const Algorithm& row) { return row.density != &kNoDensity; });
}

Condition domain_reads(std::string_view parameter) {
  return {[parameter](const Config& config) {
            const auto* row = domain_row_of(config);
            return row != nullptr && is_among(row->parameters, parameter);
          },
          [parameter](const Config& config) {
            std::vector<std::string_view> names;
            for (const auto& row : domain_rows()) {
              if (is_among(row.parameters, parameter)) names.push_back(row.name);
            }
            return fmt::format("the domain is {}, and it belongs to {}", config.domain,
                               fmt::join(names, ", "));
          }};
}

Condition domain_is_ours() {
  return {[](const Config& config) { return !config.own_problem; },
          [](const Config& config) {
            return fmt::format("'{}' is a problem of its own, and describes itself", config.domain);
          }};
}

Condition strategy_is(std::vector<Strategy> strategies) {
  return value_is(
      [](const Config& config) {
        return strategy_for(config.emitters.strategy, domain_info(config).solution_dim);
      },
      std::move(strategies), "the strategy is", "strategy");
}

Condition restarts_when(RestartWhen when) {
  return value_is([](const Config& config) { return config.restarts.when; },
                  std::vector<RestartWhen>{when}, "emitters restart by", "restart-when");
}

Condition restarts_at(std::vector<RestartAt> places) {
  return value_is([](const Config& config) { return config.restarts.at; }, std::move(places),
                  "emitters restart at", "restart-at");
}

Condition restarts_among_elites() {
  return fixed([](const Config& config) { return config.restarts.at != RestartAt::origin; },
               "emitters restart at x0, and need no elites");
}

Condition restarts_from(RestartFrom source) {
  return value_is([](const Config& config) { return config.restarts.from; },
                  std::vector<RestartFrom>{source}, "emitters restart from the", "restart-from");
}

Condition integrates_by(Integrator integrator) {
  return value_is([](const Config& config) { return config.density.flow.integration.integrator; },
                  std::vector<Integrator>{integrator}, "the integrator is", "flow-integrator");
}

Condition solutions_are_bounded() {
  return fixed(
      [](const Config& config) { return config.emitters.range.kind != SolutionRange::Kind::none; },
      "there are no bounds; bounds gives some");
}

Condition a_program_evaluates() {
  return fixed([](const Config& config) { return config.program.any(); },
               "no program evaluates; command names one");
}

Condition emitters_do_not_wait() {
  return fixed([](const Config& config) { return config.asynchronous; },
               "emitters wait for each other, unless the run is asynchronous");
}

Condition map_is_not_replaced() {
  return fixed([](const Config& config) { return config.problem.walls.empty(); },
               "the walls are given one by one");
}

Condition something_starts_at_x0() {
  return fixed(starts_at_x0, "emitters start at the initial solutions that are given");
}

Condition cells_are_a_grid() {
  return fixed([](const Config& config) { return uses_grid(config, domain_info(config)); },
               "the archive is a CVT; archive grid makes it a grid");
}

Condition cells_are_voronoi() {
  return fixed([](const Config& config) { return !uses_grid(config, domain_info(config)); },
               "the archive is a grid; archive cvt makes it one of Voronoi cells");
}

Condition cells_may_be_voronoi() {
  return fixed([](const Config& config) { return config.archive.kind != CellKind::grid; },
               "the archive is a grid; archive cvt uses them");
}

Condition centroids_are_made() {
  return fixed([](const Config& config) { return config.archive.centroids.empty(); },
               "the centroids are read from a file");
}

}  // namespace rarefy
