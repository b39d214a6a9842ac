// Seeds as people write them: "1-10", "1-3,7".
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace rarefy {

/// Each once, in the order in which they are named. Throws Error (parameter) for anything else.
[[nodiscard]] std::vector<std::int64_t> parse_seeds(std::string_view text);

}  // namespace rarefy
