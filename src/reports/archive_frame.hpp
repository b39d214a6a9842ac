// The archive of a run as one frame, from its archive.npz.
#pragma once

#include "rarefy/domains/domain.hpp"
#include "rarefy/runs/frames.hpp"
#include "rarefy/storage/file_place.hpp"

namespace rarefy {

/// As in frames.npz (runs/frames.hpp), but for cells that are no grid, of which the elites are
/// counted over the first two features. Error (data, corrupt) for anything but an archive of that
/// domain, or one with too many cells to be shown.
[[nodiscard]] Frames archive_frame(const FilePlace& archive, const DomainInfo& domain);

/// At which iteration an archive was written.
[[nodiscard]] std::int64_t archive_iteration(const FilePlace& archive);

}  // namespace rarefy
