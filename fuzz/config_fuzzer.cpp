// Whatever a configuration file holds, it is read or refused with an Error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "rarefy/core/error.hpp"
#include "rarefy/experiment/config_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  rarefy::Config config;
  try {
    config = rarefy::resolve(rarefy::parse_settings(text, "fuzzed.toml"));
  } catch (const rarefy::Error&) {
    return 0;
  }
  // What was read must survive being written and read again.
  const auto again =
      rarefy::resolve(rarefy::parse_settings(rarefy::to_toml(config), "written.toml"));
  if (!(again == config)) std::abort();
  return 0;
}
