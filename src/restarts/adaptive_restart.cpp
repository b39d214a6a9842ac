#include "rarefy/restarts/adaptive_restart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rarefy/core/error.hpp"

namespace rarefy {

AdaptiveRestart::AdaptiveRestart(const AdaptiveRestartOptions& options)
    : options_(options), rarest_(options.compared) {
  if (options.emitters < 1 || options.average_of < 1) {
    throw Error(ErrorKind::parameter, "restart: emitters, and solutions in an average",
                fmt::format("{} and {}", options.emitters, options.average_of),
                "at least 1 of each");
  }
  if (!(options.decay >= 0 && options.decay <= 1) ||
      !(options.least >= 0 && options.least <= 0.5)) {
    throw Error(ErrorKind::parameter, "restart: decay and least chance",
                fmt::format("{} and {}", options.decay, options.least), "0 to 1 and 0 to 0.5");
  }
  const auto count = static_cast<std::size_t>(options.emitters);
  awaited_.assign(count, 0);
  variance_.assign(count, 0.0);
}

void AdaptiveRestart::prepare(Index solution_dim, Index feature_dim) {
  rarest_.prepare(solution_dim, feature_dim);
  expected_.resize(options_.emitters, feature_dim);
}

double AdaptiveRestart::chance_of_rarest() const {
  if (tried_ == 0.0) return 0.5;
  return std::clamp(std::sqrt(error_ / tried_), options_.least, 1.0 - options_.least);
}

void AdaptiveRestart::choose(const RestartContext& context, Index emitter, std::span<double> out) {
  awaited_[static_cast<std::size_t>(emitter)] = 0;
  if (context.random.uniform() < chance_of_rarest()) {
    rarest_.choose(context, emitter, out);
  } else {
    choose_average(context, emitter, out);
  }
}

void AdaptiveRestart::choose_average(const RestartContext& context, Index emitter,
                                     std::span<double> out) {
  const auto& archive = context.archive;
  if (expected_.cols() != archive.feature_dim()) {
    prepare(archive.solution_dim(), archive.feature_dim());
  }
  const auto expected = expected_.row(emitter);
  std::fill(out.begin(), out.end(), 0.0);
  std::fill(expected.begin(), expected.end(), 0.0);
  // Welford's sums: squares of far-off features must not cancel.
  double squares = 0.0;
  for (Index i = 0; i < options_.average_of; ++i) {
    const Index elite = archive.draw(context.random);
    const auto solution = archive.solutions().row(elite);
    const auto features = archive.features().row(elite);
    for (std::size_t d = 0; d < out.size(); ++d) out[d] += solution[d];
    for (std::size_t d = 0; d < expected.size(); ++d) {
      const double apart = features[d] - expected[d];
      expected[d] += apart / static_cast<double>(i + 1);
      squares += apart * (features[d] - expected[d]);
    }
  }
  const auto count = static_cast<double>(options_.average_of);
  for (double& value : out) value /= count;
  // Nothing can be learned from elites that are all the same, nor from features so far out that
  // their squares are not numbers any more.
  const bool known = squares > 0 && std::isfinite(squares) &&
                     std::all_of(expected.begin(), expected.end(),
                                 [](double value) { return std::isfinite(value); });
  if (!known) std::fill(expected.begin(), expected.end(), 0.0);
  variance_[static_cast<std::size_t>(emitter)] = known ? squares / count : 0.0;
  awaited_[static_cast<std::size_t>(emitter)] = known ? 1 : 0;
}

void AdaptiveRestart::observe(Index emitter, BatchView features) {
  const auto at = static_cast<std::size_t>(emitter);
  if (awaited_[at] == 0 || features.rows() == 0) return;
  awaited_[at] = 0;
  double error = 0.0;
  for (Index d = 0; d < features.cols(); ++d) {
    double mean = 0.0;
    for (Index i = 0; i < features.rows(); ++i) mean += features(i, d);
    mean /= static_cast<double>(features.rows());
    const double apart = mean - expected_(emitter, d);
    error += apart * apart;
  }
  error_ = options_.decay * error_ + (error < variance_[at] ? error / variance_[at] : 1.0);
  tried_ = options_.decay * tried_ + 1.0;
}

void AdaptiveRestart::save(StateWriter& out) const {
  out.integers("adaptive_restart.awaited", awaited_);
  out.reals("adaptive_restart.expected", expected_.values());
  out.reals("adaptive_restart.variance", variance_);
  out.real("adaptive_restart.error", error_);
  out.real("adaptive_restart.tried", tried_);
}

void AdaptiveRestart::load(StateReader& in) {
  in.integers("adaptive_restart.awaited", awaited_);
  in.finite_reals("adaptive_restart.expected", expected_.values());
  in.finite_reals("adaptive_restart.variance", variance_);
  error_ = in.finite("adaptive_restart.error");
  tried_ = in.finite("adaptive_restart.tried");
  const bool flags = std::all_of(awaited_.begin(), awaited_.end(),
                                 [](std::int64_t flag) { return flag == 0 || flag == 1; });
  const bool spreads = std::all_of(variance_.begin(), variance_.end(),
                                   [](double variance) { return variance >= 0; });
  if (!flags || !spreads || !(error_ >= 0 && error_ <= tried_)) {
    throw Error(ErrorKind::corrupt, "saved state: what was learned about averages",
                fmt::format("error {} of {}", error_, tried_),
                "flags of 0 or 1, variances of at least 0, and 0 <= error <= number tried");
  }
}

}  // namespace rarefy
