// The folder an experiment lives in, and what lies where.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "rarefy/storage/file_place.hpp"
#include "rarefy/storage/folder.hpp"
#include "rarefy/trials/matrix.hpp"

namespace rarefy {

/// Where things lie below the folder of an experiment, whether they are there or not.
struct ExperimentPlaces {
  std::filesystem::path folder;

  /// The file it was last run with, and the configurations that builds upon.
  [[nodiscard]] std::filesystem::path experiment() const { return folder / "experiment.toml"; }
  [[nodiscard]] std::filesystem::path base(std::size_t number) const;
  /// The folder of a run.
  [[nodiscard]] std::filesystem::path trial(std::string_view name) const;
  /// Why a trial failed.
  [[nodiscard]] std::filesystem::path failure(std::string_view name) const;
  /// What trials have in common.
  [[nodiscard]] std::filesystem::path shared() const { return folder / "shared"; }
  /// One line for each finished trial.
  [[nodiscard]] std::filesystem::path results() const { return folder / "results.csv"; }

  [[nodiscard]] bool holds_experiment() const;
  /// The experiment it was last run with.
  [[nodiscard]] Experiment read() const;
};

/// Holds the folder for this process: a second one that opens it gets an Error.
class ExperimentFolder {
 public:
  /// Makes it where it is missing. One that holds a run, or parts of an experiment without its
  /// file, is refused, unless `overwrite`.
  ExperimentFolder(const std::filesystem::path& path, bool overwrite);

  [[nodiscard]] const ExperimentPlaces& places() const { return places_; }
  /// Why nobody is kept from using it at the same time; empty where all is well.
  [[nodiscard]] const std::string& why_not_locked() const { return why_not_locked_; }
  /// Keeps the file, and what it builds upon.
  void keep(const Experiment& experiment) const;

 private:
  ExperimentPlaces places_;
  std::shared_ptr<const Folder> folder_;  // whose lock ends with it
  std::string why_not_locked_;
};

}  // namespace rarefy
