#include "rarefy/density/mixture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/maths.hpp"
#include "density/mixture/gaussian_mixture.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/random.hpp"

namespace rarefy {
namespace {

constexpr Index kRowsOfAPiece = 36;
// Candidates may be as far away as they like; their squares must not overflow.
constexpr double kFarthestCandidate = 1e100;
// Steps count for n^-kForgetting, n their number, until that is less than the rate: the theory of
// online EM asks for an exponent between 0.5 and 1.
constexpr double kForgetting = 0.6;

void check_mixture(const MixtureOptions& options) {
  const auto require = [](bool condition, std::string_view thing, const std::string& given,
                          std::string_view expected) {
    if (!condition) throw Error(ErrorKind::parameter, thing, given, expected);
  };
  options.space.check();
  require(options.components >= 1 && options.batch >= 1, "mixture",
          fmt::format("{} components, learned from {} features at a time", options.components,
                      options.batch),
          "at least one of each");
  require(options.rate > 0 && options.rate < 1, "rate of the mixture",
          fmt::format("{}", options.rate), "a number > 0 and < 1");
  require(options.smoothing > 0 && std::isfinite(options.smoothing), "smoothing of the mixture",
          fmt::format("{}", options.smoothing), "a number > 0");
  require(options.background > 0 && options.background < 1, "background of the mixture",
          fmt::format("{}", options.background), "a number > 0 and < 1");
}

}  // namespace

MixtureDensity::MixtureDensity(MixtureOptions options, std::unique_ptr<FeatureBuffer> buffer)
    : options_(std::move(options)), buffer_(std::move(buffer)) {
  check_mixture(options_);
  mixture_ = std::make_unique<GaussianMixture>(feature_dim(), options_);
}

MixtureDensity::~MixtureDensity() = default;

double MixtureDensity::coordinate(double feature, Index d, double reach) const {
  const auto at = static_cast<std::size_t>(d);
  const double centre = 0.5 * (options_.space.lower[at] + options_.space.upper[at]);
  return std::clamp((feature - centre) / options_.space.width(d), -reach, reach);
}

// Buffered features, with replacement, in the mixture's coordinates.
void MixtureDensity::draw(Index rows, Index purpose_index) {
  const BatchView features = buffer_->contents();
  RandomStream random({.seed = options_.seed,
                       .purpose = Purpose::training,
                       .index = static_cast<std::uint32_t>(purpose_index),
                       .iteration = static_cast<std::uint64_t>(steps_)});
  drawn_.resize(rows, feature_dim());
  for (Index i = 0; i < rows; ++i) {
    const auto slot = static_cast<Index>(random.below(static_cast<std::uint64_t>(features.rows())));
    for (Index d = 0; d < feature_dim(); ++d) {
      drawn_(i, d) = coordinate(features(slot, d), d, kReach);
    }
  }
}

void MixtureDensity::observe(const Evaluated& batch, Workers& workers) {
  changed_.clear();
  buffer_->add(batch.features, changed_);
  if (buffer_->contents().rows() == 0) return;
  if (steps_ == 0) {
    draw(options_.components, 1);
    mixture_->place(drawn_);
  }
  draw(options_.batch, 0);
  ++steps_;
  const double early = maths::power(static_cast<double>(steps_ + 1), -kForgetting);
  mixture_->learn(drawn_, std::max(options_.rate, early), workers);
}

void MixtureDensity::score(const Evaluated& batch, std::span<double> scores, Workers& workers) {
  log_density(batch.features, scores, workers);
}

void MixtureDensity::log_density(BatchView features, std::span<double> out, Workers& workers) {
  if (!informed()) {  // nothing is known yet: all score the same
    std::fill(out.begin(), out.end(), 0.0);
    return;
  }
  double log_volume = 0.0;
  for (Index d = 0; d < feature_dim(); ++d) log_volume += maths::log(options_.space.width(d));
  const auto dims = static_cast<std::size_t>(feature_dim());
  const std::size_t own = dims + mixture_->scratch_size();
  const Index pieces = (features.rows() + kRowsOfAPiece - 1) / kRowsOfAPiece;
  if (scratch_.size() < own * static_cast<std::size_t>(pieces)) {
    scratch_.resize(own * static_cast<std::size_t>(pieces));
  }
  workers.for_pieces(features.rows(), kRowsOfAPiece, [&](Index first, Index count) {
    const auto scratch =
        std::span(scratch_).subspan(own * static_cast<std::size_t>(first / kRowsOfAPiece), own);
    const auto x = scratch.first(dims);
    for (Index i = first; i < first + count; ++i) {
      for (Index d = 0; d < feature_dim(); ++d) {
        x[static_cast<std::size_t>(d)] = coordinate(features(i, d), d, kFarthestCandidate);
      }
      out[static_cast<std::size_t>(i)] =
          mixture_->log_density(x, scratch.subspan(dims)) - log_volume;
    }
  });
}

std::string MixtureDensity::description() const {
  return fmt::format("mixture of {} Gaussians", options_.components);
}

void MixtureDensity::identify(StateOptions& options) const {
  options_.space.identify(options);
  options.integer("mixture.components", options_.components);
  options.integer("mixture.batch", options_.batch);
  options.real("mixture.rate", options_.rate);
  options.real("mixture.smoothing", options_.smoothing);
  options.real("mixture.background", options_.background);
  options.word("mixture.seed", options_.seed);
  options.integer("mixture.buffer", buffer_->capacity());
  buffer_->identify(options);
}

void MixtureDensity::save(StateWriter& out) const {
  buffer_->save(out);
  out.integer("mixture.steps", steps_);
  mixture_->save(out);
}

void MixtureDensity::load(StateReader& in) {
  buffer_->load(in);
  steps_ = in.integer("mixture.steps", 0, std::numeric_limits<std::int64_t>::max() - 1);
  mixture_->load(in);
}

}  // namespace rarefy
