#include "rarefy/storage/npz.hpp"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>

#include "rarefy/core/error.hpp"
#include "rarefy/storage/atomic_file.hpp"

namespace rarefy {
namespace {

constexpr std::string_view kSuffix = ".npy";
constexpr std::uint16_t kFirstDay = 1U << 5U | 1U;  // 1980-01-01, the oldest date a zip can hold
constexpr std::uint32_t kMode = 0100644U << 16U;    // a regular file, where Unix looks for it
constexpr std::uint64_t kMostArrays = 100'000;
constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 30;  // unpacked, in all
constexpr std::uint64_t kBestDeflate = 1032;  // no deflated byte yields more than this many

struct CloseSource {
  void operator()(zip_source_t* source) const { zip_source_free(source); }
};
struct CloseArchive {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct CloseEntry {
  void operator()(zip_file_t* entry) const { zip_fclose(entry); }
};
using Source = std::unique_ptr<zip_source_t, CloseSource>;
using Archive = std::unique_ptr<zip_t, CloseArchive>;
using Entry = std::unique_ptr<zip_file_t, CloseEntry>;

class ZipError {
 public:
  ZipError() { zip_error_init(&error_); }
  ~ZipError() { zip_error_fini(&error_); }
  ZipError(const ZipError&) = delete;
  ZipError& operator=(const ZipError&) = delete;
  zip_error_t* get() { return &error_; }
  std::string text() { return zip_error_strerror(&error_); }

 private:
  zip_error_t error_{};
};

/// The archive owns its source from here on; `source` keeps a share of it.
Archive open_archive(zip_source_t* source, int flags, ZipError& error) {
  Archive archive(zip_open_from_source(source, flags, error.get()));
  if (archive) zip_source_keep(source);
  return archive;
}

// ---- writing -----------------------------------------------------------------------------------

[[noreturn]] void cannot_build(std::string_view reason) {
  throw Error(ErrorKind::io, fmt::format("npz archive: cannot build it: {}", reason));
}

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

/// Adds one array; its header lies in `header` and its values where they are, both until the
/// archive is closed: nothing is copied.
void add_array(zip_t* archive, const NamedArray& array, const std::vector<std::byte>& header) {
  const auto data = std::visit([](auto values) { return std::as_bytes(values); }, array.values);
  // The library takes a writable pointer for what it only reads.
  const auto fragment = [](std::span<const std::byte> bytes) {
    auto* first = reinterpret_cast<zip_uint8_t*>(const_cast<std::byte*>(bytes.data()));
    return zip_buffer_fragment_t{first, bytes.size()};
  };
  const std::array fragments{fragment(header), fragment(data)};
  Source source(zip_source_buffer_fragment(archive, fragments.data(), data.empty() ? 1 : 2, 0));
  if (!source) cannot_build(zip_strerror(archive));
  const auto file_name = array.name + std::string(kSuffix);
  const auto index = zip_file_add(archive, file_name.c_str(), source.get(), ZIP_FL_ENC_UTF_8);
  if (index < 0) cannot_build(zip_strerror(archive));
  (void)source.release();  // the archive's now
  const auto entry = static_cast<zip_uint64_t>(index);
  if (zip_set_file_compression(archive, entry, ZIP_CM_STORE, 0) != 0 ||
      zip_file_set_dostime(archive, entry, 0, kFirstDay, 0) != 0 ||
      zip_file_set_external_attributes(archive, entry, 0, ZIP_OPSYS_UNIX, kMode) != 0) {
    cannot_build(zip_strerror(archive));
  }
}

std::vector<std::byte> bytes_of(zip_source_t* source) {
  zip_stat_t status;
  zip_stat_init(&status);
  if (zip_source_stat(source, &status) != 0 || (status.valid & ZIP_STAT_SIZE) == 0 ||
      zip_source_open(source) != 0) {
    cannot_build(zip_error_strerror(zip_source_error(source)));
  }
  std::vector<std::byte> bytes(status.size);
  const auto got = zip_source_read(source, bytes.data(), bytes.size());
  zip_source_close(source);
  if (got < 0 || static_cast<zip_uint64_t>(got) != status.size) {
    cannot_build(zip_error_strerror(zip_source_error(source)));
  }
  return bytes;
}

// ---- reading -----------------------------------------------------------------------------------

/// The size of an entry once unpacked, as far as it can be believed.
std::size_t size_of(const zip_stat_t& status, std::uint64_t& budget, const std::string& name) {
  constexpr auto kNeeded = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE |
                           ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
  if ((status.valid & kNeeded) != kNeeded) {
    throw Error(ErrorKind::corrupt, name, "an incomplete entry", "its size and method");
  }
  if (status.encryption_method != ZIP_EM_NONE) {
    throw Error(ErrorKind::data, name, "an encrypted array", "one in the clear");
  }
  if (status.comp_method != ZIP_CM_STORE && status.comp_method != ZIP_CM_DEFLATE) {
    throw Error(ErrorKind::data, name, fmt::format("compression method {}", status.comp_method),
                "0 (stored) or 8 (deflated), as NumPy writes");
  }
  const bool stored = status.comp_method == ZIP_CM_STORE;
  if (stored ? status.size != status.comp_size : status.size / kBestDeflate > status.comp_size) {
    throw Error(ErrorKind::corrupt, name,
                fmt::format("a size of {} bytes, packed {}", status.size, status.comp_size),
                "two sizes that fit together");
  }
  if (status.size > budget) {
    throw Error(ErrorKind::data, name, fmt::format("{} bytes", status.size),
                fmt::format("at most {} in one archive", kMostBytes));
  }
  budget -= status.size;
  return static_cast<std::size_t>(status.size);
}

std::vector<std::byte> unpack(zip_t* archive, zip_uint64_t index, std::size_t size,
                              const std::string& name) {
  const auto corrupt = [&](std::string_view reason) {
    throw Error(ErrorKind::corrupt, fmt::format("{}: cannot unpack: {}", name, reason));
  };
  const Entry entry(zip_fopen_index(archive, index, 0));
  if (!entry) corrupt(zip_strerror(archive));
  std::vector<std::byte> bytes(size);
  for (std::span<std::byte> rest = bytes; !rest.empty();) {
    const auto got = zip_fread(entry.get(), rest.data(), rest.size());
    if (got < 0) corrupt(zip_file_strerror(entry.get()));
    if (got == 0) corrupt("it ends early");
    rest = rest.subspan(static_cast<std::size_t>(got));
  }
  // The checksum is compared when the end is met, which takes one read more.
  std::byte beyond{};
  const auto more = zip_fread(entry.get(), &beyond, 1);
  if (more < 0) corrupt(zip_file_strerror(entry.get()));
  if (more > 0) corrupt("it is longer than it says");
  return bytes;
}

}  // namespace

std::vector<std::byte> encode_npz(std::span<const NamedArray> arrays) {
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
    // libzip writes no file for an empty archive.
    throw Error(ErrorKind::parameter, "npz archive", "no array", "at least one");
  }

  ZipError error;
  const Source source(zip_source_buffer_create(nullptr, 0, 0, error.get()));
  if (!source) cannot_build(error.text());
  auto archive = open_archive(source.get(), ZIP_CREATE | ZIP_TRUNCATE, error);
  if (!archive) cannot_build(error.text());
  for (std::size_t i = 0; i < arrays.size(); ++i) add_array(archive.get(), arrays[i], headers[i]);
  if (zip_close(archive.get()) != 0) cannot_build(zip_strerror(archive.get()));
  (void)archive.release();  // closing it has freed it
  return bytes_of(source.get());
}

NpzArrays decode_npz(std::span<const std::byte> bytes, std::string_view name) {
  if (bytes.empty()) {  // which libzip takes for an archive without entries
    throw Error(ErrorKind::corrupt, name, "no whole archive (an empty file)", "a .npz file");
  }
  ZipError error;
  const Source source(zip_source_buffer_create(bytes.data(), bytes.size(), 0, error.get()));
  if (!source) throw Error(ErrorKind::io, fmt::format("{}: {}", name, error.text()));
  const auto archive = open_archive(source.get(), ZIP_RDONLY | ZIP_CHECKCONS, error);
  if (!archive) {
    throw Error(ErrorKind::corrupt, name, fmt::format("no whole archive ({})", error.text()),
                "a .npz file");
  }
  const auto count = static_cast<zip_uint64_t>(zip_get_num_entries(archive.get(), 0));
  if (count > kMostArrays) {
    throw Error(ErrorKind::corrupt, name, fmt::format("{} arrays", count),
                fmt::format("at most {}", kMostArrays));
  }

  NpzArrays arrays;
  std::uint64_t budget = kMostBytes;
  for (zip_uint64_t index = 0; index < count; ++index) {
    zip_stat_t status;
    zip_stat_init(&status);
    if (zip_stat_index(archive.get(), index, ZIP_FL_ENC_RAW, &status) != 0) {
      throw Error(ErrorKind::corrupt,
                  fmt::format("{}: entry {}: {}", name, index, zip_strerror(archive.get())));
    }
    const std::string_view file_name = (status.valid & ZIP_STAT_NAME) != 0 ? status.name : "";
    if (!file_name.ends_with(kSuffix) || file_name.size() == kSuffix.size()) {
      throw Error(ErrorKind::corrupt, fmt::format("{}: entry {}", name, index),
                  "a file of another kind", "an array, NAME.npy");
    }
    const std::string key(file_name.substr(0, file_name.size() - kSuffix.size()));
    // Quoted only where it can be shown: in a file from elsewhere it may be anything.
    const bool printable = std::ranges::all_of(key, [](char c) { return c >= ' ' && c <= '~'; });
    const auto full_name = fmt::format("{}[{}]", name, printable ? key : std::to_string(index));
    const auto size = size_of(status, budget, full_name);
    auto array = decode_npy(unpack(archive.get(), index, size, full_name), full_name);
    if (!arrays.emplace(key, std::move(array)).second) {
      throw Error(ErrorKind::corrupt, full_name, "two arrays of this name", "one");
    }
  }
  return arrays;
}

void write_npz(const FilePlace& file, std::span<const NamedArray> arrays) {
  write_file_atomically(file, encode_npz(arrays));
}

NpzArrays read_npz(const FilePlace& file) { return decode_npz(read_file(file), file.string()); }

const NpyArray& array_of(const NpzArrays& arrays, std::string_view key, std::string_view name) {
  const auto found = arrays.find(key);
  if (found != arrays.end()) return found->second;
  std::string names;
  for (const auto& [other, array] : arrays) names += (names.empty() ? "'" : ", '") + other + "'";
  throw Error(ErrorKind::data, name, "the arrays " + names, fmt::format("one named '{}'", key));
}

}  // namespace rarefy
