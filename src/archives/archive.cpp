#include "rarefy/archives/archive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

// Up to this many bytes of solutions, room for every cell is made at the start, so that
// finding a new one allocates nothing.
constexpr Index kReserveBytes = Index{256} << 20;

}  // namespace

Archive::Archive(std::shared_ptr<const Tessellation> tessellation_of, Index solution_dim)
    : tessellation_(std::move(tessellation_of)) {
  if (solution_dim < 1) {
    throw Error(ErrorKind::parameter, "archive: solution dimension",
                fmt::format("{}", solution_dim), "at least 1");
  }
  const Index cells = tessellation().cells();
  solutions_.resize(0, solution_dim);
  features_.resize(0, tessellation().feature_dim());
  const Index row_bytes = solution_dim * static_cast<Index>(sizeof(double));
  const Index reserve = std::min(cells, kReserveBytes / row_bytes);
  solutions_.reserve(reserve);
  features_.reserve(reserve);
  objectives_.reserve(static_cast<std::size_t>(reserve));
  cells_.reserve(static_cast<std::size_t>(reserve));
  elite_of_.assign(static_cast<std::size_t>(cells), Index{-1});
  visits_.assign(static_cast<std::size_t>(cells), 0);
}

void Archive::record(BatchView solutions, const Evaluated& batch, Workers& workers,
                     std::span<Outcome> outcomes) {
  const auto cells = cells_of(batch, tessellation(), assigned_, workers);
  for (Index i = 0; i < batch.features.rows(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    outcomes[at] =
        record_row(solutions.row(i), batch.features.row(i), batch.objectives[at], cells[at]);
  }
}

Outcome Archive::record_row(std::span<const double> solution, std::span<const double> features,
                            double objective, Index cell) {
  const auto at = static_cast<std::size_t>(cell);
  ++visits_[at];
  ++total_visits_;
  const Index elite = elite_of_[at];
  if (elite < 0) {
    elite_of_[at] = size();
    solutions_.append(solution);
    features_.append(features);
    objectives_.push_back(objective);
    cells_.push_back(cell);
    return Outcome::new_cell;
  }
  double& best = objectives_[static_cast<std::size_t>(elite)];
  if (!(objective > best)) return Outcome::rejected;
  best = objective;
  std::copy(solution.begin(), solution.end(), solutions_.row(elite).begin());
  std::copy(features.begin(), features.end(), features_.row(elite).begin());
  return Outcome::improved;
}

Index Archive::draw(RandomStream& random) const {
  return static_cast<Index>(random.below(static_cast<std::uint64_t>(size())));
}

void Archive::identify(StateOptions& options) const {
  options.integer("archive.solution_dim", solution_dim());
  tessellation().space().identify(options);
  options.text("archive.tessellation", tessellation().name());
  options.integer("archive.cells", tessellation().cells());
  options.word("archive.tessellation_fingerprint", tessellation().fingerprint());
}

void Archive::save(StateWriter& out) const {
  out.integers("archive.visits", visits_);
  out.integers("archive.cells", cells_);
  out.reals("archive.objectives", objectives_);
  out.reals("archive.features", features_.values());
  out.reals("archive.solutions", solutions_.values());
}

void Archive::load(StateReader& in) {
  in.integers("archive.visits", visits_);
  total_visits_ = 0;
  constexpr std::int64_t kMostVisits = std::int64_t{1} << 62;
  for (const auto visits : visits_) {
    if (visits < 0 || visits > kMostVisits - total_visits_) {
      throw Error(ErrorKind::corrupt, "saved state: visits of a cell", fmt::format("{}", visits),
                  "at least 0, and no more than could be counted");
    }
    total_visits_ += visits;
  }
  const auto cells = in.integers_up_to("archive.cells", visits_.size());
  cells_.assign(cells.begin(), cells.end());  // into the memory reserved for all of them
  std::fill(elite_of_.begin(), elite_of_.end(), Index{-1});
  for (std::size_t elite = 0; elite < cells_.size(); ++elite) {
    const auto cell = cells_[elite];
    // Every elite in a cell of its own that was visited: the file is not taken at its word.
    if (cell < 0 || cell >= tessellation().cells() ||
        elite_of_[static_cast<std::size_t>(cell)] >= 0 ||
        visits_[static_cast<std::size_t>(cell)] == 0) {
      throw Error(ErrorKind::corrupt, fmt::format("saved state: cell of elite {}", elite),
                  fmt::format("{}", cell), "a visited cell that no other elite has");
    }
    elite_of_[static_cast<std::size_t>(cell)] = static_cast<Index>(elite);
  }
  for (std::size_t cell = 0; cell < visits_.size(); ++cell) {
    if (visits_[cell] > 0 && elite_of_[cell] < 0) {
      throw Error(ErrorKind::corrupt,
                  fmt::format("saved state: cell {} was visited but holds no elite", cell));
    }
  }
  const auto count = static_cast<Index>(cells_.size());
  objectives_.resize(cells_.size());
  in.finite_reals("archive.objectives", objectives_);
  features_.resize(count, features_.cols());
  in.finite_reals("archive.features", features_.values());
  solutions_.resize(count, solutions_.cols());
  in.finite_reals("archive.solutions", solutions_.values());
}

}  // namespace rarefy
