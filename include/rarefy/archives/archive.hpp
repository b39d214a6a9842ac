// What a search has found: the best solution of every cell, and how often each was visited.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "rarefy/core/batch.hpp"
#include "rarefy/core/evaluated.hpp"
#include "rarefy/core/random.hpp"
#include "rarefy/core/state.hpp"
#include "rarefy/tessellations/tessellation.hpp"

namespace rarefy {

/// What became of a candidate in the archive.
enum class Outcome : std::uint8_t {
  rejected = 0,  ///< its cell holds a solution at least as good
  improved = 1,  ///< it took the place of a worse solution
  new_cell = 2,  ///< its cell was empty
  failed = 3,    ///< it could not be evaluated: the archive has not seen it (Search::tell)
};

/// Elites are kept in the order in which their cells were found: elite 0 is the first.
class Archive {
 public:
  Archive(std::shared_ptr<const Tessellation> tessellation, Index solution_dim);

  /// Takes in a batch, row by row. A solution replaces another only when its objective is
  /// greater: first come where equal. `outcomes` gets one entry a row. Cells that the batch
  /// does not name are looked for.
  void record(BatchView solutions, const Evaluated& batch, Workers& workers,
              std::span<Outcome> outcomes);

  [[nodiscard]] const Tessellation& tessellation() const { return *tessellation_; }
  [[nodiscard]] Index solution_dim() const { return solutions_.cols(); }
  [[nodiscard]] Index feature_dim() const { return features_.cols(); }

  /// The number of occupied cells, and so of elites.
  [[nodiscard]] Index size() const { return solutions_.rows(); }
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] BatchView solutions() const { return solutions_; }
  [[nodiscard]] BatchView features() const { return features_; }
  [[nodiscard]] std::span<const double> objectives() const { return objectives_; }
  /// The cell of each elite.
  [[nodiscard]] std::span<const std::int64_t> cells() const { return cells_; }
  /// The elite of a cell, or -1.
  [[nodiscard]] Index elite_of(Index cell) const {
    return elite_of_[static_cast<std::size_t>(cell)];
  }
  /// How many candidates ever fell into each cell, kept or not.
  [[nodiscard]] std::span<const std::int64_t> visits() const { return visits_; }
  [[nodiscard]] std::int64_t total_visits() const { return total_visits_; }

  /// The number of an elite drawn uniformly; the archive must not be empty.
  [[nodiscard]] Index draw(RandomStream& random) const;

  void save(StateWriter& out) const;
  void load(StateReader& in);

 private:
  Outcome record_row(std::span<const double> solution, std::span<const double> features,
                     double objective, Index cell);

  std::shared_ptr<const Tessellation> tessellation_;
  std::vector<Index> assigned_;  // scratch of record()
  Batch solutions_;
  Batch features_;
  std::vector<double> objectives_;
  std::vector<std::int64_t> cells_;
  std::vector<Index> elite_of_;
  std::vector<std::int64_t> visits_;
  std::int64_t total_visits_ = 0;
};

}  // namespace rarefy
