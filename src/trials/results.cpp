#include "rarefy/trials/results.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "rarefy/core/error.hpp"
#include "rarefy/trials/experiment_folder.hpp"
#include "rarefy/trials/look_at_trial.hpp"
#include "trials/find_runs.hpp"
#include "trials/folder_title.hpp"
#include "trials/read_trial.hpp"
#include "trials/result_rows.hpp"

namespace rarefy {
namespace {

std::int64_t iterations_done(const Trial& trial) {
  return trial.metrics.empty() ? 0 : trial.metrics.back().iteration;
}

// The same seed twice would count twice in a mean: only the one that is further stays.
void leave_out_copies(ResultRow& row, std::vector<std::string>& notes) {
  std::vector<Trial> kept;
  for (auto& trial : row.trials) {
    if (kept.empty() || kept.back().config.seed != trial.config.seed) {
      kept.push_back(std::move(trial));
      continue;
    }
    if (iterations_done(trial) > iterations_done(kept.back())) std::swap(trial, kept.back());
    notes.push_back(fmt::format("'{}' is left out: '{}' is the same trial", trial.folder.string(),
                                kept.back().folder.string()));
  }
  row.trials = std::move(kept);
}

class ResultsReader {
 public:
  Results read(std::span<const std::filesystem::path> folders) {
    for (const auto& folder : folders) read_below(folder);
    // An experiment has an order of its own; runs that lie about have none.
    results_.rows =
        make_rows(std::move(trials_), any_loose_ ? RowOrder::sorted : RowOrder::as_given);
    for (auto& row : results_.rows) leave_out_copies(row, results_.notes);
    for (const auto& title : titles_) {
      results_.title += (results_.title.empty() ? "" : ", ") + title;
    }
    return std::move(results_);
  }

 private:
  void read_below(const std::filesystem::path& folder) {
    const auto found = find_runs(folder);
    for (const auto& experiment : found.experiments) {
      if (is_new(experiment)) read_experiment_in(experiment);
    }
    bool any = false;
    for (const auto& run : found.runs) any = read_run(run) || any;
    if (any || found.experiments.empty()) titles_.push_back(name_of_folder(folder));
    any_loose_ = any_loose_ || any;
  }

  void read_experiment_in(const std::filesystem::path& folder) {
    const ExperimentPlaces places{folder};
    Experiment experiment;
    try {
      experiment = places.read();
    } catch (const Error& error) {
      // Its trials are runs like others, all the same.
      results_.notes.emplace_back(error.what());
      titles_.push_back(name_of_folder(folder));
      std::error_code unknown;
      if (!std::filesystem::is_directory(places.trial(""), unknown)) return;
      for (const auto& run : find_runs(places.trial("")).runs) any_loose_ |= read_run(run);
      return;
    }
    titles_.push_back(experiment.title);
    for (const auto& planned : experiment.trials) {
      if (!is_new(places.trial(planned.name))) continue;
      try {
        trials_.push_back(look_at_trial(planned, places).trial);
      } catch (const Error& error) {
        results_.notes.emplace_back(error.what());
      }
    }
  }

  bool read_run(const std::filesystem::path& run) {
    if (!is_new(run)) return false;
    try {
      auto trial = read_trial(run);
      if (!trial) return false;
      trials_.push_back(std::move(*trial));
    } catch (const Error& error) {
      results_.notes.emplace_back(error.what());
    }
    return true;
  }

  [[nodiscard]] bool is_new(const std::filesystem::path& folder) {
    std::error_code unknown;
    const auto place = std::filesystem::weakly_canonical(folder, unknown);
    return known_.insert(unknown ? folder : place).second;
  }

  Results results_;
  std::vector<Trial> trials_;
  std::vector<std::string> titles_;
  std::set<std::filesystem::path> known_;
  bool any_loose_ = false;  // runs of no experiment
};

}  // namespace

Results read_results(std::span<const std::filesystem::path> folders) {
  return ResultsReader().read(folders);
}

}  // namespace rarefy
