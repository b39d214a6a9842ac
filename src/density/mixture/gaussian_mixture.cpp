#include "density/mixture/gaussian_mixture.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/maths.hpp"
#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

constexpr Index kSamplesAPiece = 64;
// A component that has come to less than this part of its share is begun anew.
constexpr double kDead = 0.1;
// So many times its weight the background may explain.
constexpr double kTooMuch = 3.0;
// The deviation of a component in its beginning, in widths of the box.
constexpr double kFirstDeviation = 0.15;

// The logarithm of the sum of exponentials, relative to the largest.
double log_sum_exp(std::span<const double> terms) {
  const double largest = *std::max_element(terms.begin(), terms.end());
  double sum = 0.0;
  for (const double term : terms) sum += maths::exp(term - largest);
  return largest + maths::log(sum);
}

}  // namespace

GaussianMixture::GaussianMixture(Index dims, const MixtureOptions& options)
    : dims_(dims),
      components_(options.components),
      smoothing_(options.smoothing),
      background_(options.background),
      count_(size(components_)),
      sum_(size(components_ * dims_)),
      square_(size(components_ * squares())),
      weights_(size(components_)),
      means_(size(components_ * dims_)),
      factors_(size(components_ * squares())),
      log_scales_(size(components_)) {
  for (Index k = 0; k < components_; ++k) {
    set_statistics(k, std::vector<double>(size(dims_)), 1.0 / static_cast<double>(components_),
                   kFirstDeviation * kFirstDeviation);
  }
  maximise();
}

void GaussianMixture::set_statistics(Index k, std::span<const double> place, double count,
                                     double variance) {
  count_[size(k)] = count;
  double* square = square_.data() + k * squares();
  for (Index i = 0; i < dims_; ++i) {
    sum_[size(k * dims_ + i)] = count * place[size(i)];
    for (Index j = 0; j <= i; ++j) {
      *square++ = count * (place[size(i)] * place[size(j)] + (i == j ? variance : 0.0));
    }
  }
}

void GaussianMixture::place(BatchView places) {
  for (Index k = 0; k < components_; ++k) {
    set_statistics(k, places.row(k % places.rows()), 1.0 / static_cast<double>(components_),
                   kFirstDeviation * kFirstDeviation);
  }
  maximise();
}

// The mixture that the statistics are most likely of:
//   w_k = s0_k / sum_l s0_l,  mu_k = s1_k / s0_k,  S_k = s2_k / s0_k - mu_k mu_k^T
// (the M step of EM for mixtures, e.g. C. M. Bishop, "Pattern recognition and machine learning",
// 2006, eqs. 9.24 to 9.26), and S_k + smoothing^2 I so that no component collapses.
void GaussianMixture::maximise() {
  double all = 0.0;
  for (const double count : count_) all += count;
  for (Index k = 0; k < components_; ++k) {
    weights_[size(k)] = count_[size(k)] / all;
    maximise(k);
  }
}

void GaussianMixture::maximise(Index k) {
  const double count = count_[size(k)];
  double* const mean = means_.data() + k * dims_;
  for (Index i = 0; i < dims_; ++i) mean[i] = sum_[size(k * dims_ + i)] / count;
  // The covariance, and its Cholesky factor in the same place.
  double* const factor = factors_.data() + k * squares();
  const double* const square = square_.data() + k * squares();
  const double least = smoothing_ * smoothing_;
  double log_determinant = 0.0;
  for (Index i = 0, at = 0; i < dims_; ++i) {
    double* const row = factor + i * (i + 1) / 2;
    for (Index j = 0; j <= i; ++j, ++at) {
      double value = square[at] / count - mean[i] * mean[j] + (i == j ? least : 0.0);
      const double* const other = factor + j * (j + 1) / 2;
      for (Index l = 0; l < j; ++l) value -= row[l] * other[l];
      // What rounding has left of a covariance may have no root.
      row[j] = i == j ? std::sqrt(std::max(value, 0.5 * least)) : value / other[j];
    }
    log_determinant += maths::log(row[i]);
  }
  log_scales_[size(k)] = maths::log(weights_[size(k)]) + maths::log1p(-background_) -
                         log_determinant -
                         0.5 * static_cast<double>(dims_) * maths::log(2.0 * std::numbers::pi);
}

void GaussianMixture::log_terms(std::span<const double> x, std::span<double> terms,
                                std::span<double> difference) const {
  for (Index k = 0; k < components_; ++k) {
    const double* const mean = means_.data() + k * dims_;
    const double* row = factors_.data() + k * squares();
    double distance = 0.0;
    // L z = x - mu, from the top; the squared distance is z^T z.
    for (Index i = 0; i < dims_; ++i) {
      double value = x[size(i)] - mean[i];
      for (Index j = 0; j < i; ++j) value -= row[j] * difference[size(j)];
      value /= row[i];
      difference[size(i)] = value;
      distance += value * value;
      row += i + 1;
    }
    terms[size(k)] = log_scales_[size(k)] - 0.5 * distance;
  }
  double distance = 0.0;
  for (const double value : x) distance += value * value;
  terms[size(components_)] =
      maths::log(background_) -
      0.5 * (distance + static_cast<double>(dims_) * maths::log(2.0 * std::numbers::pi));
}

double GaussianMixture::log_density(std::span<const double> x, std::span<double> scratch) const {
  const auto terms = scratch.first(size(components_ + 1));
  log_terms(x, terms, scratch.subspan(size(components_ + 1)));
  return log_sum_exp(terms);
}

// Online EM (O. Cappe and E. Moulines, "On-line expectation-maximization algorithm for latent data
// models", Journal of the Royal Statistical Society B 71(3), 2009): with gamma the rate, and the
// mean over the samples in place of the one observation of the paper,
//   s <- s + gamma (E[s(x); theta(s)] - s)
void GaussianMixture::learn(BatchView samples, double rate, Workers& workers) {
  const Index rows = samples.rows();
  const auto width = components_ + 1;
  responsibilities_.resize(size(rows * width));
  densities_.resize(size(rows));
  const Index pieces = (rows + kSamplesAPiece - 1) / kSamplesAPiece;
  terms_.resize(size(pieces * dims_));
  // E step: r_ik = w_k N(x_i; mu_k, S_k) / p(x_i).
  workers.for_pieces(rows, kSamplesAPiece, [&](Index first, Index count) {
    const auto difference =
        std::span(terms_).subspan(size(first / kSamplesAPiece * dims_), size(dims_));
    for (Index i = first; i < first + count; ++i) {
      const auto terms = std::span(responsibilities_).subspan(size(i * width), size(width));
      log_terms(samples.row(i), terms, difference);
      const double density = log_sum_exp(terms);
      densities_[size(i)] = density;
      for (double& term : terms) term = maths::exp(term - density);
    }
  });
  workers.for_each(components_, [&](Index k) {
    const double part = rate / static_cast<double>(rows);
    double* const sum = sum_.data() + k * dims_;
    double* const squares_of_k = square_.data() + k * squares();
    count_[size(k)] *= 1.0 - rate;
    for (Index i = 0; i < dims_; ++i) sum[i] *= 1.0 - rate;
    for (Index i = 0; i < squares(); ++i) squares_of_k[i] *= 1.0 - rate;
    for (Index row = 0; row < rows; ++row) {
      const double r = part * responsibilities_[size(row * width + k)];
      count_[size(k)] += r;
      double* square = squares_of_k;
      for (Index i = 0; i < dims_; ++i) {
        const double weighted = r * samples(row, i);
        sum[i] += weighted;
        for (Index j = 0; j <= i; ++j) *square++ += weighted * samples(row, j);
      }
    }
  });
  reseed(samples);
  maximise();
}

// The weakest component begins anew where the samples are explained worst, if it has come to next
// to nothing; or if it explains less than the background does, though that explains far more than
// its weight: then there are features where no component is.
void GaussianMixture::reseed(BatchView samples) {
  double all = 0.0;
  for (const double count : count_) all += count;
  const double share = all / static_cast<double>(components_);
  const auto weakest = std::min_element(count_.begin(), count_.end());
  double unexplained = 0.0;
  for (Index i = 0; i < samples.rows(); ++i) {
    unexplained += responsibilities_[size(i * (components_ + 1) + components_)];
  }
  unexplained /= static_cast<double>(samples.rows());
  const bool dead = *weakest < kDead * share;
  const bool wanted = unexplained > kTooMuch * background_ && unexplained > *weakest;
  if (!dead && !wanted) return;
  const auto worst = std::min_element(densities_.begin(), densities_.begin() + samples.rows());
  set_statistics(weakest - count_.begin(), samples.row(worst - densities_.begin()), 0.5 * share,
                 kFirstDeviation * kFirstDeviation);
  ++reseeded_;
}

void GaussianMixture::save(StateWriter& out) const {
  out.integer("mixture.reseeded", reseeded_);
  out.reals("mixture.count", count_);
  out.reals("mixture.sum", sum_);
  out.reals("mixture.square", square_);
}

void GaussianMixture::load(StateReader& in) {
  reseeded_ = in.integer("mixture.reseeded", 0, std::numeric_limits<std::int64_t>::max());
  in.finite_reals("mixture.count", count_);
  in.finite_reals("mixture.sum", sum_);
  in.finite_reals("mixture.square", square_);
  if (std::any_of(count_.begin(), count_.end(), [](double count) { return !(count > 0.0); })) {
    throw Error(ErrorKind::corrupt, "saved state: weight of a component of the mixture",
                "0 or less", "more than 0");
  }
  maximise();
}

}  // namespace rarefy
