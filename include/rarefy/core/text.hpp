// Texts as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rarefy {

/// 1234567 as "1,234,567", whatever the user's locale.
[[nodiscard]] std::string with_commas(std::int64_t value);

/// The text with nothing in it that could make a terminal do anything but print: control
/// characters except line ends and tabs, marks that turn the direction of writing, and bytes that
/// are no UTF-8 are written out, as \x1b or \u202e. For what comes from files and names.
[[nodiscard]] std::string printable(std::string_view text);

/// Whether printable() leaves it as it is, and it is a single line.
[[nodiscard]] bool is_plain_line(std::string_view text);

}  // namespace rarefy
