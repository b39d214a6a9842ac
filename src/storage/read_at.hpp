#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "rarefy/storage/file_place.hpp"
#include "storage/system_calls.hpp"

namespace rarefy {

/// A regular file, opened to be read from its beginning to its end.
class OpenFile {
 public:
  /// The file `name` in the open folder `folder` (or AT_FDCWD). Errors call it `shown`.
  OpenFile(int folder, const char* name, std::filesystem::path shown);

  /// When it was opened.
  [[nodiscard]] std::uintmax_t size() const { return size_; }
  /// The next bytes, as many as `out` has room for.
  void read(std::span<std::byte> out);
  /// All that is left, of at most `most` bytes.
  [[nodiscard]] std::vector<std::byte> read_all(std::uintmax_t most);

 private:
  Descriptor file_;
  std::filesystem::path shown_;
  std::uintmax_t size_ = 0, done_ = 0;
};

[[nodiscard]] OpenFile open_to_read(const FilePlace& file);

}  // namespace rarefy
