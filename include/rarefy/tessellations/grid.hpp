// Equal boxes, any number of features.
#pragma once

#include <vector>

#include "rarefy/tessellations/tessellation.hpp"

namespace rarefy {

/// Cell numbers run like a row-major array of shape `shape`: the last feature fastest.
/// A feature on the border of two cells belongs to the upper one; the upper end of the
/// space belongs to the last cell.
class Grid : public Tessellation {
 public:
  /// `shape[d]` equal intervals along feature d.
  Grid(FeatureSpace space, std::vector<Index> shape);

  [[nodiscard]] std::string_view name() const override { return "grid"; }
  [[nodiscard]] Index cells() const override { return cells_; }
  [[nodiscard]] const FeatureSpace& space() const override { return space_; }
  [[nodiscard]] std::span<const Index> shape() const override { return shape_; }
  using Tessellation::assign;
  void assign(BatchView features, std::span<Index> cells) const override;
  void cell_centre(Index cell, std::span<double> out) const override;
  [[nodiscard]] std::uint64_t fingerprint() const override;
  [[nodiscard]] std::vector<NamedArray> arrays() const override;

  /// More cells than this are refused: visits are counted for every cell.
  static constexpr Index kMostCells = Index{1} << 30;

 private:
  FeatureSpace space_;
  std::vector<Index> shape_;
  Index cells_ = 1;
};

}  // namespace rarefy
