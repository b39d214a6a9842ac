// The cells of what a search remembers for its restarts.
#pragma once

#include <cstdint>
#include <memory>

#include "rarefy/core/feature_space.hpp"
#include "rarefy/tessellations/tessellation.hpp"

namespace rarefy {

/// What `cells` comes to: where it is 0, 16,384 of a grid, or 4,096 that must be searched for.
[[nodiscard]] Index memory_cells_for(Index cells, Index feature_dim);

/// About `cells` of them (memory_cells_for), none of which anything else counts: a search that
/// restarts from a memory of such cells never reads the archive that its coverage is measured with.
/// With one or two features they are a grid; with more, the Voronoi cells of points drawn
/// uniformly, since a memory needs no even cells and k-means takes long.
[[nodiscard]] std::shared_ptr<const Tessellation> make_memory_cells(const FeatureSpace& space,
                                                                    Index cells,
                                                                    std::uint64_t seed);

}  // namespace rarefy
