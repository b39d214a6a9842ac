// The numbers of the zip format that its reader and its writer share.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rarefy::zip_format {

inline constexpr std::uint32_t kLocalHeader = 0x04034b50, kDirectoryHeader = 0x02014b50,
                               kEnd = 0x06054b50, kZip64End = 0x06064b50,
                               kZip64Locator = 0x07064b50;
// Of those, without what varies.
inline constexpr std::size_t kLocalHeaderSize = 30, kDirectoryHeaderSize = 46, kEndSize = 22,
                             kZip64EndSize = 56, kZip64LocatorSize = 20;
inline constexpr std::uint16_t kStored = 0, kDeflated = 8;
inline constexpr std::uint16_t kZip64Extra = 1;
// Bits of an entry's flags: its sizes stand behind its data; its name is UTF-8.
inline constexpr std::uint16_t kEncrypted = 1U, kSizesBehind = 1U << 3U, kUtf8 = 1U << 11U;
// These say that a number stands elsewhere, in 64 bits.
inline constexpr std::uint32_t kMax32 = 0xffffffff;
inline constexpr std::uint16_t kMax16 = 0xffff;

}  // namespace rarefy::zip_format
