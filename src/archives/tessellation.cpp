#include "rarefy/archives/tessellation.hpp"

namespace rarefy {

void Tessellation::assign(BatchView features, std::span<Index> cells, Workers& workers) const {
  constexpr Index kPiece = 64;
  workers.for_pieces(features.rows(), kPiece, [&](Index first, Index count) {
    assign(features.rows(first, count),
           cells.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)));
  });
}

}  // namespace rarefy
