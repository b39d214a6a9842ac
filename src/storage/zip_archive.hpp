// Zip archives, as far as .npz files need them (PKWARE, APPNOTE.TXT 6.3.10: sections 4.3
// and 4.5.3).
//
// By hand, on zlib's checksum and inflation: a library for all of zip brings ciphers and other
// packers with it, which a Python package would have to carry, keeps a copy of what it writes, and
// goes back in the file. Entries are written stored; read are stored and deflated ones, of any
// size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rarefy/storage/file_sink.hpp"

namespace rarefy {

struct ZipEntry {
  std::string name;
  std::uint64_t size = 0;         ///< once unpacked
  std::uint64_t packed_size = 0;  ///< in the file
  std::uint64_t offset = 0;       ///< of its header
  std::uint32_t checksum = 0;     ///< CRC-32 of what is unpacked
  std::uint16_t method = 0;
  std::uint16_t flags = 0;
};

/// CRC-32, of what has it so far and `bytes`.
[[nodiscard]] std::uint32_t zip_checksum(std::span<const std::byte> bytes, std::uint32_t before);

class ZipWriter {
 public:
  explicit ZipWriter(FileSink& sink) : sink_(sink) {}

  /// An entry of all the parts, one after the other; they are not copied.
  void add(std::string name, std::span<const std::span<const std::byte>> parts);
  /// The directory. Without it there is no archive.
  void finish();

 private:
  FileSink& sink_;
  std::vector<ZipEntry> entries_;
};

/// An archive in memory, which must outlive this. Nothing in it is believed: Error (corrupt) where
/// headers and directory do not agree, or entries overlap; Error (data) for kinds that NumPy does
/// not write. Errors call the archive `name`.
class ZipReader {
 public:
  ZipReader(std::span<const std::byte> bytes, std::string_view name);

  [[nodiscard]] std::span<const ZipEntry> entries() const { return entries_; }
  /// Its bytes in the file.
  [[nodiscard]] std::span<const std::byte> packed(const ZipEntry& entry) const;

 private:
  std::span<const std::byte> bytes_;
  std::vector<ZipEntry> entries_;
  std::vector<std::uint64_t> data_;  // where each one's bytes begin
};

/// Unpacks an entry, piece by piece. Error (corrupt), which calls it `name`, where it ends early,
/// goes on after its end, or has another checksum.
class ZipStream {
 public:
  ZipStream(const ZipEntry& entry, std::span<const std::byte> packed, std::string name);
  ~ZipStream();
  ZipStream(const ZipStream&) = delete;
  ZipStream& operator=(const ZipStream&) = delete;

  /// Fills all of `out`.
  void read(std::span<std::byte> out);
  /// To be called when everything was read.
  void finish();

 private:
  struct Inflater;
  [[noreturn]] void corrupt(std::string_view why) const;

  const ZipEntry& entry_;
  std::span<const std::byte> packed_;
  std::string name_;
  std::uint32_t checksum_ = 0;
  std::uint64_t done_ = 0;
  std::unique_ptr<Inflater> inflater_;  // where it is deflated
};

}  // namespace rarefy
