// When a parameter has an effect: the conditions that the table of parameters names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rarefy/experiment/algorithm_table.hpp"
#include "rarefy/experiment/parameters.hpp"

namespace rarefy {

/// The algorithm's emitters, or its density, are of that kind, or of one of those.
[[nodiscard]] Condition emitter_is(std::vector<const EmitterKind*> kinds);
[[nodiscard]] Condition density_is(std::vector<const DensityKind*> kinds);
/// The algorithm descends a density of whatever kind.
[[nodiscard]] Condition has_density();
/// The domain reads the parameter of that name.
[[nodiscard]] Condition domain_reads(std::string_view parameter);
/// The problem is one of the domains known by name.
[[nodiscard]] Condition domain_is_ours();

[[nodiscard]] Condition strategy_is(std::vector<Strategy> strategies);
[[nodiscard]] Condition restarts_when(RestartWhen when);
[[nodiscard]] Condition restarts_at(std::vector<RestartAt> places);
/// Emitters start anew at elites or what is made of them.
[[nodiscard]] Condition restarts_among_elites();
[[nodiscard]] Condition restarts_from(RestartFrom source);
[[nodiscard]] Condition integrates_by(Integrator integrator);
[[nodiscard]] Condition solutions_are_bounded();
[[nodiscard]] Condition map_is_not_replaced();
[[nodiscard]] Condition something_starts_at_x0();
[[nodiscard]] Condition cells_are_a_grid();
[[nodiscard]] Condition cells_are_voronoi();
/// They are not said to be a grid.
[[nodiscard]] Condition cells_may_be_voronoi();
/// A program of the user's own evaluates.
[[nodiscard]] Condition a_program_evaluates();
/// The run is asynchronous.
[[nodiscard]] Condition emitters_do_not_wait();
/// Centroids are not read from a file.
[[nodiscard]] Condition centroids_are_made();

}  // namespace rarefy
