#include "rarefy/experiment/parameters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "rarefy/core/error.hpp"
#include "rarefy/experiment/nearest_name.hpp"

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
       "what is maximised besides diversity: constant; sphere, rastrigin (lp); even (arm)",
       {"constant", "sphere", "rastrigin", "even"}},

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
       "stagnation: no sparser median for a while; basic: only when CMA-ES cannot go on",
       {"stagnation", "basic"}},
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
       "where emitters start anew",
       {"average", "sparsest", "between", "mixed", "elite", "origin"}},
      {"restarts",
       "average-of",
       &Config::average_of,
       "solutions averaged by restart-at average; 0: half the batch",
       {},
       0,
       1e6},
      {"restarts",
       "sparsest-of",
       &Config::sparsest_of,
       "elites compared by restart-at sparsest",
       {},
       1,
       1e6},
      {"restarts",
       "mixed-decay",
       &Config::mixed_decay,
       "part of both sides' credit that a restart leaves (restart-at mixed)",
       {},
       0,
       1},
      {"restarts",
       "mixed-sharpness",
       &Config::mixed_sharpness,
       "power of the two sides' rates that gives their odds",
       {},
       0,
       100},
      {"restarts", "mixed-least", &Config::mixed_least, "least chance of either side", {}, 0, 0.5},
      {"restarts",
       "mixed-evidence",
       &Config::mixed_evidence,
       "iterations both sides need before rates count",
       {},
       0,
       kAny},

      {"density",
       "buffer",
       &Config::buffer,
       "features kept for the estimate; 0: all, with a bandwidth given as a number",
       {},
       0,
       kMany},
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
       "seconds between checkpoints; 0: after every iteration",
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
  } else if (std::holds_alternative<std::int64_t Config::*>(parameter.member)) {
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
