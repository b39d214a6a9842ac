#include "trials/results_file.hpp"

#include <fmt/format.h>

#include <vector>

#include "rarefy/core/numbers.hpp"

namespace rarefy {
namespace {

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

}  // namespace

std::string results_header() {
  return "trial,profile,algorithm,domain,parameters,seed,iterations,evaluations,coverage,"
         "cross_entropy,qd_score,restarts,outside,seconds,processor_seconds,warnings,version,"
         "instruction_set,command\n";
}

std::string results_line(const Trial& trial, std::string_view name, std::string_view parameters) {
  const auto& config = trial.config;
  const auto& last = trial.metrics.back();
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{:.3f},{:.3f},{},{},{},{}\n",
                     csv_field(name), name_of(config.profile), csv_field(config.algorithm),
                     csv_field(config.domain), csv_field(parameters), config.seed, last.iteration,
                     last.evaluations, last.coverage, last.cross_entropy, last.qd_score,
                     last.restarts, last.outside, last.seconds, last.processor_seconds,
                     trial.warnings.size(), csv_field(trial.version),
                     csv_field(trial.instruction_set), csv_field(command_of(config)));
}

std::set<std::string, std::less<>> trials_named_in(std::string_view csv) {
  std::set<std::string, std::less<>> names;
  for (const auto line : split(csv, '\n')) names.emplace(line.substr(0, line.find(',')));
  return names;
}

}  // namespace rarefy
