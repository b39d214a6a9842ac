// Files that are either the old one or the new one, whatever happens between.
//
// A reader, or a run that is killed and continued, never meets half a file: the
// bytes go to a temporary beside the file, reach the disk, and take its name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "rarefy/storage/file_place.hpp"
#include "rarefy/storage/file_sink.hpp"

namespace rarefy {

/// Puts `bytes` into the file. Throws Error (io) when it cannot; the temporary is then gone and the
/// file is as it was. A link at the end of a path is followed, one in a folder that is held open
/// is replaced; anything but a regular file is refused. Permissions stay as they were.
void write_file_atomically(const FilePlace& file, std::span<const std::byte> bytes);
void write_file_atomically(const FilePlace& file, std::string_view text);

/// The same for bytes that lie in several places and would otherwise be copied into one.
void write_parts_atomically(const FilePlace& file,
                            std::span<const std::span<const std::byte>> parts);

/// The same for a file that is written piece by piece, so that it need not lie in memory as a
/// whole. Whatever `writer` throws leaves the file as it was.
void write_pieces_atomically(const FilePlace& file, const FileWriter& writer);

/// The whole of a regular file of at most `most` bytes; Error (io) otherwise.
[[nodiscard]] std::vector<std::byte> read_file(const FilePlace& file,
                                               std::uintmax_t most = std::uintmax_t{4} << 30);

}  // namespace rarefy
