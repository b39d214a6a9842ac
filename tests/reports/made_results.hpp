// Results made by hand, for tests of what is made of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "rarefy/experiment/config.hpp"
#include "rarefy/trials/results.hpp"

/// A finished trial of 5000 iterations that covers `coverage` (a part of 1) at its end, half of it
/// in the middle, and has such a cross-entropy.
inline rarefy::Trial made_trial(const rarefy::Config& config, std::int64_t seed, double coverage,
                                double cross_entropy) {
  rarefy::Trial trial;
  trial.config = config;
  trial.config.seed = seed;
  trial.state = rarefy::TrialState::finished;
  for (const double part : {0.5, 1.0}) {
    rarefy::MetricsLine line;
    line.iteration = static_cast<std::int64_t>(part * static_cast<double>(config.iterations));
    line.evaluations = 540 * line.iteration;
    line.coverage = part * coverage;
    line.cross_entropy = cross_entropy;
    line.seconds = part * 10 * static_cast<double>(seed);
    line.processor_seconds = 3 * line.seconds;
    trial.metrics.push_back(line);
  }
  return trial;
}

/// Trials of seeds 1, 2, ... with these coverages; cross-entropies are 40 less 20 times them.
inline rarefy::ResultRow made_row(
    const std::string& algorithm, const std::string& domain, const std::vector<double>& coverages,
    const std::vector<std::pair<std::string, std::string>>& parameters = {},
    rarefy::Profile profile = rarefy::Profile::standard) {
  rarefy::ResultRow row;
  row.algorithm = algorithm;
  row.domain = domain;
  row.profile = profile;
  row.parameters = parameters;
  const auto config = rarefy::default_config(domain, algorithm, profile);
  for (std::size_t i = 0; i < coverages.size(); ++i) {
    row.trials.push_back(
        made_trial(config, static_cast<std::int64_t>(i) + 1, coverages[i], 40 - 20 * coverages[i]));
  }
  return row;
}
