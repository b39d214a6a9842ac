// Numbers as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace rarefy {

/// 1234567 as "1,234,567", whatever the user's locale.
[[nodiscard]] std::string with_commas(std::int64_t value);

}  // namespace rarefy
