// Runs and experiments below other folders.
#pragma once

#include <filesystem>
#include <vector>

namespace rarefy {

struct FoundFolders {
  std::vector<std::filesystem::path> experiments;
  std::vector<std::filesystem::path> runs;  ///< that belong to none of those
};

/// What lies at and below `folder`, in the order of paths. Links to folders are not followed, but
/// `folder` may be one. What vanishes meanwhile, or may not be read, is passed over; Error (io)
/// only where there is no `folder`.
[[nodiscard]] FoundFolders find_runs(const std::filesystem::path& folder);

}  // namespace rarefy
