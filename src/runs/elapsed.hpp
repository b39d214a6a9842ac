// Seconds that have passed.
#pragma once

#include <chrono>

namespace rarefy {

[[nodiscard]] inline double seconds_since(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

}  // namespace rarefy
