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
  if (options_.average_from == 0) options_.average_from = 4 * options_.average_of;
  if (options_.average_from < options_.average_of) {
    throw Error(ErrorKind::parameter, "average-from", fmt::format("{}", options_.average_from),
                fmt::format("at least average-of, {}", options_.average_of));
  }
  drawn_.resize(static_cast<std::size_t>(options_.average_from));
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

// The rare elite itself is the first of them. Where as many are drawn as are averaged, none is
// nearer than others, and all are drawn alike.
void AdaptiveRestart::draw_neighbours(const Archive& archive, RandomStream& random) {
  if (options_.average_from == options_.average_of) {
    for (Drawn& drawn : drawn_) drawn.elite = archive.draw(random);
    return;
  }
  const auto& space = archive.tessellation().space();
  const Index centre = draw_rarest(archive, kCentres, random);
  const auto middle = archive.features().row(centre);
  drawn_.front() = {.apart = 0, .elite = centre};
  for (std::size_t i = 1; i < drawn_.size(); ++i) {
    const Index elite = archive.draw(random);
    const auto features = archive.features().row(elite);
    double apart = 0;
    for (std::size_t d = 0; d < features.size(); ++d) {
      const double widths = (features[d] - middle[d]) / space.width(static_cast<Index>(d));
      apart += widths * widths;
    }
    drawn_[i] = {.apart = apart, .elite = elite};
  }
  // Elites drawn twice are equally far: their number decides, so that the order is one.
  std::partial_sort(drawn_.begin(), drawn_.begin() + options_.average_of, drawn_.end(),
                    [](const Drawn& a, const Drawn& b) {
                      return a.apart != b.apart ? a.apart < b.apart : a.elite < b.elite;
                    });
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
  draw_neighbours(archive, context.random);
  for (Index i = 0; i < options_.average_of; ++i) {
    const Index elite = drawn_[static_cast<std::size_t>(i)].elite;
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

void AdaptiveRestart::identify(StateOptions& options) const {
  options.text("restart_at", "adaptive");
  options.integer("restart_at.emitters", options_.emitters);
  options.integer("restart_at.average_of", options_.average_of);
  options.integer("restart_at.average_from", options_.average_from);
  options.integer("restart_at.compared", options_.compared);
  options.real("restart_at.decay", options_.decay);
  options.real("restart_at.least", options_.least);
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
