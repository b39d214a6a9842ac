// A division of feature space into cells.
#pragma once

#include <span>
#include <string_view>

#include "rarefy/core/batch.hpp"
#include "rarefy/core/feature_space.hpp"
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
};

}  // namespace rarefy
