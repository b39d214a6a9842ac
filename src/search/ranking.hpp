// The order in which an emitter is shown its rows of a batch.
#pragma once

#include <cstdint>
#include <span>

#include "rarefy/core/batch.hpp"
#include "rarefy/core/random.hpp"

namespace rarefy {

/// What rows are ranked by; one entry a row.
struct Standings {
  std::span<const double> scores;
  std::span<const double> distances;     ///< outside of the box; empty where that does not rank
  std::span<const std::uint8_t> usable;  ///< empty: all are
  Index not_its_own = 0;                 ///< the first so many were not proposed by the emitter
};

struct Ranking {
  Index ranked = 0;   ///< rows to learn from: the first in the order
  Index outside = 0;  ///< of these, the last
};

/// Fills `order` with rows, best first: those inside by their scores, those that lie outside by how
/// far where that matters, those that are not the emitter's own, those that failed. Equals are in
/// random order: the order of rows is no reason to prefer one. Allocates nothing.
[[nodiscard]] Ranking rank_rows(const Standings& rows, RandomStream& random,
                                std::span<Index> order);

}  // namespace rarefy
