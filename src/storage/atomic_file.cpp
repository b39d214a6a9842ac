#include "rarefy/storage/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "rarefy/core/error.hpp"

namespace rarefy {
namespace fs = std::filesystem;
namespace {

// One call moves at most this much: Linux stops a little below 2 GiB anyway.
constexpr std::size_t kLargestTransfer = std::size_t{1} << 30;
constexpr std::string_view kMark = ".tmp-";

[[noreturn]] void fail(const fs::path& path, std::string_view doing, int reason) {
  throw Error(ErrorKind::io, fmt::format("{}: cannot {}: {}", path.string(), doing,
                                         std::generic_category().message(reason)));
}

/// Repeats a system call that a signal interrupted.
template <typename Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  [[nodiscard]] int get() const { return value_; }
  [[nodiscard]] bool valid() const { return value_ >= 0; }

 private:
  int value_;
};

Descriptor open_file(const fs::path& path, int flags) {
  return Descriptor(uninterrupted([&] { return ::open(path.c_str(), flags | O_CLOEXEC, 0666); }));
}

/// The temporary of one write: locked while it lives, deleted unless it took the file's name.
class Temporary {
 public:
  explicit Temporary(const fs::path& target) : target_(target) {
    // A name may be taken by a leftover of an earlier process with our number.
    for (int attempt = 0; attempt < 1000; ++attempt) {
      path_ = target.parent_path() / next_name(target.filename().string());
      file_ = open_file(path_, O_WRONLY | O_CREAT | O_EXCL);
      if (!file_.valid()) {
        if (errno == EEXIST) continue;
        fail(target, fmt::format("create the temporary {}", path_.string()), errno);
      }
      exists_ = true;
      // The lock says that the writer lives. Where locks are not supported there is none, and
      // remove_stale_temporaries leaves everything alone.
      uninterrupted([&] { return ::flock(file_.get(), LOCK_EX); });
      struct stat status {};
      if (::fstat(file_.get(), &status) != 0 || status.st_nlink > 0) return;
      // Taken for a leftover and deleted before we had locked it: try again.
      exists_ = false;
    }
    fail(target, "find a free name for a temporary", EEXIST);
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    if (exists_) ::unlink(path_.c_str());
  }

  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const auto length = std::min(bytes.size(), kLargestTransfer);
      const auto written =
          uninterrupted([&] { return ::write(file_.get(), bytes.data(), length); });
      if (written < 0) fail(target_, "write", errno);
      // No progress and no reason would loop for ever.
      if (written == 0) fail(target_, "write", EIO);
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }

  /// After the sync nothing is left that closing the file could still report.
  void take_the_name() {
    if (uninterrupted([&] { return ::fsync(file_.get()); }) != 0) {
      fail(target_, "bring it to the disk", errno);
    }
    if (::rename(path_.c_str(), target_.c_str()) != 0) fail(target_, "replace it", errno);
    exists_ = false;
  }

 private:
  static std::string next_name(std::string name) {
    static std::atomic<unsigned> count{0};
    name.resize(std::min<std::size_t>(name.size(), 200));  // a file name has 255 bytes at most
    return fmt::format(".{}{}{}-{}", name, kMark, ::getpid(), count++);
  }

  fs::path target_;
  fs::path path_;
  Descriptor file_{-1};
  bool exists_ = false;
};

/// The place to write to: links followed, everything but a regular file or nothing refused.
/// A rename would otherwise quietly replace a device by a file.
fs::path destination(const fs::path& path) {
  if (!path.has_filename() || path.filename() == "." || path.filename() == "..") {
    throw Error(ErrorKind::io, "file to write", fmt::format("'{}'", path.string()),
                "a path that ends in the name of a file");
  }
  std::error_code error;
  const auto status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return path;
  if (status.type() == fs::file_type::none) fail(path, "look at it", error.value());
  if (status.type() != fs::file_type::regular) {
    throw Error(ErrorKind::io, path.string(),
                status.type() == fs::file_type::directory ? "a folder" : "a special file",
                "a regular file, or nothing yet");
  }
  auto target = fs::is_symlink(fs::symlink_status(path, error)) ? fs::canonical(path, error) : path;
  if (error) fail(path, "follow the link", error.value());
  return target;
}

/// `.NAME.tmp-PID-COUNT`
bool is_name_of_temporary(std::string_view name) {
  const auto mark = name.rfind(kMark);
  if (mark == std::string_view::npos || mark == 0 || name.front() != '.') return false;
  const auto number = name.substr(mark + kMark.size());
  return !number.empty() && number.find_first_not_of("0123456789-") == std::string_view::npos;
}

void remove_if_stale(const fs::path& path) {
  const auto file = open_file(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!file.valid()) return;  // its writer has just finished, or it is not ours to read
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  if (uninterrupted([&] { return ::flock(file.get(), LOCK_EX | LOCK_NB); }) != 0) return;
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) fail(path, "delete the leftover", errno);
}

}  // namespace

void write_parts_atomically(const fs::path& path,
                            std::span<const std::span<const std::byte>> parts) {
  const auto target = destination(path);
  const auto parent = target.has_parent_path() ? target.parent_path() : fs::path(".");
  // Opened first, so that what can fail does so while the old file is still there.
  const auto folder = open_file(parent, O_RDONLY | O_DIRECTORY);
  if (!folder.valid()) fail(path, fmt::format("open its folder {}", parent.string()), errno);

  Temporary temporary(target);
  for (const auto part : parts) temporary.write(part);
  temporary.take_the_name();

  // The new name is itself data of the folder. Some file systems cannot sync one, and say EINVAL.
  if (uninterrupted([&] { return ::fsync(folder.get()); }) != 0 && errno != EINVAL) {
    fail(path, "bring its new name to the disk (the file itself is written)", errno);
  }
}

void write_file_atomically(const fs::path& path, std::span<const std::byte> bytes) {
  write_parts_atomically(path, std::array{bytes});
}

void write_file_atomically(const fs::path& path, std::string_view text) {
  write_file_atomically(path, std::as_bytes(std::span(text)));
}

std::vector<std::byte> read_file(const fs::path& path, std::uintmax_t most) {
  // Without O_NONBLOCK, opening a pipe would wait for somebody to write into it.
  const auto file = open_file(path, O_RDONLY | O_NONBLOCK);
  if (!file.valid()) fail(path, "open", errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail(path, "look at it", errno);
  if (!S_ISREG(status.st_mode)) {
    throw Error(ErrorKind::io, path.string(),
                S_ISDIR(status.st_mode) ? "a folder" : "a special file", "a regular file");
  }
  const auto size = static_cast<std::uintmax_t>(status.st_size);
  if (size > most) {
    throw Error(ErrorKind::io, path.string(), fmt::format("{} bytes", size),
                fmt::format("at most {} bytes", most));
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  for (std::span<std::byte> rest = bytes; !rest.empty();) {
    const auto length = std::min(rest.size(), kLargestTransfer);
    const auto got = uninterrupted([&] { return ::read(file.get(), rest.data(), length); });
    if (got < 0) fail(path, "read", errno);
    if (got == 0) {
      throw Error(ErrorKind::io, path.string(),
                  fmt::format("an end after {} bytes", bytes.size() - rest.size()),
                  fmt::format("{} bytes, its size when it was opened", size));
    }
    rest = rest.subspan(static_cast<std::size_t>(got));
  }
  return bytes;
}

void remove_stale_temporaries(const fs::path& folder) {
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  if (error == std::errc::no_such_file_or_directory) return;
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (is_name_of_temporary(entry->path().filename().string())) remove_if_stale(entry->path());
  }
  if (error) fail(folder, "list the folder", error.value());
}

}  // namespace rarefy
