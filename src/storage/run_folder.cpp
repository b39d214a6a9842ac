#include "rarefy/storage/run_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

#include "rarefy/core/error.hpp"
#include "rarefy/storage/atomic_file.hpp"

namespace rarefy {
namespace {

constexpr std::string_view kTrajectory = "trajectory-";

bool is_trajectory(std::string_view name) {
  if (!name.starts_with(kTrajectory)) return false;
  name.remove_prefix(kTrajectory.size());
  const auto digits = name.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string_view::npos) return false;
  const auto type = name.substr(digits);
  return type == ".png" || type == ".csv";
}

}  // namespace

RunFolder::RunFolder(std::filesystem::path path) : path_(std::move(path)) {}

RunFolder::RunFolder(RunFolder&& other) noexcept
    : path_(std::move(other.path_)),
      lock_(std::exchange(other.lock_, -1)),
      made_(std::exchange(other.made_, false)) {}

RunFolder& RunFolder::operator=(RunFolder&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(lock_, other.lock_);
  std::swap(made_, other.made_);
  return *this;
}

RunFolder::~RunFolder() {
  std::error_code not_empty;
  if (made_) std::filesystem::remove(path_, not_empty);
  if (lock_ >= 0) ::close(lock_);
}

// A lock of the system's on the folder itself: it needs no file and ends with the process.
void RunFolder::lock() {
  lock_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ < 0) {
    throw Error(ErrorKind::io, fmt::format("cannot open the folder '{}': {}", path_.string(),
                                           std::strerror(errno)));
  }
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw Error(ErrorKind::io,
                fmt::format("the folder '{}' is in use by another rarefy", path_.string()));
  }
  if (::access(path_.c_str(), W_OK) != 0) {
    throw Error(ErrorKind::io, fmt::format("cannot write to the folder '{}': {}", path_.string(),
                                           std::strerror(errno)));
  }
  remove_stale_temporaries(path_);
}

RunFolder RunFolder::create(const std::filesystem::path& path, bool overwrite) {
  std::error_code problem;
  const bool made = std::filesystem::create_directories(path, problem);
  if (problem) {
    throw Error(ErrorKind::io,
                fmt::format("cannot make the folder '{}': {}", path.string(), problem.message()));
  }
  RunFolder folder(path);
  folder.made_ = made;
  folder.lock();
  if (std::filesystem::exists(folder.config()) && !overwrite) {
    throw Error(ErrorKind::parameter,
                fmt::format("the folder '{}' holds a run already: resume it, overwrite it, or name "
                            "another folder",
                            path.string()));
  }
  return folder;
}

void RunFolder::clear() const {
  // The configuration goes first: without it the rest does not count as a run.
  std::vector<std::filesystem::path> files = {
      config(),    checkpoint(),      metrics(),        archive(),          heatmap(),
      centroids(), density_picture(), density_values(), initial_solutions()};
  std::error_code unreadable;
  for (const auto& entry : std::filesystem::directory_iterator(path_, unreadable)) {
    if (is_trajectory(entry.path().filename().string())) files.push_back(entry.path());
  }
  for (const auto& file : files) {
    std::error_code problem;
    std::filesystem::remove(file, problem);
    if (problem) {
      throw Error(ErrorKind::io,
                  fmt::format("cannot remove '{}': {}", file.string(), problem.message()));
    }
  }
}

bool RunFolder::holds_run(const std::filesystem::path& path) {
  std::error_code problem;
  return std::filesystem::exists(path / "config.toml", problem);
}

RunFolder RunFolder::open(const std::filesystem::path& path) {
  RunFolder folder = peek(path);
  folder.lock();
  return folder;
}

RunFolder RunFolder::peek(const std::filesystem::path& path) {
  RunFolder folder(path);
  if (!std::filesystem::is_directory(path)) {
    throw Error(ErrorKind::io,
                fmt::format("'{}' is not a folder, expected that of a run", path.string()));
  }
  if (!std::filesystem::exists(folder.config())) {
    throw Error(ErrorKind::io, fmt::format("'{}' has no config.toml, expected the folder of a run",
                                           path.string()));
  }
  return folder;
}

std::filesystem::path RunFolder::trajectory(std::int64_t cell, std::string_view type) const {
  return path_ / fmt::format("{}{}.{}", kTrajectory, cell, type);
}

}  // namespace rarefy
