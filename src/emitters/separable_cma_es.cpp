#include "rarefy/emitters/separable_cma_es.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/at.hpp"
#include "core/maths.hpp"
#include "core/squared_norm.hpp"
#include "rarefy/core/error.hpp"

namespace rarefy {

SeparableCmaEs::SeparableCmaEs(const LinearStrategyOptions& options) : LinearStrategy(options) {
  reset(std::vector<double>(at(dimension()), 0.0));
}

void SeparableCmaEs::reset_shape() {
  const bool given = std::exchange(shape_given_, false);
  const auto positive = [](double variance) { return variance > 0; };
  if (!given || !std::all_of(variances_.begin(), variances_.end(), positive)) {
    variances_.assign(at(dimension()), 1.0);
  }
  path_c_.assign(at(dimension()), 0.0);
  path_sigma_.assign(at(dimension()), 0.0);
}

StepShape SeparableCmaEs::learned_shape() const {
  if (generation() == 0) return {};
  const double sum = std::accumulate(variances_.begin(), variances_.end(), 0.0);
  return {.values = variances_, .mean_variance = sum / static_cast<double>(dimension())};
}

void SeparableCmaEs::begin_with(std::span<const double> shape) {
  if (static_cast<Index>(shape.size()) != dimension()) {
    throw Error(ErrorKind::data, "sep-CMA-ES: variances to begin with",
                fmt::format("{}", shape.size()), fmt::format("{}", dimension()));
  }
  for (std::size_t d = 0; d < shape.size(); ++d) {
    variances_[d] = (1 - kOfSphere) * shape[d] + kOfSphere;
  }
  shape_given_ = true;
}

// Some columns at a time, so that their roots are taken once for all rows.
void SeparableCmaEs::shape(BatchSpan rows) const {
  constexpr std::size_t kColumns = 128;
  double roots[kColumns];
  for (std::size_t first = 0; first < variances_.size(); first += kColumns) {
    const std::size_t count = std::min(kColumns, variances_.size() - first);
    for (std::size_t d = 0; d < count; ++d) roots[d] = std::sqrt(variances_[first + d]);
    for (Index i = 0; i < rows.rows(); ++i) {
      double* const values = rows.row(i).data() + first;
      for (std::size_t d = 0; d < count; ++d) values[d] *= roots[d];
    }
  }
}

// A diagonal has n numbers to learn instead of n (n + 1) / 2: rates are (n + 2) / 3 times as
// large (Ros and Hansen, section 2).
SeparableCmaEs::Rates SeparableCmaEs::rates() const {
  const auto& p = parameters();
  const double faster = (static_cast<double>(dimension()) + 2) / 3;
  const double c1 = std::min(1.0, p.c1 * faster);
  return {.cc = p.cc, .c1 = c1, .cmu = std::min(1.0 - c1, p.cmu * faster), .rank_one = c1};
}

bool SeparableCmaEs::path_is_short(double length) const {
  const auto& p = parameters();
  const auto n = static_cast<double>(dimension());
  const double decay = 1 - maths::power(1 - p.csigma, 2.0 * static_cast<double>(generation()));
  return length / std::sqrt(decay) < (1.4 + 2 / (n + 1)) * p.chi_n;
}

double SeparableCmaEs::step_change(double length) const {
  const auto& p = parameters();
  return p.csigma / p.dsigma * (length / p.chi_n - 1);
}

double SeparableCmaEs::adapt(const Lesson& lesson) {
  const auto& p = parameters();
  const auto [cc, c1, cmu, rank_one] = rates();

  const double push = std::sqrt(p.csigma * (2 - p.csigma) * p.mueff);
  for (std::size_t d = 0; d < path_sigma_.size(); ++d) {
    path_sigma_[d] =
        (1 - p.csigma) * path_sigma_[d] + push * lesson.mean_step[d] / std::sqrt(variances_[d]);
  }
  const double length = std::sqrt(squared_norm(path_sigma_));
  const bool hsig = path_is_short(length);
  const double along = hsig ? std::sqrt(cc * (2 - cc) * p.mueff) * path_unit() : 0.0;
  for (std::size_t d = 0; d < path_c_.size(); ++d) {
    path_c_[d] = (1 - cc) * path_c_[d] + along * lesson.mean_step[d];
  }
  const double delta = hsig ? 0.0 : cc * (2 - cc);
  const double keep = 1 + c1 * delta - c1 - cmu;
  for (std::size_t d = 0; d < variances_.size(); ++d) {
    double spread = 0.0;
    for (Index i = 0; i < lesson.steps.rows(); ++i) {
      const double step = lesson.steps(i, static_cast<Index>(d));
      spread += p.weights[at(i)] * step * step;
    }
    variances_[d] = keep * variances_[d] + rank_one * path_c_[d] * path_c_[d] + cmu * spread;
  }
  return maths::exp(std::min(1.0, step_change(length)));
}

Stop SeparableCmaEs::stop(std::span<const double> scores, const StopTests& tests) const {
  const auto [least, most] = std::minmax_element(variances_.begin(), variances_.end());
  if (!(*least > 0) || !(*most / *least <= tests.condition)) return Stop::condition;
  return stop_by(sigma() * std::sqrt(*most), scores, tests);
}

void SeparableCmaEs::save(StateWriter& out) const {
  LinearStrategy::save(out);
  out.reals("sep.variances", variances_);
  out.reals("sep.path_c", path_c_);
  out.reals("sep.path_sigma", path_sigma_);
}

void SeparableCmaEs::load(StateReader& in) {
  LinearStrategy::load(in);
  in.finite_reals("sep.variances", variances_);
  in.finite_reals("sep.path_c", path_c_);
  in.finite_reals("sep.path_sigma", path_sigma_);
  if (!std::all_of(variances_.begin(), variances_.end(), [](double v) { return v > 0; })) {
    throw Error(ErrorKind::corrupt, "saved state: a variance is not above 0");
  }
}

}  // namespace rarefy
