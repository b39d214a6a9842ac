#include "rarefy/restarts/restart_point.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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
    const auto row = archive.features().row(elite);
    std::copy(row.begin(), row.end(), features_.row(i).begin());
  }
  context.density.score(features_, objectives_, scores_, context.workers);
  const auto best = std::min_element(scores_.begin(), scores_.end()) - scores_.begin();
  copy_elite(archive, drawn_[static_cast<std::size_t>(best)], out);
}

RestartBetween::RestartBetween(Index average_of, Index sparsest_of)
    : average_(average_of), sparsest_(sparsest_of) {}

void RestartBetween::prepare(Index solution_dim, Index feature_dim) {
  sparsest_.prepare(solution_dim, feature_dim);
  other_.resize(static_cast<std::size_t>(solution_dim));
}

void RestartBetween::choose(const RestartContext& context, Index emitter, std::span<double> out) {
  other_.resize(out.size());
  sparsest_.choose(context, emitter, out);
  average_.choose(context, emitter, other_);
  const double share = context.random.uniform();
  for (std::size_t d = 0; d < out.size(); ++d) out[d] += share * (other_[d] - out[d]);
}

MixedRestart::MixedRestart(const MixedRestartOptions& options)
    : options_(options),
      average_(options.average_of),
      sparsest_(options.sparsest_of),
      started_by_(static_cast<std::size_t>(at_least_one(options.emitters, "restart: emitters")),
                  none),
      found_(2, 0.0),
      spent_(2, 0.0) {}

void MixedRestart::prepare(Index solution_dim, Index feature_dim) {
  sparsest_.prepare(solution_dim, feature_dim);
}

double MixedRestart::chance_of_sparsest() const {
  if (std::min(spent_[average], spent_[sparsest]) < options_.evidence) return 0.5;
  constexpr double kSmall = 1e-3;  // keeps a side that found nothing from a rate of zero
  const auto weight = [&](Side side) {
    const auto at = static_cast<std::size_t>(side);
    return std::pow((found_[at] + kSmall) / (spent_[at] + kSmall), options_.sharpness);
  };
  const double chance = weight(sparsest) / (weight(average) + weight(sparsest));
  return std::clamp(chance, options_.least, 1.0 - options_.least);
}

void MixedRestart::choose(const RestartContext& context, Index emitter, std::span<double> out) {
  const bool sparse = context.random.uniform() < chance_of_sparsest();
  for (const auto side : {average, sparsest}) {
    found_[static_cast<std::size_t>(side)] *= options_.decay;
    spent_[static_cast<std::size_t>(side)] *= options_.decay;
  }
  started_by_[static_cast<std::size_t>(emitter)] = sparse ? sparsest : average;
  if (sparse) {
    sparsest_.choose(context, emitter, out);
  } else {
    average_.choose(context, emitter, out);
  }
}

void MixedRestart::credit(std::span<const Index> new_cells) {
  for (std::size_t emitter = 0; emitter < new_cells.size(); ++emitter) {
    const auto side = started_by_[emitter];
    if (side == none) continue;
    found_[static_cast<std::size_t>(side)] += static_cast<double>(new_cells[emitter]);
    spent_[static_cast<std::size_t>(side)] += 1.0;
  }
}

void MixedRestart::save(StateWriter& out) const {
  out.integers("mixed_restart.started_by", started_by_);
  out.reals("mixed_restart.found", found_);
  out.reals("mixed_restart.spent", spent_);
}

void MixedRestart::load(StateReader& in) {
  in.integers("mixed_restart.started_by", started_by_);
  for (const auto side : started_by_) {
    if (side < none || side > sparsest) {
      throw Error(ErrorKind::corrupt, "saved state: origin of a restart", fmt::format("{}", side),
                  "-1, 0 or 1");
    }
  }
  in.finite_reals("mixed_restart.found", found_);
  in.finite_reals("mixed_restart.spent", spent_);
}

}  // namespace rarefy
