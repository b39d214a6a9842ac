#include "rarefy/tessellations/grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "rarefy/core/error.hpp"
#include "rarefy/core/fingerprint.hpp"

namespace rarefy {

Grid::Grid(FeatureSpace space, std::vector<Index> shape)
    : space_(std::move(space)), shape_(std::move(shape)) {
  space_.check();
  if (static_cast<Index>(shape_.size()) != space_.dim()) {
    throw Error(ErrorKind::parameter, "grid: shape", fmt::format("{} numbers", shape_.size()),
                fmt::format("{}, one for each feature", space_.dim()));
  }
  for (const Index intervals : shape_) {
    if (intervals < 1) {
      throw Error(ErrorKind::parameter, "grid: intervals along a feature",
                  fmt::format("{}", intervals), "at least 1");
    }
    if (intervals > kMostCells / cells_) {
      throw Error(ErrorKind::parameter, "grid: number of cells",
                  fmt::format("more than {}", kMostCells),
                  "fewer: fewer intervals, or a CVT archive");
    }
    cells_ *= intervals;
  }
}

void Grid::assign(BatchView features, std::span<Index> cells) const {
  for (Index i = 0; i < features.rows(); ++i) {
    Index cell = 0;
    for (Index d = 0; d < features.cols(); ++d) {
      const auto at = static_cast<std::size_t>(d);
      const auto intervals = static_cast<double>(shape_[at]);
      // Multiplied before it is divided, so that borders at round numbers come out exactly.
      const double position = (features(i, d) - space_.lower[at]) * intervals / space_.width(d);
      const auto along = static_cast<Index>(std::clamp(position, 0.0, intervals - 1.0));
      cell = cell * shape_[at] + along;
    }
    cells[static_cast<std::size_t>(i)] = cell;
  }
}

void Grid::cell_centre(Index cell, std::span<double> out) const {
  for (Index d = feature_dim(); d-- > 0;) {
    const auto at = static_cast<std::size_t>(d);
    const auto along = static_cast<double>(cell % shape_[at]);
    out[at] = space_.lower[at] + (along + 0.5) * space_.width(d) / static_cast<double>(shape_[at]);
    cell /= shape_[at];
  }
}

std::uint64_t Grid::fingerprint() const {
  return Fingerprint().add(space_).add(std::span<const Index>(shape_)).value();
}

std::vector<NamedArray> Grid::arrays() const {
  static_assert(std::is_same_v<Index, std::int64_t>);
  return {{"shape", std::span<const std::int64_t>(shape_), {feature_dim()}}};
}

}  // namespace rarefy
