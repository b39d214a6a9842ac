#include "rarefy/storage/atomic_file.hpp"

#include <array>
#include <system_error>

#include "storage/read_at.hpp"
#include "storage/system_calls.hpp"

namespace rarefy {
namespace fs = std::filesystem;
namespace {

/// The place to write to: links followed, everything but a regular file or nothing refused.
fs::path destination(const fs::path& path) {
  if (!path.has_filename() || path.filename() == "." || path.filename() == "..") {
    throw Error(ErrorKind::io, "file to write", fmt::format("'{}'", path.string()),
                "a path that ends in the name of a file");
  }
  std::error_code error;
  const auto status = fs::symlink_status(path, error);
  if (status.type() != fs::file_type::symlink) return path;
  auto target = fs::weakly_canonical(path, error);
  if (error) fail(path, "follow the link", error.value());
  return target;
}

}  // namespace

void write_parts_atomically(const FilePlace& file,
                            std::span<const std::span<const std::byte>> parts) {
  if (file.folder() != nullptr) return file.folder()->write(file.name(), parts);
  const auto target = destination(file.path());
  Folder::of_file(target)->write(target.filename().string(), parts);
}

void write_pieces_atomically(const FilePlace& file, const FileWriter& writer) {
  if (file.folder() != nullptr) return file.folder()->write(file.name(), writer);
  const auto target = destination(file.path());
  Folder::of_file(target)->write(target.filename().string(), writer);
}

void write_file_atomically(const FilePlace& file, std::span<const std::byte> bytes) {
  write_parts_atomically(file, std::array{bytes});
}

void write_file_atomically(const FilePlace& file, std::string_view text) {
  write_file_atomically(file, std::as_bytes(std::span(text)));
}

OpenFile open_to_read(const FilePlace& file) {
  if (file.folder() != nullptr) {
    return {file.folder()->descriptor(), file.name().c_str(), file.path()};
  }
  return {AT_FDCWD, file.path().c_str(), file.path()};
}

std::vector<std::byte> read_file(const FilePlace& file, std::uintmax_t most) {
  return open_to_read(file).read_all(most);
}

bool FilePlace::exists() const {
  if (folder_ != nullptr) return folder_->holds(name_);
  std::error_code unknown;
  return fs::exists(path_, unknown);
}

}  // namespace rarefy
