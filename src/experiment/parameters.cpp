#include "rarefy/experiment/parameters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "rarefy/core/error.hpp"
#include "rarefy/core/nearest_name.hpp"
#include "rarefy/domains/maze.hpp"

namespace rarefy {
namespace {

constexpr double kMany = 1e9;
constexpr double kAny = std::numeric_limits<double>::infinity();

std::vector<std::string_view> names_of(const std::vector<Choice>& choices) {
  std::vector<std::string_view> names;
  names.reserve(choices.size());
  for (const auto& choice : choices) names.push_back(choice.name);
  return names;
}

std::vector<Parameter> make_parameters() {
  return {
      {"run", "domain", &Config::domain, "the problem", names_of(domain_choices())},
      {"run", "algorithm", &Config::algorithm, "how it is searched", names_of(algorithm_choices())},
      {"run", "profile", &Config::profile, "where the other defaults come from",
       names_of(profile_choices())},
      {"run",
       "seed",
       &Config::seed,
       "names the random numbers: same seed, same result",
       {},
       0,
       9e18},
      {"run", "iterations", &Config::iterations, "batches to evaluate", {}, 1, 1e12},

      {"domain", "n", &Config::n, "values in a solution", {}, 1, 1e6},
      {"domain", "m", &Config::m, "features (linear projections)", {}, 1, 1e4},
      {"domain",
       "objective",
       &Config::objective,
       "what is maximised besides diversity: constant; sphere, rastrigin (lp); even (arm); "
       "energy (maze)",
       {"constant", "sphere", "rastrigin", "even", "energy"}},
      {"domain", "maze", &Config::maze, "the map (maze)", maze_map_names()},
      {"domain",
       "walls",
       &Config::walls,
       "walls instead of the map's, in the unit square: x1,y1,x2,y2; x1,... (maze)",
       {},
       0,
       0,
       false,
       false,
       true},
      {"domain",
       "start",
       &Config::start,
       "where the robot starts: x,y,heading (maze)",
       {},
       0,
       0,
       false,
       false,
       true},
      {"domain",
       "nothing-seen",
       &Config::nothing_seen,
       "what a laser reads that meets no wall (maze)",
       {},
       -1e6,
       1e6},

      {"emitters", "emitters", &Config::emitters, "number of emitters", {}, 1, 1e5},
      {"emitters",
       "batch",
       &Config::batch,
       "solutions of one emitter in one iteration",
       {},
       2,
       1e6},
      {"emitters", "sigma0", &Config::sigma0, "initial step size", {}, 0, 1e50, true},
      {"emitters", "x0", &Config::x0, "every value of the initial solution", {}, -1e50, 1e50},
      {"emitters",
       "selection",
       &Config::selection,
       "parents of the next distribution: mu, the better half; filter, those accepted",
       {"mu", "filter"}},
      {"emitters",
       "iso-sigma",
       &Config::iso_sigma,
       "spread of the noise added to an elite (map-elites)",
       {},
       0,
       1e50,
       true},
      {"emitters",
       "line-sigma",
       &Config::line_sigma,
       "spread along the line to another elite, in distances (map-elites-line)",
       {},
       0,
       1e6},
      {"emitters",
       "strategy",
       &Config::strategy,
       "cma-es, or one whose time and memory are linear in n: sep-cma-es, lm-ma-es",
       {"cma-es", "sep-cma-es", "lm-ma-es"}},
      {"emitters", "mirrored", &Config::mirrored, "sample in pairs, mean + s and mean - s"},
      {"emitters",
       "factor",
       &Config::factor,
       "of the covariance matrix; cholesky is faster",
       {"cholesky", "eigen"}},
      {"emitters", "bounds", &Config::bounds,
       "box for solutions: none, domain (its natural range), or LOW,HIGH"},
      {"emitters",
       "resamples",
       &Config::resamples,
       "times a solution out of bounds is drawn again before it is repaired",
       {},
       0,
       1e4},
      {"emitters",
       "repair",
       &Config::repair,
       "what then forces it into the bounds",
       {"reflect", "clip"}},
      {"emitters",
       "decompose-every",
       &Config::decompose_every,
       "generations between decompositions of the covariance matrix; 0: as the tutorial says",
       {},
       0,
       kMany},
      {"emitters",
       "stop-condition",
       &Config::stop_condition,
       "an emitter cannot go on when its covariance matrix is worse conditioned",
       {},
       0,
       kAny},
      {"emitters",
       "stop-step",
       &Config::stop_step,
       "or when its longest step is smaller",
       {},
       0,
       kAny},
      {"emitters",
       "stop-flat",
       &Config::stop_flat,
       "or when its scores differ by less",
       {},
       0,
       kAny},

      {"restarts",
       "restart-when",
       &Config::restart_when,
       "stagnation: no sparser median for a while; no-improvement: no candidate was accepted; "
       "basic: only when CMA-ES cannot go on",
       {"stagnation", "no-improvement", "basic"}},
      {"restarts",
       "patience",
       &Config::patience,
       "iterations without progress always granted",
       {},
       1,
       kMany},
      {"restarts",
       "patience-rate",
       &Config::patience_rate,
       "or this part of an emitter's age",
       {},
       0,
       kAny},
      {"restarts",
       "restart-at",
       &Config::restart_at,
       "where emitters start anew; adaptive: at averages or rare elites, as the domain suits",
       {"adaptive", "average", "rarest", "sparsest", "elite", "origin"}},
      {"restarts",
       "average-of",
       &Config::average_of,
       "solutions in an average (restart-at average, adaptive); 0: half the batch",
       {},
       0,
       1e6},
      {"restarts",
       "compared",
       &Config::compared,
       "elites of which one is taken (restart-at rarest, sparsest, adaptive)",
       {},
       1,
       1e6},
      {"restarts",
       "adaptive-decay",
       &Config::adaptive_decay,
       "part of what is known about averages that a new one leaves (restart-at adaptive)",
       {},
       0,
       1},
      {"restarts",
       "adaptive-least",
       &Config::adaptive_least,
       "least chance of either side (restart-at adaptive)",
       {},
       0,
       0.5},

      {"density",
       "buffer",
       &Config::buffer,
       "features kept for the estimate; unlimited: all",
       {},
       0,
       kMany,
       false,
       false,
       false,
       "unlimited"},
      {"density",
       "kernel",
       &Config::kernel,
       "shape of the kernel",
       {"gaussian", "triangular", "epanechnikov"}},
      {"density",
       "bandwidth",
       &Config::bandwidth,
       "width of the kernel: scott, a number, or a number followed by 'width'",
       {},
       0,
       0,
       false,
       true},
      {"density",
       "kde",
       &Config::kde,
       "direct: a term for each buffered feature; panels: tables (up to 2 features); auto: the "
       "faster",
       {"auto", "direct", "panels"}},
      {"density",
       "neighbours",
       &Config::neighbours,
       "nearest neighbours whose mean distance is a candidate's novelty (ns)",
       {},
       1,
       1e6},
      {"density",
       "novelty-threshold",
       &Config::novelty_threshold,
       "novelty from which a candidate is kept: a number, or a number followed by 'width' (ns)",
       {},
       0,
       0,
       false,
       true},
      {"density", "count-batch", &Config::count_batch,
       "whether members of the same batch count as neighbours (ns)"},
      {"density",
       "alpha",
       &Config::alpha,
       "rate at which a cell's threshold follows what it accepts (cma-mae)",
       {},
       0,
       1},
      {"density",
       "threshold-min",
       &Config::threshold_min,
       "threshold of a cell before it accepts anything, below all objectives (cma-mae)",
       {},
       -kAny,
       kAny},
      {"density",
       "flow-layers",
       &Config::flow_layers,
       "widths of the network's hidden layers, such as 256,256,256 (dds-cnf)",
       {},
       0,
       0,
       false,
       true,
       true},
      {"density",
       "flow-activation",
       &Config::flow_activation,
       "what a unit makes of its sum (dds-cnf)",
       {"elu", "silu", "tanh"}},
      {"density",
       "flow-frequencies",
       &Config::flow_frequencies,
       "sines and cosines of time given to the network, each (dds-cnf)",
       {},
       1,
       1000},
      {"density",
       "flow-steps",
       &Config::flow_steps,
       "steps of training in an iteration (dds-cnf)",
       {},
       1,
       1e6},
      {"density",
       "flow-batch",
       &Config::flow_batch,
       "buffered features in a step of training (dds-cnf)",
       {},
       1,
       1e6},
      {"density", "flow-rate", &Config::flow_rate, "learning rate (dds-cnf)", {}, 0, 1e6, true},
      {"density",
       "flow-smoothing",
       &Config::flow_smoothing,
       "deviation of the Gaussian that blurs the density, in halves of a feature's width (dds-cnf)",
       {},
       0,
       0.99},
      {"density",
       "flow-scaling",
       &Config::flow_scaling,
       "what becomes -1 to 1: the domain's bounds, or one deviation of the buffer (dds-cnf)",
       {"bounds", "buffer", "none"}},
      {"density",
       "flow-integrator",
       &Config::flow_integrator,
       "rk4, in equal steps; dopri5, in steps that keep to an error (dds-cnf)",
       {"rk4", "dopri5"}},
      {"density",
       "flow-integration-steps",
       &Config::flow_integration_steps,
       "steps from features to noise (dds-cnf, rk4)",
       {},
       1,
       1e5},
      {"density",
       "flow-relative-error",
       &Config::flow_relative_error,
       "error allowed to a step, relative (dds-cnf, dopri5)",
       {},
       0,
       1,
       true},
      {"density",
       "flow-absolute-error",
       &Config::flow_absolute_error,
       "error allowed to a step, absolute (dds-cnf, dopri5)",
       {},
       0,
       1,
       true},

      {"archive",
       "archive",
       &Config::archive,
       "auto: grid up to 2 features, cvt beyond",
       {"auto", "grid", "cvt"}},
      {"archive", "grid", &Config::grid, "intervals along each feature (grid)", {}, 1, kMany},
      {"archive", "cells", &Config::cells, "number of cells (cvt)", {}, 1, kMany},
      {"archive",
       "cvt-samples",
       &Config::cvt_samples,
       "points on which centroids are made",
       {},
       1,
       kMany},
      {"archive", "cvt-seed", &Config::cvt_seed, "random numbers of the centroids", {}, 0, 9e18},
      {"archive",
       "cvt-iterations",
       &Config::cvt_iterations,
       "of Lloyd's algorithm, at most",
       {},
       1,
       kMany},
      {"archive",
       "cvt-tolerance",
       &Config::cvt_tolerance,
       "it ends when centroids shift by less, relative to the variance of a feature",
       {},
       0,
       kAny},
      {"archive", "centroids", &Config::centroids,
       "a .npy file of centroids to use instead of making them"},

      {"output",
       "metrics-every",
       &Config::metrics_every,
       "iterations between lines of metrics.csv",
       {},
       1,
       kMany},
      {"output",
       "entropy-floor",
       &Config::entropy_floor,
       "added to each cell's share of visits in the cross-entropy",
       {},
       0,
       1,
       true},
      {"output",
       "objective-floor",
       &Config::objective_floor,
       "taken off every objective in the QD score",
       {},
       -kAny,
       kAny},
      {"output",
       "checkpoint-seconds",
       &Config::checkpoint_seconds,
       "seconds between checkpoints, more where one takes long to write; 0: after every iteration",
       {},
       0,
       kAny},
  };
}

[[noreturn]] void refuse(const Parameter& parameter, std::string_view given) {
  throw Error(ErrorKind::parameter, parameter.name, given, parameter.expected());
}

void check_range(const Parameter& parameter, double value, std::string_view given) {
  if (!std::isfinite(value)) refuse(parameter, given);
  if (parameter.low == parameter.high) return;
  const bool above = parameter.low_open ? value > parameter.low : value >= parameter.low;
  if (!above || value > parameter.high) refuse(parameter, given);
}

}  // namespace

std::string_view Parameter::type() const {
  constexpr std::string_view kTypes[] = {"true or false", "integer", "number", "text"};
  return kTypes[member.index()];
}

std::string Parameter::expected() const {
  if (!choices.empty()) return fmt::format("one of {}", fmt::join(choices, ", "));
  if (std::holds_alternative<bool Config::*>(member)) return "true or false";
  if (std::holds_alternative<std::string Config::*>(member)) return "text";
  const auto* const noun =
      std::holds_alternative<std::int64_t Config::*>(member) ? "an integer" : "a number";
  if (!zero.empty()) return fmt::format("'{}' or {} from {} to {}", zero, noun, low, high);
  if (low == high || (std::isinf(low) && std::isinf(high))) return noun;
  if (std::isinf(high)) return fmt::format("{} {} {}", noun, low_open ? ">" : ">=", low);
  if (low_open) return fmt::format("{} > {} and <= {}", noun, low, high);
  return fmt::format("{} from {} to {}", noun, low, high);
}

std::span<const Parameter> parameters() {
  static const std::vector<Parameter> all = make_parameters();
  return all;
}

const Parameter& parameter_named(std::string_view name) {
  std::vector<std::string_view> known;
  for (const auto& parameter : parameters()) {
    if (parameter.name == name) return parameter;
    known.push_back(parameter.name);
  }
  throw unknown_name("parameter", name, known);
}

ParameterValue value_of(const Config& config, const Parameter& parameter) {
  return std::visit([&](auto member) { return ParameterValue(config.*member); }, parameter.member);
}

std::string text_of(const ParameterValue& value) {
  return std::visit([](const auto& held) { return fmt::format("{}", held); }, value);
}

void set_parameter(Config& config, const Parameter& parameter, const ParameterValue& value) {
  const auto given = text_of(value);
  if (const auto* flag = std::get_if<bool Config::*>(&parameter.member)) {
    if (!std::holds_alternative<bool>(value)) refuse(parameter, given);
    config.*(*flag) = std::get<bool>(value);
  } else if (const auto* integer = std::get_if<std::int64_t Config::*>(&parameter.member)) {
    if (!parameter.zero.empty() && given == parameter.zero) {
      config.*(*integer) = 0;
      return;
    }
    if (!std::holds_alternative<std::int64_t>(value)) refuse(parameter, given);
    check_range(parameter, static_cast<double>(std::get<std::int64_t>(value)), given);
    config.*(*integer) = std::get<std::int64_t>(value);
  } else if (const auto* real = std::get_if<double Config::*>(&parameter.member)) {
    double number = 0;
    if (std::holds_alternative<double>(value)) {
      number = std::get<double>(value);
    } else if (std::holds_alternative<std::int64_t>(value)) {
      number = static_cast<double>(std::get<std::int64_t>(value));
    } else {
      refuse(parameter, given);
    }
    check_range(parameter, number, given);
    config.*(*real) = number;
  } else {
    const auto& choices = parameter.choices;
    const bool number =
        std::holds_alternative<double>(value) || std::holds_alternative<std::int64_t>(value);
    if (!std::holds_alternative<std::string>(value) && !(number && parameter.number_serves)) {
      refuse(parameter, given);
    }
    if (!choices.empty() && std::find(choices.begin(), choices.end(), given) == choices.end()) {
      throw unknown_name(parameter.name, given, choices);
    }
    config.*std::get<std::string Config::*>(parameter.member) = given;
  }
}

void set_from_text(Config& config, const Parameter& parameter, std::string_view text) {
  const auto quoted = fmt::format("'{}'", text);
  const auto* const first = text.data();
  const auto* const last = first + text.size();
  if (std::holds_alternative<bool Config::*>(parameter.member)) {
    if (text != "true" && text != "false") refuse(parameter, quoted);
    set_parameter(config, parameter, ParameterValue(text == "true"));
  } else if (std::holds_alternative<std::int64_t Config::*>(parameter.member) &&
             (parameter.zero.empty() || text != parameter.zero)) {
    std::int64_t value = 0;
    const auto [end, problem] = std::from_chars(first, last, value);
    if (problem != std::errc() || end != last) refuse(parameter, quoted);
    set_parameter(config, parameter, ParameterValue(value));
  } else if (std::holds_alternative<double Config::*>(parameter.member)) {
    double value = 0;
    const auto [end, problem] = std::from_chars(first, last, value);
    if (problem != std::errc() || end != last) refuse(parameter, quoted);
    set_parameter(config, parameter, ParameterValue(value));
  } else {
    set_parameter(config, parameter, ParameterValue(std::string(text)));
  }
}

}  // namespace rarefy
