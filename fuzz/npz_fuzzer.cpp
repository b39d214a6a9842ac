// Whatever an .npz file holds, it is read or refused with an Error. A checksum keeps a fuzzer from
// most of what lies behind it, so the reader of the archive is also tried without what it packs.
#include <cstddef>
#include <cstdint>
#include <span>

#include "rarefy/core/error.hpp"
#include "rarefy/storage/npz.hpp"
#include "storage/zip_archive.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    (void)rarefy::decode_npz(bytes, "fuzzed.npz");
  } catch (const rarefy::Error&) {
  }
  try {
    const rarefy::ZipReader archive(bytes, "fuzzed.npz");
    for (const auto& entry : archive.entries()) {
      if (entry.size > 1'000'000) continue;
      rarefy::ZipStream stream(entry, archive.packed(entry), "entry");
      std::vector<std::byte> out(static_cast<std::size_t>(entry.size));
      stream.read(out);
      stream.finish();
    }
  } catch (const rarefy::Error&) {
  }
  return 0;
}
