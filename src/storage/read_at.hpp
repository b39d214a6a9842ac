#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace rarefy {

/// The whole of the regular file `name` in the open folder `folder` (or AT_FDCWD), of at most
/// `most` bytes. Errors call it `shown`.
[[nodiscard]] std::vector<std::byte> read_at(int folder, const char* name,
                                             const std::filesystem::path& shown,
                                             std::uintmax_t most);

}  // namespace rarefy
