#include "rarefy/compat/published.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "core/maths.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/random.hpp"

namespace rarefy::compat {
namespace {

// The decomposition of departure 5.
CmaEsOptions with_published_decomposition(CmaEsOptions options) {
  options = CmaEs::checked(std::move(options));
  CmaEsParameters p(options.dimension, options.batch);
  p.by_parents = true;
  p.select(options.batch / 2);
  const double gap = 0.5 / (static_cast<double>(options.dimension) * (p.c1 + p.cmu));
  options.factor = Factor::eigen;
  options.decompose_every = static_cast<Index>(std::floor(gap)) + 1;
  return options;
}

}  // namespace

PublishedCmaEs::PublishedCmaEs(CmaEsOptions options)
    : CmaEs(with_published_decomposition(std::move(options))) {
  weigh_by_parents();
}

bool PublishedCmaEs::path_is_short(double length) const {
  const auto n = static_cast<double>(options().dimension);
  const double decay =
      1 - maths::power(1 - parameters().csigma, 2.0 * static_cast<double>(generation()));
  return length * length / n / decay < 2 + 4 / (n + 1);
}

double PublishedCmaEs::step_change(double length) const {
  const auto n = static_cast<double>(options().dimension);
  return parameters().csigma / parameters().dsigma * (length * length / n - 1) / 2;
}

void PublishedCmaEs::adapt_covariance(const Adaptation& now) {
  const auto& p = parameters();
  const double push = now.hsig ? std::sqrt(p.cc * (2 - p.cc) * p.mueff) : 0.0;
  for (std::size_t d = 0; d < path_c().size(); ++d) {
    path_c()[d] = (1 - p.cc) * path_c()[d] + push * now.sigma * now.mean_step[d];
  }
  const double delta = now.hsig ? 0.0 : p.cc * (2 - p.cc);
  update_covariance(1 - p.c1 * (1 - delta) - p.cmu, p.c1 * p.c1, now.steps);
}

PublishedBuffer::PublishedBuffer(const PublishedBufferOptions& options) : options_(options) {
  if (options.feature_dim < 1 || options.capacity < 1) {
    throw Error(ErrorKind::parameter, "published buffer",
                fmt::format("{} features, capacity {}", options.feature_dim, options.capacity),
                "at least 1 of each: it cannot be unlimited");
  }
  rows_.resize(options.capacity, options.feature_dim);  // at the origin
  draw_skip();
}

void PublishedBuffer::draw_skip() {
  RandomStream random({.seed = options_.seed,
                       .purpose = Purpose::reservoir,
                       .index = 0,
                       .iteration = static_cast<std::uint64_t>(draws_++)});
  w_ *= maths::power(random.uniform_open(), 1.0 / static_cast<double>(options_.capacity));
  const double skip = std::floor(maths::log(random.uniform_open()) / maths::log1p(-w_));
  constexpr double kForever = 0x1p62;
  skip_ = static_cast<std::int64_t>(skip < kForever ? skip : kForever);
  slot_ = static_cast<Index>(random.below(static_cast<std::uint64_t>(options_.capacity)));
}

void PublishedBuffer::add(BatchView features, std::vector<Index>& changed, Exchange* exchange) {
  if (exchange != nullptr) exchange->begin(options_.feature_dim);
  const auto put = [&](Index slot, Index row) {
    const auto values = features.row(row);
    if (exchange != nullptr) {
      exchange->came.append(values);
      exchange->went.append(rows_.view().row(slot));  // at first the origin
    }
    std::copy(values.begin(), values.end(), rows_.row(slot).begin());
    changed.push_back(slot);
  };
  Index first = 0;
  while (first < features.rows() && filled_ < options_.capacity) put(filled_++, first++);
  std::int64_t left = features.rows() - first;
  while (left > 0) {
    if (skip_ < left) {
      put(slot_, first + static_cast<Index>(skip_));  // departure 1: `first` never moves on
      draw_skip();
    }
    const auto passed = std::min(skip_, left);  // departure 2
    left -= passed;
    skip_ -= passed;
  }
}

void PublishedBuffer::identify(StateOptions& options) const {
  options.integer("published_buffer.feature_dim", options_.feature_dim);
  options.integer("published_buffer.capacity", options_.capacity);
  options.word("published_buffer.seed", options_.seed);
}

void PublishedBuffer::save(StateWriter& out) const {
  out.integer("published_buffer.filled", filled_);
  out.integer("published_buffer.skip", skip_);
  out.integer("published_buffer.draws", draws_);
  out.real("published_buffer.w", w_);
  out.integer("published_buffer.slot", slot_);
  out.reals("published_buffer.rows", rows_.values());
}

void PublishedBuffer::load(StateReader& in) {
  constexpr auto kMost = std::int64_t{1} << 62;  // which can still be counted on from
  filled_ = static_cast<Index>(in.integer("published_buffer.filled", 0, options_.capacity));
  skip_ = in.integer("published_buffer.skip", 0, kMost);
  draws_ = in.integer("published_buffer.draws", 0, kMost);
  w_ = in.finite("published_buffer.w");
  slot_ = static_cast<Index>(in.integer("published_buffer.slot", 0, options_.capacity - 1));
  if (!(w_ >= 0 && w_ <= 1)) {
    throw Error(ErrorKind::corrupt, "saved state: w of the buffer", fmt::format("{}", w_),
                "0 to 1");
  }
  in.finite_reals("published_buffer.rows", rows_.values());
}

PublishedDensity::PublishedDensity(std::unique_ptr<KernelDensity> kde, bool log_scores)
    : kde_(std::move(kde)), log_scores_(log_scores) {
  // Ours: 1 / (N (2 pi)^(m/2) prod h). Theirs: 1 / (N h sqrt(2 pi)).
  const double log_root = 0.5 * maths::log(2.0 * std::numbers::pi);
  for (const double h : kde_->bandwidths()) log_factor_ += log_root + maths::log(h);
  log_factor_ -= log_root + maths::log(kde_->bandwidths().front());
}

void PublishedDensity::score(const Evaluated& batch, std::span<double> scores, Workers& workers) {
  kde_->refined_log_density(batch.features, scores, workers);
  for (double& score : scores) {
    score += log_factor_;
    if (!log_scores_) score = maths::exp(score);
  }
}

void PublishedFlow::score(const Evaluated& batch, std::span<double> scores, Workers& workers) {
  FlowDensity::score(batch, scores, workers);
  constexpr double kMost = 700.0;  // the exponential of more is infinite
  const double to_coordinates = feature_dim() > 2 ? -log_scale() : 0.0;
  for (double& score : scores) score = maths::exp(std::min(score + to_coordinates, kMost));
}

void PublishedNovelty::score(const Evaluated& batch, std::span<double> scores, Workers& workers) {
  if (members() == 0) {
    std::fill(scores.begin(), scores.end(), -threshold());
  } else {
    NoveltyDensity::score(batch, scores, workers);
  }
}

}  // namespace rarefy::compat
