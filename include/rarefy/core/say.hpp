// Messages on standard error.
//
// What cannot be said must not end what is being done: a full disk behind a redirection, a closed
// pipe, a terminal that is gone. Nothing here throws, and no signal comes of it.
#pragma once

#include <string_view>

namespace rarefy {

/// A message for people, made printable (core/text.hpp).
void say(std::string_view text) noexcept;
/// The same for a text with control characters of our own, such as a bar that is drawn again.
void say_as_is(std::string_view text) noexcept;

}  // namespace rarefy
