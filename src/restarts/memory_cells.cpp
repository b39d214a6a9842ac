#include "rarefy/restarts/memory_cells.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

#include "rarefy/core/error.hpp"
#include "rarefy/core/random.hpp"
#include "rarefy/tessellations/cvt.hpp"
#include "rarefy/tessellations/grid.hpp"

namespace rarefy {

Index memory_cells_for(Index cells, Index feature_dim) {
  constexpr Index kOfGrid = 128 * 128, kVoronoi = 4096;
  if (cells > 0) return cells;
  return feature_dim <= 2 ? kOfGrid : kVoronoi;
}

std::shared_ptr<const Tessellation> make_memory_cells(const FeatureSpace& space, Index cells,
                                                      std::uint64_t seed) {
  if (cells < 0) {
    throw Error(ErrorKind::parameter, "memory-cells", fmt::format("{}", cells), "at least 0");
  }
  cells = memory_cells_for(cells, space.dim());
  if (space.dim() == 1) return std::make_shared<Grid>(space, std::vector<Index>{cells});
  if (space.dim() == 2) {
    const auto side = static_cast<Index>(std::floor(std::sqrt(static_cast<double>(cells))));
    return std::make_shared<Grid>(space, std::vector<Index>{side, side});
  }
  Batch points(cells, space.dim());
  RandomStream random({.seed = seed, .purpose = Purpose::memory});
  for (Index i = 0; i < cells; ++i) {
    for (Index d = 0; d < space.dim(); ++d) {
      const double lower = space.lower[static_cast<std::size_t>(d)];
      points(i, d) = lower + space.width(d) * random.uniform();
    }
  }
  return std::make_shared<Cvt>(space, std::move(points));
}

}  // namespace rarefy
