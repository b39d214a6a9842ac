#include "rarefy/storage/npz.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "rarefy/core/error.hpp"
#include "rarefy/storage/atomic_file.hpp"
#include "storage/npy_source.hpp"
#include "storage/zip_archive.hpp"

namespace rarefy {
namespace {

constexpr std::string_view kSuffix = ".npy";
constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 30;  // unpacked, in all

// ---- writing -----------------------------------------------------------------------------------

void check_name(const std::string& name, std::set<std::string_view>& seen) {
  const bool plain = !name.empty() && name.size() <= 200 && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
  if (!plain || name.front() == '.') {
    throw Error(ErrorKind::parameter, "name of an array", fmt::format("'{}'", name),
                "1 to 200 letters, digits, '_', '-' or '.', the first no '.'");
  }
  if (!seen.insert(name).second) {
    throw Error(ErrorKind::parameter, "name of an array", fmt::format("'{}' twice", name),
                "every name once");
  }
}

void write_arrays(std::span<const NamedArray> arrays,
                  std::span<const std::vector<std::byte>> headers, FileSink& sink) {
  ZipWriter archive(sink);
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const auto values = std::visit([](auto all) { return std::as_bytes(all); }, arrays[i].values);
    archive.add(arrays[i].name + std::string(kSuffix),
                std::array{std::span<const std::byte>(headers[i]), values});
  }
  archive.finish();
}

std::vector<std::vector<std::byte>> checked_headers(std::span<const NamedArray> arrays) {
  std::set<std::string_view> seen;
  std::vector<std::vector<std::byte>> headers;
  headers.reserve(arrays.size());
  for (const auto& array : arrays) {
    check_name(array.name, seen);
    const auto count = std::visit([](auto values) { return values.size(); }, array.values);
    check_npy_shape(array.shape, count);
    headers.push_back(encode_npy_header(
        array.values.index() == 0 ? NpyArray::Type::float64 : NpyArray::Type::int64, array.shape));
  }
  if (arrays.empty()) {
    throw Error(ErrorKind::parameter, "npz archive", "no array", "at least one");
  }
  return headers;
}

/// A file in memory.
class MemorySink : public FileSink {
 public:
  void write(std::span<const std::byte> bytes) override {
    const auto end = static_cast<std::size_t>(place_) + bytes.size();
    if (end > bytes_.size()) bytes_.resize(end);
    std::ranges::copy(bytes, bytes_.begin() + static_cast<std::ptrdiff_t>(place_));
    place_ = end;
  }
  [[nodiscard]] std::uint64_t place() const override { return place_; }
  void go_to(std::uint64_t place) override { place_ = place; }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
  std::uint64_t place_ = 0;
};

// ---- reading -----------------------------------------------------------------------------------

/// The array in an entry, straight into its place.
NpyArray unpack(const ZipReader& archive, const ZipEntry& entry, const std::string& name,
                const ShapeCheck& accept) {
  ZipStream stream(entry, archive.packed(entry), name);
  auto array = read_npy_array(
      {.size = entry.size, .read = [&](std::span<std::byte> out) { stream.read(out); }}, name,
      accept);
  stream.finish();
  return array;
}

/// The name of the array in an entry.
std::string key_of(const ZipEntry& entry, std::size_t index, std::string_view name) {
  if (!entry.name.ends_with(kSuffix) || entry.name.size() == kSuffix.size()) {
    throw Error(ErrorKind::corrupt, fmt::format("{}: entry {}", name, index),
                "a file of another kind", "an array, NAME.npy");
  }
  return entry.name.substr(0, entry.name.size() - kSuffix.size());
}

/// The arrays for which `wanted` holds; the others are listed but not unpacked, and are empty.
NpzArrays read_arrays(std::span<const std::byte> bytes, std::string_view name,
                      const std::function<bool(std::string_view)>& wanted,
                      const ShapeCheck& accept) {
  const ZipReader archive(bytes, name);
  NpzArrays arrays;
  std::uint64_t budget = kMostBytes;
  std::size_t index = 0;
  for (const auto& entry : archive.entries()) {
    const auto key = key_of(entry, index, name);
    // Quoted only where it can be shown: in a file from elsewhere it may be anything.
    const bool printable = std::ranges::all_of(key, [](char c) { return c >= ' ' && c <= '~'; });
    const auto full_name = fmt::format("{}[{}]", name, printable ? key : std::to_string(index));
    ++index;
    if (entry.size > budget) {
      throw Error(ErrorKind::data, full_name, fmt::format("{} bytes", entry.size),
                  fmt::format("at most {} in one archive", kMostBytes));
    }
    budget -= entry.size;
    auto array = wanted(key) ? unpack(archive, entry, full_name, accept) : NpyArray();
    if (!arrays.emplace(key, std::move(array)).second) {
      throw Error(ErrorKind::corrupt, full_name, "two arrays of this name", "one");
    }
  }
  return arrays;
}

}  // namespace

std::vector<std::byte> encode_npz(std::span<const NamedArray> arrays) {
  MemorySink sink;
  write_arrays(arrays, checked_headers(arrays), sink);
  return sink.take();
}

NpzArrays decode_npz(std::span<const std::byte> bytes, std::string_view name) {
  return read_arrays(bytes, name, [](std::string_view) { return true; }, {});
}

void write_npz(const FilePlace& file, std::span<const NamedArray> arrays) {
  const auto headers = checked_headers(arrays);
  write_pieces_atomically(file, [&](FileSink& sink) { write_arrays(arrays, headers, sink); });
}

NpzArrays read_npz(const FilePlace& file) { return decode_npz(read_file(file), file.string()); }

NpyArray read_npz_array(const FilePlace& file, std::string_view key, const ShapeCheck& accept) {
  const auto name = file.string();
  auto arrays = read_arrays(
      read_file(file), name, [&](std::string_view other) { return other == key; }, accept);
  (void)array_of(arrays, key, name);
  return std::move(arrays.find(key)->second);
}

const NpyArray& array_of(const NpzArrays& arrays, std::string_view key, std::string_view name) {
  const auto found = arrays.find(key);
  if (found != arrays.end()) return found->second;
  std::string names;
  for (const auto& [other, array] : arrays) names += (names.empty() ? "'" : ", '") + other + "'";
  throw Error(ErrorKind::data, name, "the arrays " + names, fmt::format("one named '{}'", key));
}

}  // namespace rarefy
