#include "storage/read_at.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <span>

#include "storage/system_calls.hpp"

namespace rarefy {
namespace {

// One call moves at most this much: Linux stops a little below 2 GiB anyway.
constexpr std::size_t kLargestRead = std::size_t{1} << 30;

}  // namespace

std::vector<std::byte> read_at(int folder, const char* name, const fs::path& shown,
                               std::uintmax_t most) {
  // Without O_NONBLOCK, opening a pipe would wait for somebody to write into it.
  const auto opened = open_at(folder, name, O_RDONLY | O_NONBLOCK);
  if (!opened.valid()) fail(shown, "open", errno);
  struct stat status {};
  if (::fstat(opened.get(), &status) != 0) fail(shown, "look at it", errno);
  if (!S_ISREG(status.st_mode)) {
    throw Error(ErrorKind::io, shown.string(),
                S_ISDIR(status.st_mode) ? "a folder" : "a special file", "a regular file");
  }
  const auto size = static_cast<std::uintmax_t>(status.st_size);
  if (size > most) {
    throw Error(ErrorKind::io, shown.string(), fmt::format("{} bytes", size),
                fmt::format("at most {} bytes", most));
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  for (std::span<std::byte> rest = bytes; !rest.empty();) {
    const auto length = std::min(rest.size(), kLargestRead);
    const auto got = uninterrupted([&] { return ::read(opened.get(), rest.data(), length); });
    if (got < 0) fail(shown, "read", errno);
    if (got == 0) {
      throw Error(ErrorKind::io, shown.string(),
                  fmt::format("an end after {} bytes", bytes.size() - rest.size()),
                  fmt::format("{} bytes, its size when it was opened", size));
    }
    rest = rest.subspan(static_cast<std::size_t>(got));
  }
  return bytes;
}

}  // namespace rarefy
