#include "rarefy/storage/run_folder.hpp"

#include <fmt/ranges.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <initializer_list>

#include "storage/system_calls.hpp"

namespace rarefy {
namespace {

constexpr std::string_view kConfig = "config.toml";
constexpr std::string_view kTrajectory = "trajectory-";
constexpr std::string_view kArm = "arm-";
constexpr std::array<std::string_view, 14> kFiles = {
    kConfig,         "checkpoint.bin", "metrics.csv", "archive.npz", "heatmap.png",
    "centroids.npy", "density.png",    "density.npz", "initial.npy", "journal.bin",
    "order.bin",     "failures.log",   "frames.npz",  "warnings.txt"};

// "trajectory-12.png", for instance: a stem, the number of a cell and a type.
bool is_of_a_cell(std::string_view name, std::string_view stem,
                  std::initializer_list<std::string_view> types) {
  if (!name.starts_with(stem)) return false;
  name.remove_prefix(stem.size());
  const auto digits = name.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string_view::npos) return false;
  return std::find(types.begin(), types.end(), name.substr(digits)) != types.end();
}

bool is_file_of_a_run(std::string_view name) {
  return std::find(kFiles.begin(), kFiles.end(), name) != kFiles.end() ||
         is_of_a_cell(name, kTrajectory, {".png", ".csv"}) || is_of_a_cell(name, kArm, {".png"});
}

std::string reason(int error) { return std::generic_category().message(error); }

[[noreturn]] void refuse_to_mix(const std::filesystem::path& path,
                                const std::vector<std::string>& files) {
  if (files.front() == kConfig) {
    throw Error(ErrorKind::parameter,
                fmt::format("the folder '{}' holds a run already: resume it, overwrite it, or name "
                            "another folder",
                            path.string()));
  }
  constexpr std::size_t kNamed = 3;
  const auto named = std::min(files.size(), kNamed);
  const auto rest = files.size() - named;
  throw Error(
      ErrorKind::parameter,
      fmt::format("the folder '{}' holds {}{} and no run: a new one would replace that; overwrite "
                  "it, or name another folder",
                  path.string(), fmt::join(files.begin(), files.begin() + named, ", "),
                  rest > 0 ? fmt::format(" and {} more", rest) : ""));
}

}  // namespace

RunFolder::RunFolder(std::shared_ptr<const Folder> folder) : folder_(std::move(folder)) {}

RunFolder::RunFolder(RunFolder&& other) noexcept
    : folder_(std::move(other.folder_)),
      why_not_locked_(std::move(other.why_not_locked_)),
      made_(std::exchange(other.made_, false)) {}

RunFolder& RunFolder::operator=(RunFolder&& other) noexcept {
  std::swap(folder_, other.folder_);
  std::swap(why_not_locked_, other.why_not_locked_);
  std::swap(made_, other.made_);
  return *this;
}

RunFolder::~RunFolder() {
  // Only if it is still the one we made, and empty.
  if (made_ && folder_->is_at_its_path()) ::rmdir(path().c_str());
}

// A lock of the system's on the folder itself: it needs no file and ends with the process.
void RunFolder::lock() {
  if (uninterrupted([&] { return ::flock(folder_->descriptor(), LOCK_EX | LOCK_NB); }) != 0) {
    if (errno == EWOULDBLOCK) {
      throw Error(ErrorKind::io,
                  fmt::format("the folder '{}' is in use by another rarefy", path().string()));
    }
    why_not_locked_ = reason(errno);
  }
  if (::faccessat(folder_->descriptor(), ".", W_OK, 0) != 0) {
    throw Error(ErrorKind::io,
                fmt::format("cannot write to the folder '{}': {}", path().string(), reason(errno)));
  }
  folder_->remove_stale_temporaries(is_file_of_a_run);
}

RunFolder RunFolder::create(const std::filesystem::path& path, bool overwrite) {
  // Whoever made it may take it away again, before we have locked it.
  for (int attempt = 0;; ++attempt) {
    bool made = false;
    RunFolder folder(Folder::make(path, &made));
    folder.made_ = made;
    folder.lock();
    if (!folder.folder_->is_at_its_path() && attempt < 100) continue;
    if (const auto files = folder.files_of_a_run(); !files.empty() && !overwrite) {
      refuse_to_mix(path, files);
    }
    return folder;
  }
}

std::vector<std::string> RunFolder::files_of_a_run() const {
  auto names = folder_->names();
  std::erase_if(names, [](const std::string& name) { return !is_file_of_a_run(name); });
  std::stable_partition(names.begin(), names.end(),
                        [](const std::string& name) { return name == kConfig; });
  return names;
}

void RunFolder::clear() const {
  // The configuration goes first: without it the rest does not count as a run. It must be gone from
  // the disk before the rest goes, which may get there in any order.
  if (const std::string config(kConfig); folder_->holds(config)) {
    folder_->remove(config);
    folder_->sync();
  }
  for (const auto& name : files_of_a_run()) folder_->remove(name);
}

bool RunFolder::holds_run(const std::filesystem::path& path) {
  std::error_code problem;
  return std::filesystem::exists(path / kConfig, problem);
}

RunFolder RunFolder::open(const std::filesystem::path& path) {
  RunFolder folder = peek(path);
  folder.lock();
  return folder;
}

RunFolder RunFolder::peek(const std::filesystem::path& path) {
  RunFolder folder(Folder::open(path));
  if (!folder.config().exists()) {
    throw Error(ErrorKind::io, fmt::format("'{}' has no config.toml, expected the folder of a run",
                                           path.string()));
  }
  return folder;
}

FilePlace RunFolder::trajectory(std::int64_t cell, std::string_view type) const {
  return file(fmt::format("{}{}.{}", kTrajectory, cell, type));
}

FilePlace RunFolder::arm(std::int64_t cell) const {
  return file(fmt::format("{}{}.png", kArm, cell));
}

}  // namespace rarefy
