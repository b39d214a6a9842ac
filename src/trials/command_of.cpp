// A configuration as the command line that gives the same run.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "rarefy/core/numbers.hpp"
#include "rarefy/experiment/config_file.hpp"
#include "rarefy/experiment/parameters.hpp"
#include "rarefy/trials/results.hpp"

namespace rarefy {
namespace {

// Said in any case, whether they are the defaults or not.
constexpr std::array<std::string_view, 5> kAlwaysSaid = {"domain", "algorithm", "profile", "seed",
                                                         "iterations"};

std::string quoted_for_shell(std::string_view text) {
  constexpr std::string_view kHarmless =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
  if (!text.empty() && text.find_first_not_of(kHarmless) == std::string_view::npos) {
    return std::string(text);
  }
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

// What begins with a dash would be taken for an option.
std::string option(std::string_view name, const std::string& value) {
  return fmt::format(" --{}{}{}", name, value.starts_with('-') ? "=" : " ",
                     quoted_for_shell(value));
}

bool options_can_describe(const DomainInfo& problem) {
  const bool commas = std::ranges::any_of(problem.feature_names, [](const std::string& name) {
    return name.find(',') != std::string::npos;
  });
  return !problem.solution_low && !problem.solution_high && !problem.least_objective &&
         !problem.greatest_objective && problem.lines.empty() && problem.places.empty() && !commas;
}

std::string describe(const DomainInfo& problem) {
  auto words = option("n", fmt::format("{}", problem.solution_dim)) +
               option("low", text_of(problem.feature_space.lower, ",")) +
               option("high", text_of(problem.feature_space.upper, ",")) +
               option("name", problem.name);
  if (!problem.title.empty()) words += option("title", problem.title);
  if (!problem.feature_names.empty()) {
    words += option("feature-names", fmt::format("{}", fmt::join(problem.feature_names, ",")));
  }
  if (!problem.constant_objective) words += " --with-objective";
  return words;
}

}  // namespace

std::string command_of(const Config& config) {
  std::string command = "rarefy run";
  if (config.own_problem) {
    if (!config.program.any() || !options_can_describe(*config.own_problem)) return "";
    command += describe(*config.own_problem);
  } else {
    command += " " + quoted_for_shell(config.domain);
  }
  for (const auto name : kAlwaysSaid) {
    if (name == "domain") continue;
    command += option(name, text_of(parameter_named(name).get(config)));
  }
  const auto defaults = defaults_for(config);
  for (const auto& parameter : parameters()) {
    if (std::ranges::find(kAlwaysSaid, parameter.name) != kAlwaysSaid.end()) continue;
    const auto value = parameter.get(config);
    if (value == parameter.get(defaults)) continue;
    if (!reason_without_effect(config, parameter).empty()) continue;  // it would be refused
    command += option(parameter.name, text_of(value));
  }
  return command;
}

}  // namespace rarefy
