// Files that are either the old one or the new one, whatever happens between.
//
// A reader, or a run that is killed and continued, never meets half a file: the
// bytes go to a temporary beside the file, reach the disk, and take its name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace rarefy {

/// Puts `bytes` into the file `path`. Throws Error (io) when it cannot; the temporary is then gone
/// and the file is as it was. A link is followed; anything but a regular file is refused.
void write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes);
void write_file_atomically(const std::filesystem::path& path, std::string_view text);

/// The same for bytes that lie in several places and would otherwise be copied into one.
void write_parts_atomically(const std::filesystem::path& path,
                            std::span<const std::span<const std::byte>> parts);

/// The whole of a regular file of at most `most` bytes; Error (io) otherwise.
[[nodiscard]] std::vector<std::byte> read_file(const std::filesystem::path& path,
                                               std::uintmax_t most = std::uintmax_t{4} << 30);

/// Deletes the temporaries that killed writers left in `folder`. Those of writers still at work,
/// here or in another process, hold a lock and are left alone. A missing folder has none.
void remove_stale_temporaries(const std::filesystem::path& folder);

}  // namespace rarefy
