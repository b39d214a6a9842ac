#include "rarefy/storage/npz.hpp"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <memory>
#include <new>
#include <set>
#include <utility>

#include "rarefy/core/error.hpp"
#include "rarefy/storage/atomic_file.hpp"
#include "storage/npy_source.hpp"

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

 private:
  zip_error_t error_{};
};

/// What the library says went wrong, in a file that somebody else has made. Where it has had no
/// memory, it says that, or nothing at all.
std::string reason(zip_error_t* error) {
  const int code = zip_error_code_zip(error);
  if (code == ZIP_ER_MEMORY) throw std::bad_alloc();
  return code == ZIP_ER_OK ? "for an unknown reason" : zip_error_strerror(error);
}

/// The archive owns its source from here on; `source` keeps a share of it.
Archive open_archive(zip_source_t* source, int flags, ZipError& error) {
  Archive archive(zip_open_from_source(source, flags, error.get()));
  if (archive) zip_source_keep(source);
  return archive;
}

// ---- writing -----------------------------------------------------------------------------------

/// Nothing here depends on what others have made: without a reason it was memory.
[[noreturn]] void cannot_build(zip_error_t* error) {
  if (zip_error_code_zip(error) == ZIP_ER_OK) throw std::bad_alloc();
  throw Error(ErrorKind::io, fmt::format("npz archive: cannot build it: {}", reason(error)));
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
  if (!source) cannot_build(zip_get_error(archive));
  const auto file_name = array.name + std::string(kSuffix);
  const auto index = zip_file_add(archive, file_name.c_str(), source.get(), ZIP_FL_ENC_UTF_8);
  if (index < 0) cannot_build(zip_get_error(archive));
  (void)source.release();  // the archive's now
  const auto entry = static_cast<zip_uint64_t>(index);
  if (zip_set_file_compression(archive, entry, ZIP_CM_STORE, 0) != 0 ||
      zip_file_set_dostime(archive, entry, 0, kFirstDay, 0) != 0 ||
      zip_file_set_external_attributes(archive, entry, 0, ZIP_OPSYS_UNIX, kMode) != 0) {
    cannot_build(zip_get_error(archive));
  }
}

/// Where the library writes: into a sink, piece by piece. It goes back to put sizes and checksums
/// into headers.
class Target {
 public:
  explicit Target(FileSink& sink) : sink_(sink) {}

  [[nodiscard]] Source source(ZipError& error) {
    return Source(zip_source_function_create(&Target::call, this, error.get()));
  }
  /// What the sink has thrown, if anything.
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  // Called from C code, which no exception may pass through.
  static zip_int64_t call(void* self, void* data, zip_uint64_t length,
                          zip_source_cmd_t command) noexcept {
    auto& target = *static_cast<Target*>(self);
    try {
      return target.serve(data, length, command);
    } catch (...) {
      target.failure_ = std::current_exception();
      zip_error_set(target.error_.get(), ZIP_ER_WRITE, EIO);
      return -1;
    }
  }

  zip_int64_t serve(void* data, zip_uint64_t length, zip_source_cmd_t command) {
    switch (command) {
      case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(
            ZIP_SOURCE_SUPPORTS, ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE,
            ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE, ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL,
            ZIP_SOURCE_BEGIN_WRITE, ZIP_SOURCE_COMMIT_WRITE, ZIP_SOURCE_ROLLBACK_WRITE,
            ZIP_SOURCE_WRITE, ZIP_SOURCE_SEEK_WRITE, ZIP_SOURCE_TELL_WRITE, ZIP_SOURCE_REMOVE, -1);
      case ZIP_SOURCE_STAT:  // there is nothing yet
        zip_error_set(error_.get(), ZIP_ER_READ, ENOENT);
        return -1;
      case ZIP_SOURCE_ERROR: return zip_error_to_data(error_.get(), data, length);
      case ZIP_SOURCE_WRITE:
        sink_.write({static_cast<const std::byte*>(data), static_cast<std::size_t>(length)});
        end_ = std::max(end_, sink_.place());
        return static_cast<zip_int64_t>(length);
      case ZIP_SOURCE_TELL_WRITE: return static_cast<zip_int64_t>(sink_.place());
      case ZIP_SOURCE_SEEK_WRITE: {
        const auto place =
            zip_source_seek_compute_offset(sink_.place(), end_, data, length, error_.get());
        if (place < 0) return -1;
        sink_.go_to(static_cast<std::uint64_t>(place));
        return 0;
      }
      case ZIP_SOURCE_BEGIN_WRITE:
      case ZIP_SOURCE_COMMIT_WRITE:
      case ZIP_SOURCE_ROLLBACK_WRITE:
      case ZIP_SOURCE_FREE: return 0;
      default: zip_error_set(error_.get(), ZIP_ER_OPNOTSUPP, 0); return -1;
    }
  }

  FileSink& sink_;
  ZipError error_;
  std::uint64_t end_ = 0;
  std::exception_ptr failure_;
};

void write_arrays(std::span<const NamedArray> arrays,
                  std::span<const std::vector<std::byte>> headers, FileSink& sink) {
  Target target(sink);
  ZipError error;
  const auto source = target.source(error);
  if (!source) cannot_build(error.get());
  auto archive = open_archive(source.get(), ZIP_CREATE | ZIP_TRUNCATE, error);
  if (!archive) cannot_build(error.get());
  for (std::size_t i = 0; i < arrays.size(); ++i) add_array(archive.get(), arrays[i], headers[i]);
  if (zip_close(archive.get()) != 0) {
    target.rethrow();
    cannot_build(zip_get_error(archive.get()));
  }
  (void)archive.release();  // closing it has freed it
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
    // libzip writes no file for an empty archive.
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

/// The array in an entry whose size can be believed, straight into its place.
NpyArray unpack(zip_t* archive, zip_uint64_t index, std::size_t size, const std::string& name,
                const ShapeCheck& accept) {
  const auto corrupt = [&](std::string_view why) {
    throw Error(ErrorKind::corrupt, fmt::format("{}: cannot unpack: {}", name, why));
  };
  const Entry entry(zip_fopen_index(archive, index, 0));
  if (!entry) corrupt(reason(zip_get_error(archive)));
  const auto read = [&](std::span<std::byte> rest) {
    while (!rest.empty()) {
      const auto got = zip_fread(entry.get(), rest.data(), rest.size());
      if (got < 0) corrupt(reason(zip_file_get_error(entry.get())));
      if (got == 0) corrupt("it ends early");
      rest = rest.subspan(static_cast<std::size_t>(got));
    }
  };
  auto array = read_npy_array({.size = size, .read = read}, name, accept);
  // The checksum is compared when the end is met, which takes one read more.
  std::byte beyond{};
  const auto more = zip_fread(entry.get(), &beyond, 1);
  if (more < 0) corrupt(reason(zip_file_get_error(entry.get())));
  if (more > 0) corrupt("it is longer than it says");
  return array;
}

/// One entry of an archive that is open.
struct Listed {
  std::string key, full_name;
  std::size_t size = 0;
};

Listed listed(zip_t* archive, zip_uint64_t index, std::uint64_t& budget, std::string_view name) {
  zip_stat_t status;
  zip_stat_init(&status);
  if (zip_stat_index(archive, index, ZIP_FL_ENC_RAW, &status) != 0) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: entry {}: {}", name, index, reason(zip_get_error(archive))));
  }
  const std::string_view file_name = (status.valid & ZIP_STAT_NAME) != 0 ? status.name : "";
  if (!file_name.ends_with(kSuffix) || file_name.size() == kSuffix.size()) {
    throw Error(ErrorKind::corrupt, fmt::format("{}: entry {}", name, index),
                "a file of another kind", "an array, NAME.npy");
  }
  Listed entry;
  entry.key = file_name.substr(0, file_name.size() - kSuffix.size());
  // Quoted only where it can be shown: in a file from elsewhere it may be anything.
  const bool printable =
      std::ranges::all_of(entry.key, [](char c) { return c >= ' ' && c <= '~'; });
  entry.full_name = fmt::format("{}[{}]", name, printable ? entry.key : std::to_string(index));
  entry.size = size_of(status, budget, entry.full_name);
  return entry;
}

/// The arrays for which `wanted` holds; the others are listed but not unpacked, and are empty.
NpzArrays read_arrays(std::span<const std::byte> bytes, std::string_view name,
                      const std::function<bool(std::string_view)>& wanted,
                      const ShapeCheck& accept) {
  if (bytes.empty()) {  // which libzip takes for an archive without entries
    throw Error(ErrorKind::corrupt, name, "no whole archive (an empty file)", "a .npz file");
  }
  ZipError error;
  const Source source(zip_source_buffer_create(bytes.data(), bytes.size(), 0, error.get()));
  if (!source) throw std::bad_alloc();  // nothing else can be missing here
  const auto archive = open_archive(source.get(), ZIP_RDONLY | ZIP_CHECKCONS, error);
  if (!archive) {
    throw Error(ErrorKind::corrupt, name, fmt::format("no whole archive ({})", reason(error.get())),
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
    auto entry = listed(archive.get(), index, budget, name);
    NpyArray array;
    if (wanted(entry.key)) {
      array = unpack(archive.get(), index, entry.size, entry.full_name, accept);
    }
    if (!arrays.emplace(std::move(entry.key), std::move(array)).second) {
      throw Error(ErrorKind::corrupt, entry.full_name, "two arrays of this name", "one");
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
