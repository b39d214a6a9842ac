// Bytes as a text that a page can hold.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace rarefy {

/// Deflated (with the header of zlib), in base64.
[[nodiscard]] std::string packed(std::span<const std::byte> bytes);
[[nodiscard]] std::string packed(std::string_view text);

}  // namespace rarefy
