#include "rarefy/emitters/linear_strategy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/at.hpp"
#include "core/squared_norm.hpp"
#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

// Checked, and with its defaults filled in, as for CMA-ES.
LinearStrategyOptions completed(LinearStrategyOptions options) {
  options.batch = CmaEs::checked({.dimension = options.dimension,
                                  .batch = options.batch,
                                  .sigma0 = options.sigma0,
                                  .mirrored = options.mirrored,
                                  .bounds = options.bounds})
                      .batch;
  return options;
}

// path = (1 - rate) path + sqrt(rate (2 - rate) mueff) step, which keeps its variance under
// neutral selection.
void follow(std::span<double> path, std::span<const double> step, double rate, double mueff) {
  const double push = std::sqrt(rate * (2 - rate) * mueff);
  for (std::size_t d = 0; d < path.size(); ++d) path[d] = (1 - rate) * path[d] + push * step[d];
}

}  // namespace

LinearStrategy::LinearStrategy(const LinearStrategyOptions& options)
    : options_(completed(options)),
      parameters_(options_.dimension, options_.batch),
      normals_(options_.batch, options_.dimension),
      steps_(options_.batch, options_.dimension),
      mean_step_(at(options_.dimension)),
      mean_normal_(at(options_.dimension)) {}

void LinearStrategy::reset(std::span<const double> mean) {
  if (static_cast<Index>(mean.size()) != options_.dimension) {
    throw Error(ErrorKind::data, "evolution strategy: initial solution",
                fmt::format("{} values", mean.size()), fmt::format("{}", options_.dimension));
  }
  mean_.assign(mean.begin(), mean.end());
  sigma_ = options_.sigma0;
  generation_ = 0;
  parameters_.select(options_.batch / 2);
  reset_shape();
}

// x = mean + sigma y.
void LinearStrategy::place(std::span<const double> normals, std::span<double> solution) const {
  std::copy(normals.begin(), normals.end(), solution.begin());
  shape(solution);
  for (std::size_t d = 0; d < solution.size(); ++d) solution[d] = mean_[d] + sigma_ * solution[d];
}

void LinearStrategy::ask(const StreamKey& key, BatchSpan out) {
  const Index n = options_.dimension;
  if (out.rows() != options_.batch || out.cols() != n) {
    throw Error(ErrorKind::data, "evolution strategy: ask",
                fmt::format("{} x {}", out.rows(), out.cols()),
                fmt::format("{} x {}", options_.batch, n));
  }
  // The numbers of all rows from one stream, then row by row.
  const Index drawn = options_.mirrored ? (options_.batch + 1) / 2 : options_.batch;
  fill_normals(key, normals_.span().rows(0, drawn).values());
  if (options_.mirrored) {  // from the last on, so that none is overwritten before it is used
    for (Index i = drawn - 1; i >= 0; --i) {
      for (Index d = 0; d < n; ++d) {
        const double z = normals_(i, d);
        if (2 * i + 1 < options_.batch) normals_(2 * i + 1, d) = -z;
        normals_(2 * i, d) = z;
      }
    }
  }
  for (Index i = 0; i < options_.batch; ++i) {
    const auto row = out.row(i);
    const auto normals = normals_.row(i);
    place(normals, row);
    if (options_.bounds.any()) {
      keep_inside(options_.bounds, key, i, row, [&](const StreamKey& again) {
        fill_normals(again, normals);
        place(normals, row);
      });
    }
  }
}

void LinearStrategy::tell(BatchView solutions, std::span<const Index> order, Index parents) {
  const Index n = options_.dimension;
  if (solutions.rows() != options_.batch || solutions.cols() != n ||
      static_cast<Index>(order.size()) != options_.batch || parents < 0 ||
      parents > options_.batch) {
    throw Error(
        ErrorKind::data, "evolution strategy: tell",
        fmt::format("{} x {} solutions, {} ranks, {} parents", solutions.rows(), solutions.cols(),
                    order.size(), parents),
        fmt::format("{} x {}, {}, and 0 to {}", options_.batch, n, options_.batch, options_.batch));
  }
  ++generation_;
  if (parents == 0) return;
  if (parents != parameters_.mu) parameters_.select(parents);
  std::fill(mean_step_.begin(), mean_step_.end(), 0.0);
  std::fill(mean_normal_.begin(), mean_normal_.end(), 0.0);
  for (Index i = 0; i < parents; ++i) {
    const Index row = order[at(i)];
    const auto x = solutions.row(row);
    const auto z = normals_.view().row(row);
    const auto step = steps_.row(i);
    const double weight = parameters_.weights[at(i)];
    for (std::size_t d = 0; d < x.size(); ++d) {
      step[d] = (x[d] - mean_[d]) / sigma_;
      mean_step_[d] += weight * step[d];
      mean_normal_[d] += weight * z[d];
    }
  }
  for (std::size_t d = 0; d < mean_.size(); ++d) mean_[d] += sigma_ * mean_step_[d];
  sigma_ *= adapt({.mean_step = mean_step_,
                   .mean_normal = mean_normal_,
                   .steps = steps_.view().rows(0, parents)});
}

void LinearStrategy::identify(StateOptions& options) const {
  options.integer("es.dimension", options_.dimension);
  options.integer("es.batch", options_.batch);
  options.real("es.sigma0", options_.sigma0);
  options.flag("es.mirrored", options_.mirrored);
  options_.bounds.identify(options);
}

void LinearStrategy::save(StateWriter& out) const {
  out.reals("es.mean", mean_);
  out.real("es.sigma", sigma_);
  out.integer("es.generation", generation_);
}

void LinearStrategy::load(StateReader& in) {
  in.finite_reals("es.mean", mean_);
  sigma_ = in.finite("es.sigma");
  generation_ = in.integer("es.generation", 0, std::int64_t{1} << 62);
  if (!(sigma_ > 0)) {
    throw Error(ErrorKind::corrupt, "saved state: sigma", fmt::format("{}", sigma_),
                "a number > 0");
  }
}

SeparableCmaEs::SeparableCmaEs(const LinearStrategyOptions& options) : LinearStrategy(options) {
  reset(std::vector<double>(at(dimension()), 0.0));
}

void SeparableCmaEs::reset_shape() {
  variances_.assign(at(dimension()), 1.0);
  path_c_.assign(at(dimension()), 0.0);
  path_sigma_.assign(at(dimension()), 0.0);
}

void SeparableCmaEs::shape(std::span<double> row) const {
  for (std::size_t d = 0; d < row.size(); ++d) row[d] *= std::sqrt(variances_[d]);
}

double SeparableCmaEs::adapt(const Lesson& lesson) {
  const auto& p = parameters();
  const auto n = static_cast<double>(dimension());
  // A diagonal has n numbers to learn instead of n (n + 1) / 2: rates are (n + 2) / 3 times as
  // large (Ros and Hansen, section 2).
  const double faster = (n + 2) / 3;
  const double c1 = std::min(1.0, p.c1 * faster);
  const double cmu = std::min(1.0 - c1, p.cmu * faster);

  const double push = std::sqrt(p.csigma * (2 - p.csigma) * p.mueff);
  for (std::size_t d = 0; d < path_sigma_.size(); ++d) {
    path_sigma_[d] =
        (1 - p.csigma) * path_sigma_[d] + push * lesson.mean_step[d] / std::sqrt(variances_[d]);
  }
  const double length = std::sqrt(squared_norm(path_sigma_));
  const double decay = 1 - std::pow(1 - p.csigma, 2.0 * static_cast<double>(generation()));
  const bool hsig = length / std::sqrt(decay) < (1.4 + 2 / (n + 1)) * p.chi_n;
  if (hsig) {
    follow(path_c_, lesson.mean_step, p.cc, p.mueff);
  } else {
    for (double& value : path_c_) value *= 1 - p.cc;
  }
  const double delta = hsig ? 0.0 : p.cc * (2 - p.cc);
  const double keep = 1 + c1 * delta - c1 - cmu;
  for (std::size_t d = 0; d < variances_.size(); ++d) {
    double spread = 0.0;
    for (Index i = 0; i < lesson.steps.rows(); ++i) {
      const double step = lesson.steps(i, static_cast<Index>(d));
      spread += p.weights[at(i)] * step * step;
    }
    variances_[d] = keep * variances_[d] + c1 * path_c_[d] * path_c_[d] + cmu * spread;
  }
  return std::exp(std::min(1.0, p.csigma / p.dsigma * (length / p.chi_n - 1)));
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

LmMaEs::LmMaEs(const LinearStrategyOptions& options) : LinearStrategy(options) {
  const auto n = static_cast<double>(dimension());
  directions_.resize(4 + static_cast<Index>(std::floor(3 * std::log(n))), dimension());
  reset(std::vector<double>(at(dimension()), 0.0));
}

void LmMaEs::reset_shape() {
  std::fill(directions_.values().begin(), directions_.values().end(), 0.0);
  path_sigma_.assign(at(dimension()), 0.0);
}

// Algorithm 1, lines 8 to 10: d = (1 - c_j) d + c_j m_j (m_j' d), with c_j = 1 / (1.5^(j-1) n).
void LmMaEs::shape(std::span<double> row) const {
  double rate = 1.0 / static_cast<double>(dimension());
  const Index known = std::min<Index>(directions_.rows(), generation());
  for (Index j = 0; j < known; ++j, rate /= 1.5) {
    const auto m = directions_.view().row(j);
    const double along = std::inner_product(m.begin(), m.end(), row.begin(), 0.0);
    for (std::size_t d = 0; d < row.size(); ++d) row[d] = (1 - rate) * row[d] + rate * along * m[d];
  }
}

// Lines 12 to 15. The rates are meant for n much larger than lambda; none may pass 1.
double LmMaEs::adapt(const Lesson& lesson) {
  const auto n = static_cast<double>(dimension());
  const auto lambda = static_cast<double>(batch());
  const double mueff = parameters().mueff;
  const double csigma = std::min(1.0, 2 * lambda / n);
  follow(path_sigma_, lesson.mean_normal, csigma, mueff);
  double rate = lambda / n;
  for (Index j = 0; j < directions_.rows(); ++j, rate /= 4) {
    follow(directions_.row(j), lesson.mean_normal, std::min(1.0, rate), mueff);
  }
  return std::exp(std::min(1.0, csigma / 2 * (squared_norm(path_sigma_) / n - 1)));
}

Stop LmMaEs::stop(std::span<const double> scores, const StopTests& tests) const {
  return stop_by(sigma(), scores, tests);
}

void LmMaEs::save(StateWriter& out) const {
  LinearStrategy::save(out);
  out.reals("lm.directions", directions_.values());
  out.reals("lm.path_sigma", path_sigma_);
}

void LmMaEs::load(StateReader& in) {
  LinearStrategy::load(in);
  in.finite_reals("lm.directions", directions_.values());
  in.finite_reals("lm.path_sigma", path_sigma_);
}

}  // namespace rarefy
