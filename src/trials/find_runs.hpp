// Run folders below other folders.
#pragma once

#include <filesystem>
#include <vector>

namespace rarefy {

/// The folders of runs at and below `folder`, in the order of their paths. Links to folders are not
/// followed, but `folder` may be one. What vanishes meanwhile, or may not be read, is passed over;
/// Error (io) only where there is no `folder`.
[[nodiscard]] std::vector<std::filesystem::path> find_runs(const std::filesystem::path& folder);

}  // namespace rarefy
