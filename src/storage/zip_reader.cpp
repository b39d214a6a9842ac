#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "rarefy/core/error.hpp"
#include "storage/zip_archive.hpp"
#include "storage/zip_format.hpp"

namespace rarefy {
namespace {

using namespace zip_format;

constexpr std::uint64_t kMostEntries = 100'000;
constexpr std::uint64_t kBestDeflate = 1032;  // no deflated byte yields more than this many

// Little-endian numbers, one after the other, as far as there are bytes.
class Numbers {
 public:
  Numbers(std::span<const std::byte> bytes, std::string_view name) : rest_(bytes), name_(name) {}
  std::uint16_t u16() { return static_cast<std::uint16_t>(get(2)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(get(4)); }
  std::uint64_t u64() { return get(8); }
  void skip(std::size_t count) { (void)take(count); }
  std::span<const std::byte> take(std::size_t count) {
    if (rest_.size() < count) refuse("it ends early");
    const auto taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }
  std::string text(std::size_t count) {
    const auto taken = take(count);
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }
  [[nodiscard]] bool empty() const { return rest_.empty(); }
  [[noreturn]] void refuse(std::string_view why) const {
    throw Error(ErrorKind::corrupt, name_, fmt::format("no whole archive ({})", why),
                "a .npz file");
  }

 private:
  std::uint64_t get(std::size_t size) {
    const auto taken = take(size);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      value |= std::to_integer<std::uint64_t>(taken[i]) << (8 * i);
    }
    return value;
  }
  std::span<const std::byte> rest_;
  std::string_view name_;
};

struct Directory {
  std::uint64_t offset = 0, size = 0, entries = 0;
};

std::uint32_t signature_at(std::span<const std::byte> bytes, std::uint64_t offset) {
  std::uint32_t value = 0;
  if (bytes.size() >= sizeof value && offset <= bytes.size() - sizeof value) {
    std::memcpy(&value, bytes.data() + offset, sizeof value);
  }
  return value;
}

// The end record is the last thing but a comment, whose length it tells.
std::uint64_t find_end(std::span<const std::byte> bytes, std::string_view name) {
  const Numbers none({}, name);
  if (bytes.empty()) none.refuse("an empty file");
  if (bytes.size() < kEndSize) none.refuse("it ends early");
  const auto last = bytes.size() - kEndSize;
  const auto first = last > kMax16 ? last - kMax16 : 0;
  for (auto at = last;; --at) {
    if (signature_at(bytes, at) == kEnd) {
      Numbers end(bytes.subspan(at + 20, 2), name);
      if (end.u16() == last - at) return at;
    }
    if (at == first) break;
  }
  none.refuse("it has no end record");
}

Directory find_directory(std::span<const std::byte> bytes, std::string_view name) {
  auto at = find_end(bytes, name);
  Numbers end(bytes.subspan(at + 4), name);
  Directory directory;
  const auto disk = end.u16();
  const auto first_disk = end.u16();
  const auto entries_here = end.u16();
  directory.entries = end.u16();
  directory.size = end.u32();
  directory.offset = end.u32();
  if (disk != 0 || first_disk != 0 || entries_here != directory.entries) {
    end.refuse("a part of a larger one");
  }
  if (at >= kZip64LocatorSize && signature_at(bytes, at - kZip64LocatorSize) == kZip64Locator) {
    Numbers locator(bytes.subspan(at - kZip64LocatorSize + 8, 8), name);
    const auto place = locator.u64();
    if (at < kZip64LocatorSize + kZip64EndSize || place != at - kZip64LocatorSize - kZip64EndSize ||
        signature_at(bytes, place) != kZip64End) {
      end.refuse("its end records contradict each other");
    }
    Numbers zip64(bytes.subspan(place + 24), name);
    (void)zip64.u64();
    directory.entries = zip64.u64();
    directory.size = zip64.u64();
    directory.offset = zip64.u64();
    at = place;
  }
  if (directory.offset > at || directory.size != at - directory.offset) {
    end.refuse("its directory is elsewhere than it says");
  }
  if (directory.entries > kMostEntries) {
    throw Error(ErrorKind::corrupt, name, fmt::format("{} arrays", directory.entries),
                fmt::format("at most {}", kMostEntries));
  }
  return directory;
}

// Numbers too large for 32 bits stand here, in this order, those that are.
void read_zip64(std::span<const std::byte> extra, ZipEntry& entry, std::string_view name) {
  for (Numbers fields(extra, name); !fields.empty();) {
    const auto id = fields.u16();
    const auto field = fields.take(fields.u16());
    if (id != kZip64Extra) continue;
    Numbers numbers(field, name);
    for (auto* const number : {&entry.size, &entry.packed_size, &entry.offset}) {
      if (*number == kMax32) *number = numbers.u64();
    }
    return;
  }
}

// What the directory and the header of an entry have in common.
void read_description(Numbers& from, ZipEntry& entry) {
  entry.flags = from.u16();
  entry.method = from.u16();
  from.skip(4);  // time and date
  entry.checksum = from.u32();
  entry.packed_size = from.u32();
  entry.size = from.u32();
}

ZipEntry read_entry(Numbers& directory, std::string_view name) {
  if (directory.u32() != kDirectoryHeader) directory.refuse("its directory is damaged");
  ZipEntry entry;
  directory.skip(4);  // versions
  read_description(directory, entry);
  const auto name_length = directory.u16();
  const auto extra_length = directory.u16();
  const auto comment_length = directory.u16();
  directory.skip(8);  // disk and attributes
  entry.offset = directory.u32();
  entry.name = directory.text(name_length);
  read_zip64(directory.take(extra_length), entry, name);
  directory.skip(comment_length);
  return entry;
}

// Where the bytes of an entry begin, whose header must say the same as the directory.
std::uint64_t data_of(std::span<const std::byte> before_directory, const ZipEntry& entry,
                      std::string_view name) {
  if (entry.offset > before_directory.size()) {
    Numbers({}, name).refuse("an entry is elsewhere than its directory says");
  }
  Numbers header(before_directory.subspan(static_cast<std::size_t>(entry.offset)), name);
  if (header.u32() != kLocalHeader) header.refuse("an entry has no header");
  ZipEntry here;
  header.skip(2);  // version
  read_description(header, here);
  const auto name_length = header.u16();
  const auto extra_length = header.u16();
  here.name = header.text(name_length);
  read_zip64(header.take(extra_length), here, name);
  const bool behind = (here.flags & kSizesBehind) != 0;
  if (here.name != entry.name || here.method != entry.method || here.flags != entry.flags ||
      (!behind && (here.checksum != entry.checksum || here.size != entry.size ||
                   here.packed_size != entry.packed_size))) {
    header.refuse("a header and the directory contradict each other");
  }
  const auto begin = entry.offset + kLocalHeaderSize + name_length + extra_length;
  if (entry.packed_size > before_directory.size() - begin) header.refuse("an entry ends early");
  return begin;
}

}  // namespace

std::uint32_t zip_checksum(std::span<const std::byte> bytes, std::uint32_t before) {
  if (bytes.empty()) return before;  // zlib would begin anew where there is no pointer either
  return static_cast<std::uint32_t>(
      crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

ZipReader::ZipReader(std::span<const std::byte> bytes, std::string_view name) : bytes_(bytes) {
  const auto place = find_directory(bytes, name);
  const auto before = bytes.first(static_cast<std::size_t>(place.offset));
  Numbers directory(
      bytes.subspan(static_cast<std::size_t>(place.offset), static_cast<std::size_t>(place.size)),
      name);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> extents;
  for (std::uint64_t i = 0; i < place.entries; ++i) {
    entries_.push_back(read_entry(directory, name));
    data_.push_back(data_of(before, entries_.back(), name));
    extents.emplace_back(entries_.back().offset, data_.back() + entries_.back().packed_size);
  }
  if (!directory.empty()) directory.refuse("its directory goes on after its end");
  // Entries that share bytes unpack to more than any file could hold.
  std::ranges::sort(extents);
  for (std::size_t i = 1; i < extents.size(); ++i) {
    if (extents[i].first < extents[i - 1].second) directory.refuse("entries overlap");
  }
}

std::span<const std::byte> ZipReader::packed(const ZipEntry& entry) const {
  const auto at = static_cast<std::size_t>(&entry - entries_.data());
  return bytes_.subspan(static_cast<std::size_t>(data_[at]),
                        static_cast<std::size_t>(entry.packed_size));
}

struct ZipStream::Inflater {
  Inflater() {
    constexpr int kRawDeflate = -MAX_WBITS;
    if (inflateInit2(&stream, kRawDeflate) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  z_stream stream{};
};

ZipStream::ZipStream(const ZipEntry& entry, std::span<const std::byte> packed, std::string name)
    : entry_(entry), packed_(packed), name_(std::move(name)) {
  if ((entry.flags & kEncrypted) != 0) {
    throw Error(ErrorKind::data, name_, "an encrypted array", "one in the clear");
  }
  if (entry.method != kStored && entry.method != kDeflated) {
    throw Error(ErrorKind::data, name_, fmt::format("compression method {}", entry.method),
                "0 (stored) or 8 (deflated), as NumPy writes");
  }
  const bool stored = entry.method == kStored;
  if (stored ? entry.size != entry.packed_size : entry.size / kBestDeflate > entry.packed_size) {
    throw Error(ErrorKind::corrupt, name_,
                fmt::format("a size of {} bytes, packed {}", entry.size, entry.packed_size),
                "two sizes that fit together");
  }
  if (!stored) inflater_ = std::make_unique<Inflater>();
}

ZipStream::~ZipStream() = default;

void ZipStream::corrupt(std::string_view why) const {
  throw Error(ErrorKind::corrupt, fmt::format("{}: cannot unpack: {}", name_, why));
}

void ZipStream::read(std::span<std::byte> out) {
  if (out.size() > entry_.size - done_) corrupt("it ends early");
  done_ += out.size();
  const auto whole = out;
  if (inflater_ == nullptr) {
    std::ranges::copy(packed_.first(out.size()), out.begin());
    packed_ = packed_.subspan(out.size());
  }
  constexpr std::size_t kMost = std::numeric_limits<uInt>::max() / 2;  // zlib counts in 32 bits
  while (inflater_ != nullptr && !out.empty()) {
    auto& stream = inflater_->stream;
    const auto given = std::min(packed_.size(), kMost);
    const auto room = std::min(out.size(), kMost);
    // zlib takes a writable pointer for what it only reads.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed_.data()));
    stream.avail_in = static_cast<uInt>(given);
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(room);
    const int result = inflate(&stream, Z_NO_FLUSH);
    if (result == Z_MEM_ERROR) throw std::bad_alloc();
    packed_ = packed_.subspan(given - stream.avail_in);
    out = out.subspan(room - stream.avail_out);
    if (result == Z_STREAM_END && !out.empty()) corrupt("it ends early");
    if (result != Z_OK && result != Z_STREAM_END) corrupt("its data are damaged");
  }
  checksum_ = zip_checksum(whole, checksum_);
}

void ZipStream::finish() {
  if (done_ != entry_.size) corrupt("it is longer than the array in it");
  if (inflater_ != nullptr) {
    auto& stream = inflater_->stream;
    Bytef beyond = 0;
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed_.data()));
    stream.avail_in = static_cast<uInt>(std::min<std::size_t>(packed_.size(), kMax16));
    stream.next_out = &beyond;
    stream.avail_out = 1;
    const int result = inflate(&stream, Z_FINISH);
    if (result == Z_MEM_ERROR) throw std::bad_alloc();
    if (stream.avail_out == 0) corrupt("it is longer than it says");
    if (result != Z_STREAM_END || stream.avail_in != 0) corrupt("its data are damaged");
  }
  if (checksum_ != entry_.checksum) corrupt("its checksum is another");
}

}  // namespace rarefy
