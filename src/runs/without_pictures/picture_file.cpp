// What takes the place of runs/picture_file.cpp in a library without pictures (RAREFY_PICTURES).
#include "rarefy/runs/picture.hpp"

namespace rarefy {

std::vector<std::byte> picture_of(const Archive& /*archive*/, const DomainInfo& /*domain*/,
                                  const Config& /*config*/, std::int64_t /*iteration*/) {
  return {};
}

}  // namespace rarefy
