#include "rarefy/density/annealed_thresholds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "rarefy/core/error.hpp"

namespace rarefy {

AnnealedThresholds::AnnealedThresholds(const AnnealedThresholdsOptions& options,
                                       std::shared_ptr<const Tessellation> tessellation)
    : options_(options), tessellation_(std::move(tessellation)) {
  if (!(options.learning_rate >= 0 && options.learning_rate <= 1)) {
    throw Error(ErrorKind::parameter, "learning rate of the thresholds",
                fmt::format("{}", options.learning_rate), "0 to 1");
  }
  if (!std::isfinite(options.minimum)) {
    throw Error(ErrorKind::parameter, "minimum of the thresholds",
                fmt::format("{}", options.minimum), "a finite number");
  }
  thresholds_.assign(static_cast<std::size_t>(tessellation_->cells()), options.minimum);
}

void AnnealedThresholds::score(const Evaluated& batch, std::span<double> scores, Workers& workers) {
  constexpr double kMost = std::numeric_limits<double>::max();
  const auto cells = cells_of(batch, *tessellation_, assigned_, workers);
  const auto objectives = batch.objectives;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const double threshold = thresholds_[static_cast<std::size_t>(cells[i])];
    scores[i] = std::clamp(threshold - objectives[i], -kMost, kMost);
  }
}

// Fontaine and Nikolaidis's batch update of the threshold, for one cell.
double AnnealedThresholds::annealed(double threshold, std::span<const Index> accepted,
                                    std::span<const double> objectives) const {
  const auto count = static_cast<double>(accepted.size());
  double mean = 0.0, share = 0.0;  // share = 1 - (1 - alpha)^k
  double lowest = std::numeric_limits<double>::max(), highest = -lowest;
  for (const Index row : accepted) {
    const double objective = objectives[static_cast<std::size_t>(row)];
    mean += objective / count;
    lowest = std::min(lowest, objective);
    highest = std::max(highest, objective);
    share += options_.learning_rate * (1.0 - share);  // each takes alpha of what is left
  }
  // Rounding must not take the mean past the values it is a mean of, nor, with std::lerp, the
  // threshold past either end: it would fall, or lock out the best.
  return std::lerp(threshold, std::clamp(mean, lowest, highest), share);
}

void AnnealedThresholds::observe(const Evaluated& batch, Workers& workers) {
  const auto cells = cells_of(batch, *tessellation_, assigned_, workers);
  const auto objectives = batch.objectives;
  const auto cell_of = [&](Index row) { return cells[static_cast<std::size_t>(row)]; };
  const auto threshold_of = [&](Index row) -> double& {
    return thresholds_[static_cast<std::size_t>(cell_of(row))];
  };
  accepted_.reserve(cells.size());
  accepted_.clear();
  for (Index i = 0; i < batch.features.rows(); ++i) {
    if (objectives[static_cast<std::size_t>(i)] > threshold_of(i)) accepted_.push_back(i);
  }
  // Rows of one cell side by side, each cell's in the order of the batch.
  std::sort(accepted_.begin(), accepted_.end(),
            [&](Index a, Index b) { return std::pair(cell_of(a), a) < std::pair(cell_of(b), b); });
  for (auto first = accepted_.begin(); first != accepted_.end();) {
    const auto last = std::find_if(first, accepted_.end(),
                                   [&](Index row) { return cell_of(row) != cell_of(*first); });
    double& threshold = threshold_of(*first);
    threshold = annealed(threshold, {first, last}, objectives);
    first = last;
  }
}

void AnnealedThresholds::identify(StateOptions& options) const {
  options.real("annealed.learning_rate", options_.learning_rate);
  options.real("annealed.minimum", options_.minimum);
  options.word("annealed.tessellation_fingerprint", tessellation_->fingerprint());
}

void AnnealedThresholds::save(StateWriter& out) const {
  out.reals("annealed.thresholds", thresholds_);
}

void AnnealedThresholds::load(StateReader& in) {
  in.finite_reals("annealed.thresholds", thresholds_);
  const double least = *std::min_element(thresholds_.begin(), thresholds_.end());
  if (least < options_.minimum) {
    throw Error(ErrorKind::corrupt, "saved state: a cell's threshold", fmt::format("{}", least),
                fmt::format("at least the minimum, {}", options_.minimum));
  }
}

}  // namespace rarefy
