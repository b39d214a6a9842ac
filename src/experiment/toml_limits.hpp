#pragma once

#include <string_view>

namespace rarefy {

/// Throws Error (parameter) for a text that is too large, or whose tables and lists are nested too
/// deeply, to be given to the parser: it works through them by recursion, and a file of 80 kB
/// could use up the stack. `file` stands for it in messages.
void check_toml_limits(std::string_view text, std::string_view file);

}  // namespace rarefy
