#include "reports/page_shell.hpp"

#include <cstddef>

#ifndef RAREFY_PAGE_FILE  // compiled alone, by `make lint`
#define RAREFY_PAGE_FILE "/dev/null"
#endif

// The assembler puts the file in as it is: as an array of numbers it would take a compiler minutes.
// RAREFY_PAGE_FILE comes from CMakeLists.txt, which also knows that this depends on it.
// NOLINTNEXTLINE(hicpp-no-assembler)
asm(".pushsection .rodata\n"
    ".global rarefy_page_begin\n"
    ".global rarefy_page_end\n"
    "rarefy_page_begin:\n"
    ".incbin \"" RAREFY_PAGE_FILE
    "\"\n"
    "rarefy_page_end:\n"
    ".byte 0\n"
    ".popsection\n");

extern "C" {
extern const char rarefy_page_begin[];  // NOLINT(readability-identifier-naming)
extern const char rarefy_page_end[];    // NOLINT(readability-identifier-naming)
}

namespace rarefy {

std::string_view page_shell() {
  return {rarefy_page_begin, static_cast<std::size_t>(rarefy_page_end - rarefy_page_begin)};
}

}  // namespace rarefy
