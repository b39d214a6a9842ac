#include "rarefy/storage/checkpoint.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

#include "rarefy/core/error.hpp"
#include "rarefy/storage/atomic_file.hpp"

namespace rarefy {
namespace {

static_assert(std::endian::native == std::endian::little,
              "headers are written as they lie in memory, which must be little-endian");

constexpr std::string_view kCheckpointMagic = "RAREFYCK";
constexpr std::uint32_t kVersion = 1;

struct CheckpointHeader {
  std::array<char, 8> magic{};
  std::uint32_t version = kVersion;
  std::uint32_t reserved = 0;
  std::uint64_t length = 0;
  std::array<unsigned char, 16> checksum{};
};
static_assert(sizeof(CheckpointHeader) == 40, "the layout has no gaps");

std::array<unsigned char, 16> checksum_of(std::span<const std::byte> payload) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(payload.data(), payload.size()));
  return std::to_array(canonical.digest);
}

}  // namespace

std::uint64_t checksum(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

void write_checkpoint(const FilePlace& file, std::span<const std::byte> payload) {
  CheckpointHeader header{.length = payload.size(), .checksum = checksum_of(payload)};
  std::ranges::copy(kCheckpointMagic, header.magic.begin());
  const std::array parts{std::span<const std::byte>(std::as_bytes(std::span(&header, 1))), payload};
  write_parts_atomically(file, parts);
}

std::vector<std::byte> read_checkpoint(const FilePlace& file) {
  // No limit: whatever was written can be read back, and the file is really that large.
  auto bytes = read_file(file, std::numeric_limits<std::uintmax_t>::max());
  const auto payload = decode_checkpoint(bytes, file.string());
  bytes.erase(bytes.begin(), bytes.end() - static_cast<std::ptrdiff_t>(payload.size()));
  return bytes;
}

std::span<const std::byte> decode_checkpoint(std::span<const std::byte> file,
                                             std::string_view name) {
  const auto common = std::min(file.size(), kCheckpointMagic.size());
  if (common > 0 && std::memcmp(file.data(), kCheckpointMagic.data(), common) != 0) {
    throw Error(ErrorKind::corrupt, name, "another kind of file",
                fmt::format("a checkpoint, which begins with '{}'", kCheckpointMagic));
  }
  if (file.size() < sizeof(CheckpointHeader)) {
    throw Error(ErrorKind::corrupt, name, fmt::format("a file cut short at {} bytes", file.size()),
                fmt::format("at least {}, the header of a checkpoint", sizeof(CheckpointHeader)));
  }
  CheckpointHeader header;
  std::memcpy(&header, file.data(), sizeof header);
  const auto payload = file.subspan(sizeof header);
  if (header.version != kVersion) {
    throw Error(ErrorKind::data, name, fmt::format("a checkpoint of version {}", header.version),
                fmt::format("version {}", kVersion));
  }
  if (header.reserved != 0) {
    throw Error(ErrorKind::corrupt, name, fmt::format("{} in the reserved field", header.reserved),
                "0");
  }
  if (payload.size() < header.length) {
    throw Error(ErrorKind::corrupt, name,
                fmt::format("a payload cut short at {} bytes", payload.size()),
                fmt::format("{}, as the header says", header.length));
  }
  if (payload.size() > header.length) {
    throw Error(ErrorKind::corrupt, name,
                fmt::format("{} bytes after the payload", payload.size() - header.length),
                fmt::format("an end after {} bytes of payload", header.length));
  }
  const auto found = checksum_of(payload);
  if (found != header.checksum) {
    throw Error(ErrorKind::corrupt, name,
                fmt::format("a payload with checksum {:02x}", fmt::join(found, "")),
                fmt::format("{:02x}, as the header says", fmt::join(header.checksum, "")));
  }
  return payload;
}

}  // namespace rarefy
