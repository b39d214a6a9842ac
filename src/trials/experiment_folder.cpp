#include "rarefy/trials/experiment_folder.hpp"

#include <fmt/format.h>
#include <sys/file.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "rarefy/core/error.hpp"
#include "rarefy/storage/atomic_file.hpp"
#include "rarefy/storage/run_folder.hpp"
#include "storage/system_calls.hpp"
#include "trials/folder_title.hpp"
#include "trials/text_file.hpp"

namespace rarefy {
namespace {

bool is_there(const std::filesystem::path& path) {
  std::error_code unknown;
  return std::filesystem::exists(path, unknown);
}

void refuse_to_mix(const ExperimentPlaces& places) {
  if (RunFolder::holds_run(places.folder)) {
    throw Error(ErrorKind::parameter,
                fmt::format("the folder '{}' holds a run, expected an experiment or a new folder",
                            places.folder.string()));
  }
  if (places.holds_experiment()) return;
  for (const auto& part :
       {places.trial(""), places.failure("").parent_path(), places.shared(), places.results()}) {
    if (!is_there(part)) continue;
    throw Error(
        ErrorKind::parameter,
        fmt::format("the folder '{}' holds '{}' and no experiment.toml: name another "
                    "folder, or overwrite it",
                    places.folder.string(), part.lexically_relative(places.folder).string()));
  }
}

}  // namespace

std::filesystem::path ExperimentPlaces::base(std::size_t number) const {
  return folder / fmt::format("base-{}.toml", number + 1);
}

std::filesystem::path ExperimentPlaces::trial(std::string_view name) const {
  return folder / "trials" / name;
}

std::filesystem::path ExperimentPlaces::failure(std::string_view name) const {
  return folder / "failures" / (std::string(name) + ".txt");
}

bool ExperimentPlaces::holds_experiment() const { return is_there(experiment()); }

Experiment ExperimentPlaces::read() const {
  auto read = parse_experiment(
      text_of_file(experiment()), experiment().string(),
      [&](const std::string& /*name*/, std::size_t number) { return text_of_file(base(number)); });
  if (read.title.empty()) read.title = name_of_folder(folder);
  return read;
}

ExperimentFolder::ExperimentFolder(const std::filesystem::path& path, bool overwrite)
    : places_{path}, folder_(Folder::make(path)) {
  // A lock of the system's on the folder itself: it needs no file and ends with the process.
  if (uninterrupted([&] { return ::flock(folder_->descriptor(), LOCK_EX | LOCK_NB); }) != 0) {
    if (errno == EWOULDBLOCK) {
      throw Error(
          ErrorKind::io,
          fmt::format("the experiment in '{}' is being run by another rarefy", path.string()));
    }
    why_not_locked_ = std::generic_category().message(errno);
  }
  if (!overwrite) refuse_to_mix(places_);
}

void ExperimentFolder::keep(const Experiment& experiment) const {
  for (std::size_t i = 0; i < experiment.bases.size(); ++i) {
    write_file_atomically(places_.base(i), experiment.bases[i]);
  }
  write_file_atomically(places_.experiment(), experiment.text);
}

}  // namespace rarefy
