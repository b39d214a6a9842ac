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
#include "trials/find_runs.hpp"
#include "trials/read_trial.hpp"
#include "trials/result_rows.hpp"

namespace rarefy {
namespace {

std::string title_of(std::span<const std::filesystem::path> folders) {
  std::string title;
  for (const auto& folder : folders) {
    std::error_code unknown;
    auto whole = std::filesystem::canonical(folder, unknown);
    if (unknown) whole = folder;
    title += (title.empty() ? "" : ", ") + whole.filename().string();
  }
  return title;
}

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

}  // namespace

Results read_results(std::span<const std::filesystem::path> folders) {
  Results results;
  results.title = title_of(folders);
  std::vector<Trial> trials;
  std::set<std::filesystem::path> known;
  for (const auto& folder : folders) {
    for (const auto& run : find_runs(folder)) {
      std::error_code gone;
      const auto place = std::filesystem::canonical(run, gone);
      if (gone || !known.insert(place).second) continue;
      try {
        if (auto trial = read_trial(run)) trials.push_back(std::move(*trial));
      } catch (const Error& error) {
        results.notes.emplace_back(error.what());
      }
    }
  }
  results.rows = make_rows(std::move(trials), RowOrder::sorted);
  for (auto& row : results.rows) leave_out_copies(row, results.notes);
  return results;
}

}  // namespace rarefy
