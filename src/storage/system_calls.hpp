// What every caller of the system needs: descriptors that close themselves, calls that signals do
// not end, errors that name the file.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "rarefy/core/error.hpp"

namespace rarefy {

[[noreturn]] inline void fail(const std::filesystem::path& path, std::string_view doing,
                              int reason) {
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
  explicit Descriptor(int value = -1) : value_(value) {}
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
  /// The number, for another to close.
  [[nodiscard]] int release() { return std::exchange(value_, -1); }

 private:
  int value_;
};

/// Opens `name` in the open folder `folder` (or AT_FDCWD). Never one of the numbers 0 to 2, even
/// where a process was started without them: whoever writes a message to standard error would
/// write it into the file.
inline Descriptor open_at(int folder, const char* name, int flags, mode_t mode = 0666) {
  Descriptor file(uninterrupted([&] { return ::openat(folder, name, flags | O_CLOEXEC, mode); }));
  if (!file.valid() || file.get() > STDERR_FILENO) return file;
  return Descriptor(::fcntl(file.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

}  // namespace rarefy
