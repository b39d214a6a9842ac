#include "rarefy/runs/picture.hpp"

namespace rarefy {

std::vector<std::byte> picture_of(const Archive& archive, const DomainInfo& domain,
                                  const Config& config, std::int64_t iteration) {
  return pictures::render_png(heatmap_of(archive, domain, config, iteration));
}

}  // namespace rarefy
