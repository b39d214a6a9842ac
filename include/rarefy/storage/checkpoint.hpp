// A checkpoint file: what a search needs to go on, sealed by a checksum.
//
//   offset  bytes
//        0      8  "RAREFYCK"
//        8      4  version of this layout, 1
//       12      4  zero, reserved
//       16      8  length of the payload
//       24     16  XXH3, 128 bits, of the payload (canonical: big-endian)
//       40      -  the payload, to the end of the file
//
// Integers are little-endian. What the payload says is its writer's business
// (core/state.hpp); this layer promises that it is what was written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "rarefy/storage/file_place.hpp"
#include "rarefy/storage/file_sink.hpp"

namespace rarefy {

/// XXH3, 64 bits: tells one content from another.
[[nodiscard]] std::uint64_t checksum(std::span<const std::byte> bytes);

/// Atomic: see atomic_file.hpp.
void write_checkpoint(const FilePlace& file, std::span<const std::byte> payload);
/// The same for a payload that `write` hands over piece by piece: it lies nowhere as a whole.
void write_checkpoint_in_pieces(const FilePlace& file,
                                const std::function<void(const ByteSink&)>& write);
[[nodiscard]] std::vector<std::byte> read_checkpoint(const FilePlace& file);

/// The payload, a part of `file`. Error (data) for another version, Error (corrupt) for a file that
/// is not a checkpoint, is cut short, goes on too long, or fails its checksum.
[[nodiscard]] std::span<const std::byte> decode_checkpoint(std::span<const std::byte> file,
                                                           std::string_view name);

}  // namespace rarefy
