// Where the bytes of a file go that is written piece by piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace rarefy {

/// Takes bytes, one piece after the other.
using ByteSink = std::function<void(std::span<const std::byte>)>;

class FileSink {
 public:
  FileSink() = default;
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;
  virtual ~FileSink() = default;

  /// At its place in the file, which moves on.
  virtual void write(std::span<const std::byte> bytes) = 0;
  [[nodiscard]] virtual std::uint64_t place() const = 0;
  /// Back to what was written, to write it again, or forth to the end of it.
  virtual void go_to(std::uint64_t place) = 0;
};

/// Writes a whole file.
using FileWriter = std::function<void(FileSink&)>;

}  // namespace rarefy
