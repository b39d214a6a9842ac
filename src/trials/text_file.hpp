// Small files as texts.
#pragma once

#include <cstdint>
#include <string>

#include "rarefy/storage/atomic_file.hpp"

namespace rarefy {

[[nodiscard]] inline std::string text_of_file(const FilePlace& file,
                                              std::uintmax_t most = std::uintmax_t{1} << 20) {
  const auto bytes = read_file(file, most);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace rarefy
