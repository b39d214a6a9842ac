#include "storage/read_at.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

namespace rarefy {
namespace {

// One call moves at most this much: Linux stops a little below 2 GiB anyway.
constexpr std::size_t kLargestRead = std::size_t{1} << 30;

}  // namespace

// Without O_NONBLOCK, opening a pipe would wait for somebody to write into it.
OpenFile::OpenFile(int folder, const char* name, std::filesystem::path shown)
    : file_(open_at(folder, name, O_RDONLY | O_NONBLOCK)), shown_(std::move(shown)) {
  if (!file_.valid()) fail(shown_, "open", errno);
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) fail(shown_, "look at it", errno);
  if (!S_ISREG(status.st_mode)) {
    throw Error(ErrorKind::io, shown_.string(),
                S_ISDIR(status.st_mode) ? "a folder" : "a special file", "a regular file");
  }
  size_ = static_cast<std::uintmax_t>(status.st_size);
}

void OpenFile::read(std::span<std::byte> out) {
  for (auto rest = out; !rest.empty();) {
    const auto length = std::min(rest.size(), kLargestRead);
    const auto got = uninterrupted([&] { return ::read(file_.get(), rest.data(), length); });
    if (got < 0) fail(shown_, "read", errno);
    if (got == 0) {
      throw Error(ErrorKind::io, shown_.string(), fmt::format("an end after {} bytes", done_),
                  fmt::format("{} bytes, its size when it was opened", size_));
    }
    done_ += static_cast<std::uintmax_t>(got);
    rest = rest.subspan(static_cast<std::size_t>(got));
  }
}

std::vector<std::byte> OpenFile::read_all(std::uintmax_t most) {
  if (size_ > most) {
    throw Error(ErrorKind::io, shown_.string(), fmt::format("{} bytes", size_),
                fmt::format("at most {} bytes", most));
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(size_ - done_));
  read(bytes);
  return bytes;
}

}  // namespace rarefy
