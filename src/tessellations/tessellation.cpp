#include "rarefy/tessellations/tessellation.hpp"

namespace rarefy {

void Tessellation::assign(BatchView features, std::span<Index> cells, Workers& workers) const {
  constexpr Index kPiece = 64;
  workers.for_pieces(features.rows(), kPiece, [&](Index first, Index count) {
    assign(features.rows(first, count),
           cells.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)));
  });
}

std::span<const Index> cells_of(const Evaluated& batch, const Tessellation& tessellation,
                                std::vector<Index>& scratch, Workers& workers) {
  if (!batch.cells.empty()) return batch.cells;
  scratch.resize(static_cast<std::size_t>(batch.features.rows()));
  tessellation.assign(batch.features, scratch, workers);
  return scratch;
}

}  // namespace rarefy
