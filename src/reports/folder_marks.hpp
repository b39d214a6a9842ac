// Whether anything in folders has changed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

namespace rarefy {

/// A number that is another one when a file comes, goes, grows or is replaced; pictures and what
/// only a run itself reads do not count.
[[nodiscard]] std::uint64_t mark_of_folders(std::span<const std::filesystem::path> folders);
/// The same of one file; 0 where there is none.
[[nodiscard]] std::uint64_t mark_of_file(const std::filesystem::path& file);

}  // namespace rarefy
