#include "trials/find_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "rarefy/core/error.hpp"
#include "rarefy/storage/run_folder.hpp"
#include "rarefy/trials/experiment_folder.hpp"

namespace rarefy {

FoundFolders find_runs(const std::filesystem::path& folder) {
  std::error_code problem;
  if (!std::filesystem::is_directory(folder, problem)) {
    throw Error(ErrorKind::io,
                fmt::format("'{}': no such folder, expected one that holds runs", folder.string()));
  }
  FoundFolders found;
  std::vector<std::filesystem::path> open = {folder};
  while (!open.empty()) {
    const auto here = std::move(open.back());
    open.pop_back();
    if (RunFolder::holds_run(here)) {
      found.runs.push_back(here);
      continue;  // a run has no folders
    }
    if (ExperimentPlaces{here}.holds_experiment()) {
      found.experiments.push_back(here);
      continue;  // it knows its own
    }
    std::error_code gone;
    std::filesystem::directory_iterator entry(here, gone);
    while (!gone && entry != std::filesystem::directory_iterator()) {
      std::error_code unknown;
      const auto status = entry->symlink_status(unknown);
      if (!unknown && std::filesystem::is_directory(status)) open.push_back(entry->path());
      entry.increment(gone);
    }
  }
  std::ranges::sort(found.experiments);
  std::ranges::sort(found.runs);
  return found;
}

}  // namespace rarefy
