// The picture of a density, for one or two features.
#pragma once

#include <cstdint>
#include <vector>

#include "rarefy/core/batch.hpp"
#include "rarefy/core/workers.hpp"
#include "rarefy/density/density_estimate.hpp"
#include "rarefy/domains/domain.hpp"
#include "rarefy/experiment/config.hpp"
#include "rarefy/pictures/heatmap.hpp"

namespace rarefy {

/// A density at the middles of a raster over feature space.
struct DensityRaster {
  std::vector<double> x, y;  ///< middles of columns and rows; with one feature, y is empty
  Batch log_density;         ///< a row for each y (or one), a column for each x
};

/// Throws with more than two features.
[[nodiscard]] DensityRaster density_raster(DensityEstimate& density, const DomainInfo& domain,
                                           Workers& workers);

/// Colours by the logarithm of the density, over six orders of magnitude below its peak at the
/// most; a dot for each of the features it was made of.
[[nodiscard]] pictures::Heatmap density_map(const DensityRaster& raster,
                                            const DensityEstimate& density,
                                            const DomainInfo& domain, const Config& config,
                                            std::int64_t iteration);

}  // namespace rarefy
