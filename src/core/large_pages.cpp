#include "core/large_pages.hpp"

#include <cstdint>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace rarefy {

void prefer_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__)
  constexpr std::uintptr_t kLarge = std::uintptr_t{1} << 21;
  const auto beyond = reinterpret_cast<std::uintptr_t>(memory) % kLarge;
  const std::size_t skip = beyond == 0 ? 0 : kLarge - beyond;
  if (bytes < skip + kLarge) return;
  // Declined or not, the memory is there.
  static_cast<void>(madvise(static_cast<std::byte*>(memory) + skip,
                            (bytes - skip) / kLarge * kLarge, MADV_HUGEPAGE));
#endif
}

}  // namespace rarefy
