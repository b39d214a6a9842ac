// What results are called that nobody has given a title.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace rarefy {

/// The last part of its path, wherever that is seen from.
[[nodiscard]] inline std::string name_of_folder(const std::filesystem::path& folder) {
  std::error_code unknown;
  const auto whole = std::filesystem::canonical(folder, unknown);
  return (unknown ? folder : whole).filename().string();
}

}  // namespace rarefy
