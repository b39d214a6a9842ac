#include "rarefy/trials/look_at_trial.hpp"

#include <fmt/format.h>

#include "rarefy/core/error.hpp"
#include "rarefy/experiment/parameters.hpp"
#include "trials/config_difference.hpp"
#include "trials/read_trial.hpp"
#include "trials/text_file.hpp"

namespace rarefy {
namespace {

// What must be the same. How often a checkpoint is written, or how many programs evaluate, may
// change from day to day; how far a run goes, too, as long as it has not gone further.
bool makes_another_trial(const Parameter& parameter) {
  return parameter.decides_results || parameter.name == "metrics-every" ||
         parameter.name == "frames";
}

// Of a trial that failed; nothing where it did not.
std::string error_in(const FilePlace& file) {
  try {
    if (!file.exists()) return "";
    auto text = text_of_file(file);
    while (text.ends_with('\n')) text.pop_back();
    return text.empty() ? "it failed" : text;
  } catch (const Error&) {  // removed meanwhile: it is tried again
    return "";
  }
}

}  // namespace

TrialLook look_at_trial(const PlannedTrial& planned, const ExperimentPlaces& places) {
  TrialLook look;
  auto& trial = look.trial;
  const auto folder = places.trial(planned.name);
  if (auto there = read_trial(folder)) {
    trial = std::move(*there);
    const auto done = trial.metrics.empty() ? 0 : trial.metrics.back().iteration;
    look.difference = config_difference(trial.config, planned.config, makes_another_trial);
    if (done > planned.config.iterations) {
      look.difference +=
          fmt::format("{}iterations {} there, {} here", look.difference.empty() ? "" : "; ", done,
                      planned.config.iterations);
    }
    if (!look.difference.empty()) return look;
    trial.state = done == planned.config.iterations ? TrialState::finished : TrialState::begun;
  }
  trial.config = planned.config;
  trial.folder = folder;
  if (trial.state == TrialState::finished) return look;
  trial.error = error_in(places.failure(planned.name));
  if (!trial.error.empty()) trial.state = TrialState::failed;
  return look;
}

}  // namespace rarefy
