// Memory that is read here and there goes faster on large pages: a processor remembers where a
// few thousand pages are, which at 4 KiB each is not much.
#pragma once

#include <cstddef>

namespace rarefy {

/// Asks the system for large pages where these bytes are, if there are enough of them. It may
/// decline.
void prefer_large_pages(void* memory, std::size_t bytes);

}  // namespace rarefy
