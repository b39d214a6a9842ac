#include "rarefy/core/text.hpp"

namespace rarefy {

std::string with_commas(std::int64_t value) {
  auto digits = std::to_string(value);
  const std::int64_t sign = value < 0 ? 1 : 0;
  for (auto at = static_cast<std::int64_t>(digits.size()) - 3; at > sign; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  }
  return digits;
}

}  // namespace rarefy
