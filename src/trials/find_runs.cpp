#include "trials/find_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "rarefy/core/error.hpp"
#include "rarefy/storage/run_folder.hpp"

namespace rarefy {

std::vector<std::filesystem::path> find_runs(const std::filesystem::path& folder) {
  std::error_code problem;
  if (!std::filesystem::is_directory(folder, problem)) {
    throw Error(ErrorKind::io,
                fmt::format("'{}': no such folder, expected one that holds runs", folder.string()));
  }
  std::vector<std::filesystem::path> found, open = {folder};
  while (!open.empty()) {
    const auto here = std::move(open.back());
    open.pop_back();
    if (RunFolder::holds_run(here)) {
      found.push_back(here);
      continue;  // a run has no folders
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
  std::ranges::sort(found);
  return found;
}

}  // namespace rarefy
