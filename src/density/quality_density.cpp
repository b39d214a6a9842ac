#include "rarefy/density/quality_density.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

// Between the quartiles of a normal distribution lie so many standard deviations.
constexpr double kNormalQuartiles = 1.3489795003921634;

double limited_objective(double objective) {
  return std::clamp(objective, -QualityDensity::kGreatest, QualityDensity::kGreatest);
}

// With its mean taken off first, so that large equal parts do not cancel.
double deviation_of(std::span<const double> values) {
  const auto count = static_cast<double>(values.size());
  double mean = 0.0, squares = 0.0;
  for (const double value : values) mean += value / count;
  for (const double value : values) squares += (value - mean) * (value - mean) / count;
  return std::sqrt(squares);
}

}  // namespace

QualityDensity::QualityDensity(const QualityOptions& options,
                               std::unique_ptr<DensityEstimate> density)
    : options_(options),
      density_(std::move(density)),
      objectives_({.feature_dim = 1, .capacity = kSample, .seed = options.seed}) {
  if (!(options.weight >= 0 && std::isfinite(options.weight))) {
    throw Error(ErrorKind::parameter, "weight of the objective", fmt::format("{}", options.weight),
                "a finite number of at least 0");
  }
}

void QualityDensity::score(const Evaluated& batch, std::span<double> scores, Workers& workers) {
  if (!(spread_ > 0) || batch.objectives.empty()) {
    density_->score(batch, scores, workers);
    return;
  }
  density_->refined_log_density(batch.features, scores, workers);
  // log p(y) - w (f - c) / s, of the class comment.
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const double better = (limited_objective(batch.objectives[i]) - centre_) / spread_;
    scores[i] -= options_.weight * limited_objective(better);
  }
}

void QualityDensity::observe(const Evaluated& batch, Workers& workers) {
  density_->observe(batch, workers);
  if (batch.objectives.empty()) return;
  limited_.resize(static_cast<Index>(batch.objectives.size()), 1);
  std::transform(batch.objectives.begin(), batch.objectives.end(), limited_.values().begin(),
                 limited_objective);
  changed_.clear();
  objectives_.add(limited_, changed_);
  if (!changed_.empty()) measure();
}

void QualityDensity::measure() {
  const auto sample = objectives_.contents().values();
  sorted_.reserve(static_cast<std::size_t>(kSample));
  sorted_.assign(sample.begin(), sample.end());
  if (sorted_.empty()) return;
  std::sort(sorted_.begin(), sorted_.end());
  const std::size_t last = sorted_.size() - 1;
  centre_ = sorted_[last / 2];
  spread_ = (sorted_[last - last / 4] - sorted_[last / 4]) / kNormalQuartiles;
  if (spread_ > 0 || sorted_.front() == sorted_.back()) return;
  spread_ = deviation_of(sorted_);
}

void QualityDensity::identify(StateOptions& options) const {
  options.real("quality.weight", options_.weight);
  objectives_.identify(options);
  density_->identify(options);
}

void QualityDensity::save(StateWriter& out) const {
  density_->save(out);
  objectives_.save(out);
}

// What is known of the objectives follows from the sample.
void QualityDensity::load(StateReader& in) {
  density_->load(in);
  objectives_.load(in);
  centre_ = spread_ = 0.0;
  measure();
}

}  // namespace rarefy
