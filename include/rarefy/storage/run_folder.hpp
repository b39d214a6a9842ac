// The folder a run lives in, and which file is what.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace rarefy {

/// Holds the folder for this process: a second process that opens it gets an Error. All
/// files are replaced as a whole (storage/atomic_file.hpp), so that a reader, or a run
/// resumed after a kill at any moment, finds either the old one or the new one.
class RunFolder {
 public:
  /// Makes the folder, with its parents. One that holds a run already is refused, unless
  /// `overwrite`; the files are left for clear() to remove.
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

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path config() const { return path_ / "config.toml"; }
  [[nodiscard]] std::filesystem::path metrics() const { return path_ / "metrics.csv"; }
  [[nodiscard]] std::filesystem::path archive() const { return path_ / "archive.npz"; }
  [[nodiscard]] std::filesystem::path heatmap() const { return path_ / "heatmap.png"; }
  [[nodiscard]] std::filesystem::path checkpoint() const { return path_ / "checkpoint.bin"; }
  [[nodiscard]] std::filesystem::path centroids() const { return path_ / "centroids.npy"; }
  /// The solutions it started from, where some were given.
  [[nodiscard]] std::filesystem::path initial_solutions() const { return path_ / "initial.npy"; }
  /// The density as it is drawn, and its values.
  [[nodiscard]] std::filesystem::path density_picture() const { return path_ / "density.png"; }
  [[nodiscard]] std::filesystem::path density_values() const { return path_ / "density.npz"; }
  /// The path of the robot of one cell: trajectory-CELL.png, trajectory-CELL.csv.
  [[nodiscard]] std::filesystem::path trajectory(std::int64_t cell, std::string_view type) const;

 private:
  explicit RunFolder(std::filesystem::path path);
  void lock();

  std::filesystem::path path_;
  int lock_ = -1;
  bool made_ = false;  // by us: it is removed again if it stays empty
};

}  // namespace rarefy
