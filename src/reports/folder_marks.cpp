#include "reports/folder_marks.hpp"

#include <functional>
#include <string>
#include <system_error>

namespace rarefy {
namespace {

namespace fs = std::filesystem;

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  return (a ^ b) * 0x9e3779b97f4a7c15U + (a >> 29U);
}

bool counts(const fs::path& file) {
  const auto type = file.extension();
  return type == ".toml" || type == ".csv" || type == ".npz" || type == ".txt" || type == ".log" ||
         type == ".json";
}

}  // namespace

std::uint64_t mark_of_file(const fs::path& file) {
  std::error_code wrong;
  const auto time = fs::last_write_time(file, wrong);
  if (wrong) return 0;
  const auto size = fs::file_size(file, wrong);
  if (wrong) return 0;
  const auto mark = mixed(static_cast<std::uint64_t>(time.time_since_epoch().count()), size);
  return mark == 0 ? 1 : mark;
}

std::uint64_t mark_of_folders(std::span<const fs::path> folders) {
  std::uint64_t sum = 0;
  for (const auto& folder : folders) {
    std::error_code wrong;
    fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied,
                                        wrong);
    // Files come and go while it walks: what is missed now is seen the next time.
    for (const fs::recursive_directory_iterator end; !wrong && at != end; at.increment(wrong)) {
      if (!counts(at->path())) continue;
      // In any order: a system lists files as it likes.
      sum += mixed(std::hash<std::string>{}(at->path().string()), mark_of_file(at->path()));
    }
  }
  return sum;
}

}  // namespace rarefy
