#include "density/kde/fine_counts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "rarefy/core/error.hpp"

namespace rarefy {

namespace {

double intervals_along(const FeatureSpace& space, std::span<const double> deviations, Index d) {
  const double deviation = deviations[static_cast<std::size_t>(d)];
  const double wanted = space.width(d) / (std::numbers::sqrt2 * deviation);
  return std::clamp(std::round(wanted), 1.0, static_cast<double>(FineCounts::kMost));
}

}  // namespace

Index FineCounts::nodes_of(const FeatureSpace& space, std::span<const double> deviations) {
  Index nodes = 1;
  for (Index d = 0; d < space.dim(); ++d) {
    nodes *= static_cast<Index>(intervals_along(space, deviations, d)) + 3;
  }
  return nodes;
}

FineCounts::FineCounts(FeatureSpace space, std::span<const double> deviations)
    : space_(std::move(space)) {
  for (Index d = 0; d < space_.dim(); ++d) {
    const double intervals = intervals_along(space_, deviations, d);
    const double spacing = space_.width(d) / intervals;
    intervals_.push_back(static_cast<Index>(intervals));
    cell_volume_ *= spacing;
    volume_ *= std::sqrt(2 * std::numbers::pi) * spacing / std::numbers::sqrt2;
  }
  counts_.assign(static_cast<std::size_t>(nodes_of(space_, deviations)), 0.0);
}

// Nodes lie at -1, 0, ... intervals + 1 spacings from the lower end: all that a feature in the box
// is spread over. visit(node, weight).
template <typename Visit>
void FineCounts::visit_nodes(std::span<const double> features, Visit visit) const {
  std::array<std::size_t, kMostDims> first{};
  std::array<std::array<double, 3>, kMostDims> weights{};
  for (std::size_t d = 0; d < intervals_.size(); ++d) {
    const auto intervals = static_cast<double>(intervals_[d]);
    const double part = (features[d] - space_.lower[d]) / (space_.upper[d] - space_.lower[d]);
    const double place = std::clamp(part, 0.0, 1.0) * intervals;
    const double nearest = std::floor(place + 0.5);
    const double off = place - nearest;  // -1/2 to 1/2
    first[d] = static_cast<std::size_t>(nearest);
    weights[d] = {0.5 * (0.5 - off) * (0.5 - off), 0.75 - off * off,
                  0.5 * (0.5 + off) * (0.5 + off)};
  }
  if (intervals_.size() == 1) {
    for (std::size_t i = 0; i < 3; ++i) visit(first[0] + i, weights[0][i]);
    return;
  }
  const auto columns = static_cast<std::size_t>(intervals_[1]) + 3;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      visit((first[0] + i) * columns + first[1] + j, weights[0][i] * weights[1][j]);
    }
  }
}

void FineCounts::add(BatchView features) {
  for (Index i = 0; i < features.rows(); ++i) {
    visit_nodes(features.row(i), [&](std::size_t node, double weight) { counts_[node] += weight; });
  }
  total_ += static_cast<double>(features.rows());
}

double FineCounts::share(std::span<const double> features) const {
  if (total_ == 0) return 0;
  double sum = 0;
  visit_nodes(features, [&](std::size_t node, double weight) { sum += weight * counts_[node]; });
  return sum / total_ * (volume_ / cell_volume_);
}

void FineCounts::save(StateWriter& out) const {
  out.real("fine_counts.total", total_);
  out.reals("fine_counts.nodes", counts_);
}

void FineCounts::load(StateReader& in) {
  total_ = in.finite("fine_counts.total");
  in.finite_reals("fine_counts.nodes", counts_);
  const bool counts =
      std::all_of(counts_.begin(), counts_.end(), [](double count) { return count >= 0; });
  if (!counts || !(total_ >= 0)) {
    throw Error(ErrorKind::corrupt, "saved state: fine counts of features",
                fmt::format("{} in all", total_), "counts of at least 0");
  }
}

}  // namespace rarefy
