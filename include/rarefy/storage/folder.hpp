// A folder held open: what is done in it stays in it.
//
// A path may lead elsewhere a moment later: the folder is moved, and another takes its name. All
// here goes by the descriptor instead, so that a run writes into the folder it has locked, or not
// at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rarefy/storage/file_sink.hpp"

namespace rarefy {

class Descriptor;

class Folder {
 public:
  /// Error (io) where there is none, or it may not be read.
  static std::shared_ptr<const Folder> open(const std::filesystem::path& path);
  /// Makes it, with its parents, where it is missing, and brings the new names to the disk.
  /// `made`, where given, is true when the folder itself is new.
  static std::shared_ptr<const Folder> make(const std::filesystem::path& path,
                                            bool* made = nullptr);
  /// The one a file lies in, or will.
  static std::shared_ptr<const Folder> of_file(const std::filesystem::path& file);
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  /// As it was opened.
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Where it lies now, as far as the system tells: path(), unless it was moved.
  [[nodiscard]] std::filesystem::path place() const;
  /// Whether path() still leads to it.
  [[nodiscard]] bool is_at_its_path() const;
  [[nodiscard]] int descriptor() const;

  /// Whether there is anything of that name, be it a link that leads nowhere.
  [[nodiscard]] bool holds(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> names() const;

  /// Puts the parts, one after the other, into the file `name`: see atomic_file.hpp. What had the
  /// name is replaced; a link itself, not what it leads to. Folders and special files are
  /// refused. The new file has the permissions of the one it replaces.
  void write(const std::string& name, std::span<const std::span<const std::byte>> parts) const;
  /// The same for a file that is written piece by piece.
  void write(const std::string& name, const FileWriter& writer) const;
  /// The whole of a regular file of at most `most` bytes; links are followed.
  [[nodiscard]] std::vector<std::byte> read(const std::string& name, std::uintmax_t most) const;
  /// Removes a file or a link; that there is none is well, too.
  void remove(const std::string& name) const;
  /// Brings to the disk which names there are. (What was written is there already.)
  void sync() const;
  /// Removes the temporaries that killed writers left of files for which `ours` holds. Those of
  /// writers still at work, here or in another process, hold a lock and are left alone.
  void remove_stale_temporaries(const std::function<bool(std::string_view)>& ours) const;

 private:
  Folder(std::filesystem::path path, Descriptor descriptor);
  [[nodiscard]] std::filesystem::path file(const std::string& name) const;

  std::filesystem::path path_;
  std::unique_ptr<Descriptor> descriptor_;
};

}  // namespace rarefy
