#include <algorithm>
#include <limits>
#include <utility>

#include "storage/zip_archive.hpp"
#include "storage/zip_format.hpp"

namespace rarefy {
namespace {

using namespace zip_format;

// Little-endian numbers, one after the other.
class Record {
 public:
  explicit Record(std::uint32_t signature) { u32(signature); }
  Record& u16(std::uint64_t value) { return put(value, 2); }
  Record& u32(std::uint64_t value) { return put(value, 4); }
  Record& u64(std::uint64_t value) { return put(value, 8); }
  Record& text(std::string_view value) {
    for (const char c : value) bytes_.push_back(static_cast<std::byte>(c));
    return *this;
  }
  // At most what 32 bits can say; the whole value stands elsewhere then.
  Record& capped(std::uint64_t value) { return u32(std::min<std::uint64_t>(value, kMax32)); }
  void write(FileSink& sink) const { sink.write(bytes_); }

 private:
  Record& put(std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i) bytes_.push_back(static_cast<std::byte>(value >> (8 * i)));
    return *this;
  }
  std::vector<std::byte> bytes_;
};

bool large(std::uint64_t value) { return value >= kMax32; }

constexpr std::uint16_t kFirstDay = 1U << 5U | 1U;  // 1980-01-01, the oldest date a zip can hold
constexpr std::uint32_t kMode = 0100644U << 16U;    // a regular file, where Unix looks for it
constexpr std::uint16_t kUnix = 3U << 8U;
constexpr std::uint16_t kPlain = 20, kZip64 = 45;  // versions of the format, in tenths

}  // namespace

void ZipWriter::add(std::string name, std::span<const std::span<const std::byte>> parts) {
  ZipEntry entry;
  entry.name = std::move(name);
  entry.offset = sink_.place();
  for (const auto part : parts) {
    entry.checksum = zip_checksum(part, entry.checksum);
    entry.size += part.size();
  }
  entry.packed_size = entry.size;
  const bool zip64 = large(entry.size);
  Record header(kLocalHeader);
  header.u16(zip64 ? kZip64 : kPlain).u16(kUtf8).u16(kStored).u16(0).u16(kFirstDay);
  header.u32(entry.checksum).capped(entry.size).capped(entry.size);
  header.u16(entry.name.size()).u16(zip64 ? 20 : 0).text(entry.name);
  if (zip64) header.u16(kZip64Extra).u16(16).u64(entry.size).u64(entry.size);
  header.write(sink_);
  for (const auto part : parts) sink_.write(part);
  entries_.push_back(std::move(entry));
}

void ZipWriter::finish() {
  const auto directory = sink_.place();
  for (const auto& entry : entries_) {
    const auto extra = (large(entry.size) ? 16U : 0U) + (large(entry.offset) ? 8U : 0U);
    Record record(kDirectoryHeader);
    record.u16(kUnix | kZip64).u16(extra > 0 ? kZip64 : kPlain).u16(kUtf8).u16(kStored);
    record.u16(0).u16(kFirstDay).u32(entry.checksum).capped(entry.size).capped(entry.size);
    record.u16(entry.name.size()).u16(extra > 0 ? extra + 4 : 0).u16(0).u16(0).u16(0).u32(kMode);
    record.capped(entry.offset).text(entry.name);
    if (extra > 0) record.u16(kZip64Extra).u16(extra);
    if (large(entry.size)) record.u64(entry.size).u64(entry.size);
    if (large(entry.offset)) record.u64(entry.offset);
    record.write(sink_);
  }
  const auto end = sink_.place();
  const auto size = end - directory;
  if (large(directory) || large(size) || entries_.size() >= kMax16) {
    Record(kZip64End)
        .u64(kZip64EndSize - 12)
        .u16(kUnix | kZip64)
        .u16(kZip64)
        .u32(0)
        .u32(0)
        .u64(entries_.size())
        .u64(entries_.size())
        .u64(size)
        .u64(directory)
        .write(sink_);
    Record(kZip64Locator).u32(0).u64(end).u32(1).write(sink_);
  }
  const auto count = std::min<std::uint64_t>(entries_.size(), kMax16);
  Record(kEnd).u16(0).u16(0).u16(count).u16(count).capped(size).capped(directory).u16(0).write(
      sink_);
}

}  // namespace rarefy
