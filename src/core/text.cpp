#include "rarefy/core/text.hpp"

#include <fmt/format.h>

#include <iterator>

namespace rarefy {
namespace {

constexpr char32_t kNone = 0xffffffff;

struct Character {
  char32_t code = kNone;   // kNone: not UTF-8
  std::size_t length = 1;  // in bytes
};

// The first character of a text that is not empty. The Unicode Standard, table 3-7: no longer
// forms than needed, no halves of pairs, nothing beyond U+10FFFF.
Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return static_cast<char32_t>(static_cast<unsigned char>(text[i]));
  };
  const char32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return {};
  char32_t code = lead & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return {};
    code = (code << 6U) | (byte(i) & 0x3fU);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return {};
  return {code, length};
}

bool is_control(char32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) ||  // C0, DEL, C1
         code == 0x200e || code == 0x200f || code == 0x061c ||
         (code >= 0x2028 && code <= 0x202e) ||  // line ends, and the direction of writing
         (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::string with_commas(std::int64_t value) {
  auto digits = std::to_string(value);
  const std::int64_t sign = value < 0 ? 1 : 0;
  for (auto at = static_cast<std::int64_t>(digits.size()) - 3; at > sign; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  }
  return digits;
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto [code, length] = first_character(text);
    if (code == '\n' || code == '\t' || (code != kNone && !is_control(code))) {
      out += text.substr(0, length);
    } else if (code == kNone || code < 0x100) {
      const auto value = code == kNone ? static_cast<unsigned char>(text[0]) : code;
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned>(value));
    } else {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(code));
    }
    text.remove_prefix(length);
  }
  return out;
}

bool is_plain_line(std::string_view text) {
  return text.find_first_of("\n\t") == std::string_view::npos && printable(text) == text;
}

}  // namespace rarefy
