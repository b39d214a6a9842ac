#include "rarefy/restarts/restart_point.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

Index at_least_one(Index count, std::string_view thing) {
  if (count < 1) {
    throw Error(ErrorKind::parameter, thing, fmt::format("{}", count), "at least 1");
  }
  return count;
}

void copy_elite(const Archive& archive, Index elite, std::span<double> out) {
  const auto solution = archive.solutions().row(elite);
  std::copy(solution.begin(), solution.end(), out.begin());
}

}  // namespace

void RestartAtOrigin::choose(const RestartContext& /*context*/, Index /*emitter*/,
                             std::span<double> out) {
  std::copy(origin_.begin(), origin_.end(), out.begin());
}

void RestartAtElite::choose(const RestartContext& context, Index /*emitter*/,
                            std::span<double> out) {
  copy_elite(context.archive, context.archive.draw(context.random), out);
}

RestartAtAverage::RestartAtAverage(Index count)
    : count_(at_least_one(count, "restart: solutions in an average")) {}

void RestartAtAverage::choose(const RestartContext& context, Index /*emitter*/,
                              std::span<double> out) {
  std::fill(out.begin(), out.end(), 0.0);
  for (Index i = 0; i < count_; ++i) {
    const auto solution = context.archive.solutions().row(context.archive.draw(context.random));
    for (std::size_t d = 0; d < out.size(); ++d) out[d] += solution[d];
  }
  for (double& value : out) value /= static_cast<double>(count_);
}

RestartAtSparsest::RestartAtSparsest(Index count)
    : drawn_(static_cast<std::size_t>(at_least_one(count, "restart: elites to compare"))),
      cells_(drawn_.size()),
      objectives_(drawn_.size()),
      scores_(drawn_.size()) {}

void RestartAtSparsest::prepare(Index /*solution_dim*/, Index feature_dim) {
  features_.resize(static_cast<Index>(drawn_.size()), feature_dim);
}

void RestartAtSparsest::choose(const RestartContext& context, Index /*emitter*/,
                               std::span<double> out) {
  const auto& archive = context.archive;
  const auto count = static_cast<Index>(drawn_.size());
  if (features_.cols() != archive.feature_dim())
    prepare(archive.solution_dim(), archive.feature_dim());
  for (Index i = 0; i < count; ++i) {
    const Index elite = archive.draw(context.random);
    const auto at = static_cast<std::size_t>(i);
    drawn_[at] = elite;
    objectives_[at] = archive.objectives()[static_cast<std::size_t>(elite)];
    cells_[at] = archive.cells()[static_cast<std::size_t>(elite)];
    const auto row = archive.features().row(elite);
    std::copy(row.begin(), row.end(), features_.row(i).begin());
    if (context.outside != Outside::as_is) archive.tessellation().space().clamp(features_.row(i));
  }
  context.density.score({.features = features_, .objectives = objectives_, .cells = cells_},
                        scores_, context.workers);
  const auto best = std::min_element(scores_.begin(), scores_.end()) - scores_.begin();
  copy_elite(archive, drawn_[static_cast<std::size_t>(best)], out);
}

RestartAtRarest::RestartAtRarest(Index count)
    : count_(at_least_one(count, "restart: elites to compare")) {}

Index draw_rarest(const Archive& archive, Index count, RandomStream& random) {
  const auto visits = [&](Index elite) {
    const auto cell = archive.cells()[static_cast<std::size_t>(elite)];
    return archive.visits()[static_cast<std::size_t>(cell)];
  };
  Index rarest = archive.draw(random);
  for (Index i = 1; i < count; ++i) {
    const Index elite = archive.draw(random);
    if (visits(elite) < visits(rarest)) rarest = elite;
  }
  return rarest;
}

void RestartAtRarest::choose(const RestartContext& context, Index /*emitter*/,
                             std::span<double> out) {
  copy_elite(context.archive, draw_rarest(context.archive, count_, context.random), out);
}

void RestartAtOrigin::identify(StateOptions& options) const {
  options.text("restart_at", "origin");
  options.reals("restart_at.origin", origin_);
}

void RestartAtElite::identify(StateOptions& options) const { options.text("restart_at", "elite"); }

void RestartAtAverage::identify(StateOptions& options) const {
  options.text("restart_at", "average");
  options.integer("restart_at.average_of", count_);
}

void RestartAtSparsest::identify(StateOptions& options) const {
  options.text("restart_at", "sparsest");
  options.integer("restart_at.compared", static_cast<Index>(drawn_.size()));
}

void RestartAtRarest::identify(StateOptions& options) const {
  options.text("restart_at", "rarest");
  options.integer("restart_at.compared", count_);
}

}  // namespace rarefy
