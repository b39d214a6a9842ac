// A division of feature space into cells.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "rarefy/core/batch.hpp"
#include "rarefy/core/evaluated.hpp"
#include "rarefy/core/feature_space.hpp"
#include "rarefy/core/named_array.hpp"
#include "rarefy/core/workers.hpp"

namespace rarefy {

class Tessellation {
 public:
  virtual ~Tessellation() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual Index cells() const = 0;
  [[nodiscard]] virtual const FeatureSpace& space() const = 0;
  [[nodiscard]] Index feature_dim() const { return space().dim(); }

  /// cells[i] = the cell of row i. Features outside the space belong to the nearest cell
  /// inside. Rows must be finite. Thread-safe.
  virtual void assign(BatchView features, std::span<Index> cells) const = 0;

  /// The same, shared out over the workers.
  void assign(BatchView features, std::span<Index> cells, Workers& workers) const;

  /// The middle of a cell: of a box, or the point that defines it.
  virtual void cell_centre(Index cell, std::span<double> out) const = 0;

  /// Tells one division into cells from another; the same for the same cells on any machine.
  [[nodiscard]] virtual std::uint64_t fingerprint() const = 0;
  /// What other programs need to know to find the cell of a feature; good as long as this is.
  [[nodiscard]] virtual std::vector<NamedArray> arrays() const = 0;
  /// The intervals along each feature, where cells are boxes in rows and columns; else none.
  [[nodiscard]] virtual std::span<const Index> shape() const { return {}; }
  /// The points that define the cells, where there are any. They take seconds to make, so a run
  /// keeps them.
  [[nodiscard]] virtual BatchView centroids() const { return {}; }
};

/// The cells that a batch names, or those of its features, for which `scratch` gets room.
[[nodiscard]] std::span<const Index> cells_of(const Evaluated& batch,
                                              const Tessellation& tessellation,
                                              std::vector<Index>& scratch, Workers& workers);

}  // namespace rarefy
