// An array in the .npy format from wherever its bytes come, straight into its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rarefy/storage/npy.hpp"

namespace rarefy {

/// What an array says of its values: the Python dictionary in front of them.
struct NpyHeader {
  std::string descr;
  bool fortran_order = false;
  std::vector<Index> shape;
};
/// Of the dictionary alone. Throws where it is anything else.
[[nodiscard]] NpyHeader parse_npy_header(std::string_view text, std::string_view name);

struct NpySource {
  std::uint64_t size = 0;  ///< of header and values
  /// Fills `out` with the next bytes, or throws.
  std::function<void(std::span<std::byte> out)> read;
};

/// See decode_npy(). Memory is taken only for a shape that fits the size of the source, and that
/// `accept`, where there is one, does not refuse by an exception.
[[nodiscard]] NpyArray read_npy_array(const NpySource& source, std::string_view name,
                                      const ShapeCheck& accept = {});

}  // namespace rarefy
