// Several named arrays in one .npz file: a zip archive of .npy files, as
// numpy.savez writes and numpy.load reads.
//
// The same arrays give the same bytes: stored without compression, in the order
// given, dated 1980-01-01.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rarefy/core/named_array.hpp"
#include "rarefy/storage/file_place.hpp"
#include "rarefy/storage/npy.hpp"

namespace rarefy {

using NpzArrays = std::map<std::string, NpyArray, std::less<>>;

/// Error (parameter) for an empty, repeated or unusable name; Error (data) for a wrong shape.
[[nodiscard]] std::vector<std::byte> encode_npz(std::span<const NamedArray> arrays);
/// Error (corrupt) for anything but a whole and consistent archive whose checksums hold.
[[nodiscard]] NpzArrays decode_npz(std::span<const std::byte> bytes, std::string_view name);

/// Atomic: see atomic_file.hpp.
void write_npz(const FilePlace& file, std::span<const NamedArray> arrays);
[[nodiscard]] NpzArrays read_npz(const FilePlace& file);
/// One array, and no other is unpacked; Error (data) that lists the names there are when it is
/// missing.
[[nodiscard]] NpyArray read_npz_array(const FilePlace& file, std::string_view key,
                                      const ShapeCheck& accept = {});

/// The array `key` of `arrays`; Error (data) that lists the names there are when it is missing.
[[nodiscard]] const NpyArray& array_of(const NpzArrays& arrays, std::string_view key,
                                       std::string_view name);

}  // namespace rarefy
