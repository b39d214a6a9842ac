// The cells of a batch, found once and remembered until another batch comes.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "rarefy/archives/tessellation.hpp"
#include "rarefy/core/batch.hpp"
#include "rarefy/core/workers.hpp"

namespace rarefy {

/// Whoever scores a batch by its cells and then takes it in needs the cells twice, and so does
/// the archive; with many centroids they are dear. An archive and a density may share one of
/// these. Batches are told apart by their values, not by where they lie.
class LastCells {
 public:
  explicit LastCells(std::shared_ptr<const Tessellation> tessellation);

  [[nodiscard]] const Tessellation& tessellation() const { return *tessellation_; }
  [[nodiscard]] std::shared_ptr<const Tessellation> shared_tessellation() const {
    return tessellation_;
  }

  /// The cell of every row; good until the next call. Rows must be finite.
  std::span<const Index> of(BatchView features, Workers& workers);

 private:
  std::shared_ptr<const Tessellation> tessellation_;
  std::vector<double> features_;
  std::vector<Index> cells_;
};

}  // namespace rarefy
