// How every part of a search writes itself down and reads itself back.
//
// A state is a flat sequence of named fields. The reader checks every name,
// type and length against what the part expects, so a file of another version,
// a truncated file or a forged one ends in an Error and never in a wild read or
// a huge allocation. Values are little-endian and bit-exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rarefy/core/batch.hpp"

namespace rarefy {

/// Keeps what is written, or hands it on: a state may be as large as the memory that is left.
class StateWriter {
 public:
  /// Keeps it, for bytes().
  StateWriter() = default;
  /// Hands it to `sink`, in pieces, the last of them by flush(). Long fields are not copied.
  explicit StateWriter(std::function<void(std::span<const std::byte>)> sink)
      : sink_(std::move(sink)) {}

  void integer(std::string_view name, std::int64_t value);
  void real(std::string_view name, double value);
  void text(std::string_view name, std::string_view value);
  void reals(std::string_view name, std::span<const double> values);
  void floats(std::string_view name, std::span<const float> values);
  void integers(std::string_view name, std::span<const std::int64_t> values);

  /// Without a sink: all of it. With one: what it has not been handed yet.
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }
  void clear() { bytes_.clear(); }
  void flush();

 private:
  void field(std::string_view name, char type, std::uint64_t count, const void* data,
             std::size_t size);
  std::function<void(std::span<const std::byte>)> sink_;
  std::vector<std::byte> bytes_;
};

class StateReader {
 public:
  explicit StateReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  std::int64_t integer(std::string_view name);
  /// An integer that must lie in [low, high].
  std::int64_t integer(std::string_view name, std::int64_t low, std::int64_t high);
  double real(std::string_view name);
  double finite(std::string_view name);
  std::string text(std::string_view name, std::size_t longest = std::size_t{1} << 20);
  /// Exactly out.size() values.
  void reals(std::string_view name, std::span<double> out);
  void finite_reals(std::string_view name, std::span<double> out);
  void finite_floats(std::string_view name, std::span<float> out);
  void integers(std::string_view name, std::span<std::int64_t> out);
  /// As many values as the file holds, `most` at the most.
  std::vector<double> reals_up_to(std::string_view name, std::size_t most);
  std::vector<std::int64_t> integers_up_to(std::string_view name, std::size_t most);

  /// A field that must have the value it has now; otherwise an Error (data) has both.
  void expect_integer(std::string_view name, std::int64_t now);
  void expect_real(std::string_view name, double now);
  void expect_text(std::string_view name, std::string_view now);
  void expect_integers(std::string_view name, std::span<const std::int64_t> now);
  void expect_reals(std::string_view name, std::span<const double> now);

  [[nodiscard]] bool at_end() const { return rest_.empty(); }

 private:
  std::span<const std::byte> field(std::string_view name, char type, std::uint64_t& count);
  std::span<const std::byte> rest_;
};

}  // namespace rarefy
