#include "reports/packing.hpp"

#include <zlib.h>

#include <cstdint>
#include <new>
#include <vector>

#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

std::string base64(std::span<const std::byte> bytes) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t k) {
      return i + k < bytes.size() ? std::to_integer<std::uint32_t>(bytes[i + k]) : 0U;
    };
    const std::uint32_t three = byte(0) << 16U | byte(1) << 8U | byte(2);
    for (std::uint32_t k = 0; k < 4; ++k) {
      text += i + k <= bytes.size() ? kDigits[three >> (18U - 6U * k) & 63U] : '=';
    }
  }
  return text;
}

}  // namespace

std::string packed(std::span<const std::byte> bytes) {
  auto size = compressBound(bytes.size());
  std::vector<std::byte> small(size);
  // zlib has bytes of another name.
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
  const int status = compress2(reinterpret_cast<Bytef*>(small.data()), &size,
                               // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
                               reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), 9);
  if (status == Z_MEM_ERROR) throw std::bad_alloc();
  if (status != Z_OK) throw Error(ErrorKind::state, "zlib could not deflate the data of a page");
  small.resize(size);
  return base64(small);
}

std::string packed(std::string_view text) {
  return packed(std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace rarefy
