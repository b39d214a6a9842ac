// What a page would unpack (src/reports/packing.hpp), by rules of its own.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <vector>

inline std::vector<std::uint8_t> unpacked(std::string_view text) {
  std::vector<std::uint8_t> small;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    const auto digit =
        std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
            .find(c);
    if (digit == std::string_view::npos) throw std::runtime_error("no base64");
    bits = bits << 6U | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    small.push_back(static_cast<std::uint8_t>(bits >> static_cast<unsigned>(count)));
  }
  std::vector<std::uint8_t> large(std::size_t{16} << 20U);
  auto size = static_cast<uLongf>(large.size());
  if (uncompress(large.data(), &size, small.data(), small.size()) != Z_OK) {
    throw std::runtime_error("not deflated");
  }
  large.resize(size);
  return large;
}
