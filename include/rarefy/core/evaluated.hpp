// A batch after it was evaluated: what passes from one part of the loop to the next.
#pragma once

#include <span>

#include "rarefy/core/batch.hpp"

namespace rarefy {

/// Every row is valid: rows that could not be evaluated have been left out (Search::tell).
/// All spans have one entry a row, or none where the caller does not know them.
struct Evaluated {
  BatchView features;
  std::span<const double> objectives = {};
  std::span<const Index> cells = {};    ///< in the archive's tessellation
  std::span<const double> scores = {};  ///< what Density::score gave, once it did
  /// Where it is only a part of an iteration (an emitter's rows): how many rows make one up.
  Index rows_of_an_iteration = 0;
};

}  // namespace rarefy
