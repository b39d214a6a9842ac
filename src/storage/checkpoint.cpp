#include "rarefy/storage/checkpoint.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <new>

#include "rarefy/core/error.hpp"
#include "rarefy/storage/atomic_file.hpp"
#include "storage/read_at.hpp"

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

using Checksum = std::array<unsigned char, 16>;

Checksum canonical(XXH128_hash_t hash) {
  XXH128_canonical_t bytes;
  XXH128_canonicalFromHash(&bytes, hash);
  return std::to_array(bytes.digest);
}

/// Of bytes that come in pieces.
class RunningChecksum {
 public:
  RunningChecksum() : state_(XXH3_createState(), &XXH3_freeState) {
    if (state_ == nullptr) throw std::bad_alloc();
    XXH3_128bits_reset(state_.get());
  }
  void add(std::span<const std::byte> bytes) {
    XXH3_128bits_update(state_.get(), bytes.data(), bytes.size());
    length_ += bytes.size();
  }
  [[nodiscard]] Checksum value() const { return canonical(XXH3_128bits_digest(state_.get())); }
  [[nodiscard]] std::uint64_t length() const { return length_; }

 private:
  std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state_;
  std::uint64_t length_ = 0;
};

/// The header, judged as far as that goes without the payload.
CheckpointHeader checked_header(std::span<const std::byte> beginning, std::uint64_t file_size,
                                std::string_view name) {
  const auto common = std::min(beginning.size(), kCheckpointMagic.size());
  if (common > 0 && std::memcmp(beginning.data(), kCheckpointMagic.data(), common) != 0) {
    throw Error(ErrorKind::corrupt, name, "another kind of file",
                fmt::format("a checkpoint, which begins with '{}'", kCheckpointMagic));
  }
  if (beginning.size() < sizeof(CheckpointHeader)) {
    throw Error(ErrorKind::corrupt, name, fmt::format("a file cut short at {} bytes", file_size),
                fmt::format("at least {}, the header of a checkpoint", sizeof(CheckpointHeader)));
  }
  CheckpointHeader header;
  std::memcpy(&header, beginning.data(), sizeof header);
  if (header.version != kVersion) {
    throw Error(ErrorKind::data, name, fmt::format("a checkpoint of version {}", header.version),
                fmt::format("version {}", kVersion));
  }
  if (header.reserved != 0) {
    throw Error(ErrorKind::corrupt, name, fmt::format("{} in the reserved field", header.reserved),
                "0");
  }
  const auto there = file_size - sizeof header;
  if (there < header.length) {
    throw Error(ErrorKind::corrupt, name, fmt::format("a payload cut short at {} bytes", there),
                fmt::format("{}, as the header says", header.length));
  }
  if (there > header.length) {
    throw Error(ErrorKind::corrupt, name,
                fmt::format("{} bytes after the payload", there - header.length),
                fmt::format("an end after {} bytes of payload", header.length));
  }
  return header;
}

void check_payload(const CheckpointHeader& header, std::span<const std::byte> payload,
                   std::string_view name) {
  const auto found = canonical(XXH3_128bits(payload.data(), payload.size()));
  if (found != header.checksum) {
    throw Error(ErrorKind::corrupt, name,
                fmt::format("a payload with checksum {:02x}", fmt::join(found, "")),
                fmt::format("{:02x}, as the header says", fmt::join(header.checksum, "")));
  }
}

}  // namespace

std::uint64_t checksum(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

void write_checkpoint(const FilePlace& file, std::span<const std::byte> payload) {
  write_checkpoint_in_pieces(file, [&](const ByteSink& sink) { sink(payload); });
}

void write_checkpoint_in_pieces(const FilePlace& file,
                                const std::function<void(const ByteSink&)>& write) {
  write_pieces_atomically(file, [&](FileSink& sink) {
    CheckpointHeader header;
    const auto bytes = std::as_bytes(std::span(&header, 1));
    sink.write(bytes);  // what it says is known when all is written
    RunningChecksum checksum;
    write([&](std::span<const std::byte> piece) {
      checksum.add(piece);
      sink.write(piece);
    });
    std::ranges::copy(kCheckpointMagic, header.magic.begin());
    header.length = checksum.length();
    header.checksum = checksum.value();
    sink.go_to(0);
    sink.write(bytes);
  });
}

std::vector<std::byte> read_checkpoint(const FilePlace& file) {
  // No limit: whatever was written can be read back, and the file is really that large.
  auto opened = open_to_read(file);
  const auto name = file.string();
  std::array<std::byte, sizeof(CheckpointHeader)> buffer{};
  const auto beginning = std::span(buffer).first(
      static_cast<std::size_t>(std::min<std::uintmax_t>(opened.size(), buffer.size())));
  opened.read(beginning);
  const auto header = checked_header(beginning, opened.size(), name);
  auto payload = opened.read_all(std::numeric_limits<std::uintmax_t>::max());
  check_payload(header, payload, name);
  return payload;
}

std::span<const std::byte> decode_checkpoint(std::span<const std::byte> file,
                                             std::string_view name) {
  const auto header = checked_header(file.first(std::min(file.size(), sizeof(CheckpointHeader))),
                                     file.size(), name);
  const auto payload = file.subspan(sizeof header);
  check_payload(header, payload, name);
  return payload;
}

}  // namespace rarefy
