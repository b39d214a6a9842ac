// When and where emitters start anew: what there is to choose.
#pragma once

#include <string_view>
#include <utility>

#include "rarefy/core/names.hpp"
#include "rarefy/restarts/adaptive_restart.hpp"
#include "rarefy/restarts/restart_trigger.hpp"

namespace rarefy {

enum class RestartWhen {
  stagnation,      ///< StagnationTrigger
  no_improvement,  ///< NoImprovementTrigger
  basic,           ///< BasicTrigger
};

template <>
struct EnumNames<RestartWhen> {
  static constexpr std::string_view thing = "restart-when";
  static constexpr std::pair<RestartWhen, std::string_view> all[] = {
      {RestartWhen::stagnation, "stagnation"},
      {RestartWhen::no_improvement, "no-improvement"},
      {RestartWhen::basic, "basic"}};
};

enum class RestartAt {
  adaptive,  ///< AdaptiveRestart
  average,   ///< RestartAtAverage
  rarest,    ///< RestartAtRarest
  sparsest,  ///< RestartAtSparsest
  elite,     ///< RestartAtElite
  origin,    ///< RestartAtOrigin
};

template <>
struct EnumNames<RestartAt> {
  static constexpr std::string_view thing = "restart-at";
  static constexpr std::pair<RestartAt, std::string_view> all[] = {
      {RestartAt::adaptive, "adaptive"}, {RestartAt::average, "average"},
      {RestartAt::rarest, "rarest"},     {RestartAt::sparsest, "sparsest"},
      {RestartAt::elite, "elite"},       {RestartAt::origin, "origin"}};
};

/// The elites that restarts choose among.
enum class RestartFrom {
  memory,   ///< of cells that serve nothing else (restarts/memory_cells.hpp)
  archive,  ///< of the archive, whose cells are counted as coverage
};

template <>
struct EnumNames<RestartFrom> {
  static constexpr std::string_view thing = "restart-from";
  static constexpr std::pair<RestartFrom, std::string_view> all[] = {
      {RestartFrom::memory, "memory"}, {RestartFrom::archive, "archive"}};
};

struct RestartOptions {
  RestartWhen when = RestartWhen::stagnation;
  StagnationOptions stagnation;
  RestartAt at = RestartAt::adaptive;
  RestartFrom from = RestartFrom::memory;
  Index memory_cells = 0;  ///< 0: as many as are cheap for that many features
  /// Its `average_of` and `compared` serve the other rules as well; average_of 0: half of an
  /// emitter's batch.
  AdaptiveRestartOptions adaptive;
  /// Of CommonShape; 0: an emitter that starts anew begins with a sphere. LM-MA-ES has no shape to
  /// share, and does so always.
  double shape_rate = 0.5;

  bool operator==(const RestartOptions&) const = default;
};

}  // namespace rarefy
