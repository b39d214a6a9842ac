// The picture of an archive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rarefy/archives/archive.hpp"
#include "rarefy/domains/domain.hpp"
#include "rarefy/experiment/config.hpp"
#include "rarefy/pictures/heatmap.hpp"

namespace rarefy {

/// What was found in each cell: how often it was visited, on a logarithmic scale, or the best
/// objective where that varies. With more than two features, the number of elites over
/// the first two. Of a fine grid it refers to the archive and the domain, and lives no longer.
[[nodiscard]] pictures::Heatmap heatmap_of(const Archive& archive, const DomainInfo& domain,
                                           const Config& config, std::int64_t iteration);

/// The same as a PNG file.
[[nodiscard]] std::vector<std::byte> picture_of(const Archive& archive, const DomainInfo& domain,
                                                const Config& config, std::int64_t iteration);

/// The axes of a picture over feature space: limits, names, and one scale for both where the
/// features have the same width.
void add_axes(const DomainInfo& domain, pictures::Heatmap& map);

/// The lines and places of a domain with two features: the walls of a maze, and its start.
void add_landmarks(const DomainInfo& domain, pictures::Heatmap& map);

}  // namespace rarefy
