// What goes to standard output goes there whole, or the command fails.
#pragma once

#include <string_view>

namespace rarefy::command {

/// Throws an Error where it cannot be written (a full disk behind a redirection, say). A reader who
/// has closed the pipe wants no more of it, and that is no failure.
void print_data(std::string_view text);
/// The same for people to read: made printable (core/text.hpp).
void print_out(std::string_view text);

}  // namespace rarefy::command
