// Where a file is: at a path, or under a name in a folder that is held open.
#pragma once

#include <concepts>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "rarefy/storage/folder.hpp"

namespace rarefy {

/// What functions that read or write a file take. Anything that is a path will do.
class FilePlace {
 public:
  template <typename Path>
  requires std::convertible_to<const Path&, std::filesystem::path> &&
      (!std::same_as<Path, FilePlace>)FilePlace(const Path& path)  // NOLINT(*-explicit-*)
      : path_(path) {}
  FilePlace(std::shared_ptr<const Folder> folder, std::string name)
      : path_(folder->path() / name), folder_(std::move(folder)), name_(std::move(name)) {}

  /// For people and other programs to find it.
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::string string() const { return path_.string(); }
  operator const std::filesystem::path&() const { return path_; }  // NOLINT(*-explicit-*)

  /// The folder that is held open, or null where there is only a path.
  [[nodiscard]] const Folder* folder() const { return folder_.get(); }
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Whether there is anything at that place.
  [[nodiscard]] bool exists() const;

 private:
  std::filesystem::path path_;
  std::shared_ptr<const Folder> folder_;
  std::string name_;
};

}  // namespace rarefy
