// The folder a run lives in, and which file is what.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rarefy/storage/file_place.hpp"
#include "rarefy/storage/folder.hpp"

namespace rarefy {

/// Holds the folder for this process: a second process that opens it gets an Error. All
/// files but the journal and the order are replaced as a whole (storage/atomic_file.hpp), so that a
/// reader, or a run resumed after a kill at any moment, finds either the old one or the new one.
///
/// It stays the same folder when it is moved while a run goes on. Links in it are never written
/// through.
class RunFolder {
 public:
  /// Makes the folder, with its parents. One that holds a run, or any other file with a name that a
  /// run would use, is refused, unless `overwrite`; the files are left for clear() to remove.
  static RunFolder create(const std::filesystem::path& path, bool overwrite);
  /// Opens the folder of a run, for writing too.
  static RunFolder open(const std::filesystem::path& path);
  /// Whether there is a run in the folder.
  [[nodiscard]] static bool holds_run(const std::filesystem::path& path);
  /// The folder of a run to read, whoever is using it.
  static RunFolder peek(const std::filesystem::path& path);

  /// Removes the files of a run, and no others: to be called when a new one is sure to begin.
  void clear() const;

  RunFolder(RunFolder&&) noexcept;
  RunFolder& operator=(RunFolder&&) noexcept;
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  /// As it was given.
  [[nodiscard]] const std::filesystem::path& path() const { return folder_->path(); }
  /// Where it lies now: path(), unless it was moved.
  [[nodiscard]] std::filesystem::path place() const { return folder_->place(); }
  /// Why nobody is kept from using the folder at the same time, where the system has no locks for
  /// it (some network file systems have none); empty otherwise.
  [[nodiscard]] const std::string& why_not_locked() const { return why_not_locked_; }

  [[nodiscard]] FilePlace config() const { return file("config.toml"); }
  [[nodiscard]] FilePlace metrics() const { return file("metrics.csv"); }
  [[nodiscard]] FilePlace archive() const { return file("archive.npz"); }
  [[nodiscard]] FilePlace heatmap() const { return file("heatmap.png"); }
  /// The archive as it was on the way (runs/frames.hpp).
  [[nodiscard]] FilePlace frames() const { return file("frames.npz"); }
  [[nodiscard]] FilePlace checkpoint() const { return file("checkpoint.bin"); }
  /// Finished evaluations that are in no checkpoint yet (storage/journal.hpp).
  [[nodiscard]] FilePlace journal() const { return file("journal.bin"); }
  /// In which order the emitters of an asynchronous run were asked and told (runs/turns.hpp).
  [[nodiscard]] FilePlace order() const { return file("order.bin"); }
  /// What a program of the user's own could not evaluate, and why.
  [[nodiscard]] FilePlace failures() const { return file("failures.log"); }
  /// What a trial of an experiment, which has nobody to tell, warned of at its end.
  [[nodiscard]] FilePlace warnings() const { return file("warnings.txt"); }
  [[nodiscard]] FilePlace centroids() const { return file("centroids.npy"); }
  /// The solutions it started from, where some were given.
  [[nodiscard]] FilePlace initial_solutions() const { return file("initial.npy"); }
  /// The density as it is drawn, and its values.
  [[nodiscard]] FilePlace density_picture() const { return file("density.png"); }
  [[nodiscard]] FilePlace density_values() const { return file("density.npz"); }
  /// The path of the robot of one cell: trajectory-CELL.png, trajectory-CELL.csv.
  [[nodiscard]] FilePlace trajectory(std::int64_t cell, std::string_view type) const;
  /// The arm of one cell: arm-CELL.png.
  [[nodiscard]] FilePlace arm(std::int64_t cell) const;

 private:
  explicit RunFolder(std::shared_ptr<const Folder> folder);
  [[nodiscard]] FilePlace file(std::string name) const { return {folder_, std::move(name)}; }
  /// The files in it whose names are those of a run, the configuration first.
  [[nodiscard]] std::vector<std::string> files_of_a_run() const;
  void lock();

  std::shared_ptr<const Folder> folder_;
  std::string why_not_locked_;
  bool made_ = false;  // by us: it is removed again if it stays empty
};

}  // namespace rarefy
