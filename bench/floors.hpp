// What the pieces of an iteration cost when nothing else is done: measured here, in this run.
#pragma once

#include "rarefy/core/batch.hpp"

namespace rarefy::bench {

/// Seconds on one thread.
struct Floors {
  double normal = 0;       ///< one standard normal number
  double multiply = 0;     ///< (batch/2 x n) times (n x n), one emitter's mirrored samples
  double cholesky = 0;     ///< n x n
  double rank_update = 0;  ///< of n x n by mu + 1 rows
  double panel_query = 0;  ///< one density by panels, in 2-D
  double kernel_2d = 0;    ///< one Gaussian kernel of a direct sum
  double kernel_10d = 0;
  double nearest_10d = 0;  ///< one centroid compared with one point
};

[[nodiscard]] Floors measure_floors(Index n, Index batch);

}  // namespace rarefy::bench
