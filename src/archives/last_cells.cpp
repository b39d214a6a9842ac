#include "rarefy/archives/last_cells.hpp"

#include <algorithm>
#include <utility>

namespace rarefy {

LastCells::LastCells(std::shared_ptr<const Tessellation> tessellation)
    : tessellation_(std::move(tessellation)) {}

std::span<const Index> LastCells::of(BatchView features, Workers& workers) {
  const auto values = features.values();
  const auto rows = static_cast<std::size_t>(features.rows());
  if (rows != cells_.size() || !std::ranges::equal(values, features_)) {
    features_.clear();  // should assigning fail, nothing is remembered
    cells_.resize(rows);
    tessellation_->assign(features, cells_, workers);
    features_.assign(values.begin(), values.end());
  }
  return cells_;
}

}  // namespace rarefy
