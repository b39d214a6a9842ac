#include "rarefy/emitters/cma_es.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/maths.hpp"
#include "core/squared_norm.hpp"
#include "kernels/covariance.hpp"
#include "kernels/dense.hpp"
#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

void check(const CmaEsOptions& options) {
  if (options.dimension < 1) {
    throw Error(ErrorKind::parameter, "CMA-ES: dimension", fmt::format("{}", options.dimension),
                "at least 1");
  }
  if (options.batch != 0 && options.batch < 2) {
    throw Error(ErrorKind::parameter, "CMA-ES: batch", fmt::format("{}", options.batch),
                "at least 2, or 0 for the default");
  }
  if (!(options.sigma0 > 0) || !std::isfinite(options.sigma0)) {
    throw Error(ErrorKind::parameter, "sigma0", fmt::format("{}", options.sigma0), "a number > 0");
  }
  check_bounds(options.bounds, options.dimension, options.batch);
}

}  // namespace

CmaEsParameters::CmaEsParameters(Index dimension, Index batch)
    : CmaEsParameters(dimension, batch, batch / 2) {}

CmaEsParameters::CmaEsParameters(Index dimension, Index batch, Index parents)
    : n(dimension), lambda(batch) {
  if (parents > batch) {
    throw Error(ErrorKind::parameter, "CMA-ES: parents", fmt::format("{}", parents),
                fmt::format("1 to {}", batch));
  }
  weights.reserve(static_cast<std::size_t>(batch));
  select(parents);
}

// Hansen's table 1, equations (49) to (58) of the first edition (2016), without negative weights;
// the second adds 1/4 to the numerator of cmu.
void CmaEsParameters::select(Index parents) {
  if (parents < 1) {
    throw Error(ErrorKind::parameter, "CMA-ES: parents", fmt::format("{}", parents), "at least 1");
  }
  mu = parents;
  const auto dim = static_cast<double>(n);
  // (49) takes ln((lambda + 1) / 2), which is ln(mu + 1/2) for the half of an even lambda. The
  // latter goes for any other number of parents: weights reach down to 0 just behind the last.
  const double top = mu == lambda / 2 && !by_parents ? (static_cast<double>(lambda) + 1) / 2
                                                     : static_cast<double>(mu) + 0.5;
  double sum = 0, sum_of_squares = 0;
  weights.clear();
  for (Index i = 1; i <= mu; ++i) {
    const double weight = maths::log(top) - maths::log(static_cast<double>(i));
    weights.push_back(weight);
    sum += weight;
  }
  for (double& weight : weights) {
    weight /= sum;
    sum_of_squares += weight * weight;
  }
  mueff = 1 / sum_of_squares;
  cc = (4 + mueff / dim) / (dim + 4 + 2 * mueff / dim);
  csigma = (mueff + 2) / (dim + mueff + 5);
  c1 = 2 / ((dim + 1.3) * (dim + 1.3) + mueff);
  cmu = std::min(1 - c1, 2 * (mueff - 2 + 1 / mueff) / ((dim + 2) * (dim + 2) + mueff));
  dsigma = 1 + 2 * std::max(0.0, std::sqrt((mueff - 1) / (dim + 1)) - 1) + csigma;
  chi_n = std::sqrt(dim) * (1 - 1 / (4 * dim) + 1 / (21 * dim * dim));
}

CmaEsOptions CmaEs::checked(CmaEsOptions options) {
  check(options);
  if (options.batch == 0) {
    const auto n = static_cast<double>(options.dimension);
    options.batch = 4 + static_cast<Index>(std::floor(3 * maths::log(n)));
  }
  return options;
}

CmaEs::CmaEs(CmaEsOptions options)
    : options_(checked(std::move(options))),
      initial_step_(options_.sigma0),
      decompose_every_(options_.decompose_every),
      asked_(options_.batch) {
  const Index n = options_.dimension;
  parameters_ = CmaEsParameters(n, options_.batch);
  if (decompose_every_ == 0) {
    const double gap = 1 / (10 * static_cast<double>(n) * (parameters_.c1 + parameters_.cmu));
    decompose_every_ = std::max<Index>(1, static_cast<Index>(std::floor(gap)));
  }
  covariance_.resize(n, n);
  factor_.resize(n, n);
  next_.resize(n, n);
  if (options_.factor == Factor::eigen) {
    axes_.resize(n, n);
    lengths_.resize(static_cast<std::size_t>(n));
  }
  mean_step_.resize(static_cast<std::size_t>(n));
  whitened_.resize(static_cast<std::size_t>(n));
  reset(std::vector<double>(static_cast<std::size_t>(n), 0.0));
}

void CmaEs::weigh_by_parents() {
  parameters_.by_parents = true;
  parameters_.select(parameters_.mu);
}

// Memory for a batch, when there is one.
void CmaEs::make_room(Index rows) {
  normals_.resize(rows, options_.dimension);
  steps_.resize(rows + 1, options_.dimension);  // one more row for the rank-one term
  update_weights_.resize(static_cast<std::size_t>(rows + 1));
}

void CmaEs::reset(std::span<const double> mean) {
  if (static_cast<Index>(mean.size()) != options_.dimension) {
    throw Error(ErrorKind::data, "CMA-ES: initial solution", fmt::format("{} values", mean.size()),
                fmt::format("{}", options_.dimension));
  }
  mean_.assign(mean.begin(), mean.end());
  sigma_ = initial_step_;
  path_c_.assign(mean.size(), 0.0);
  path_sigma_.assign(mean.size(), 0.0);
  generation_ = factor_generation_ = 0;
  if (std::exchange(shape_given_, false)) {
    decompose();
    if (positive_) return;
  }
  begin_round();
}

void CmaEs::begin_round() {
  const auto identity = [](Batch& matrix) {
    std::fill(matrix.values().begin(), matrix.values().end(), 0.0);
    for (Index i = 0; i < matrix.rows(); ++i) matrix(i, i) = 1.0;
  };
  identity(covariance_);
  identity(factor_);
  if (options_.factor == Factor::eigen) {
    identity(axes_);
    std::fill(lengths_.begin(), lengths_.end(), 1.0);
  }
  condition_ = longest_ = 1;
  positive_ = true;
}

StepShape CmaEs::learned_shape() const {
  if (generation_ == 0 || !positive_) return {};
  double trace = 0;
  for (Index i = 0; i < covariance_.rows(); ++i) trace += covariance_(i, i);
  return {.values = covariance_.view().values(),
          .mean_variance = trace / static_cast<double>(options_.dimension)};
}

void CmaEs::begin_with(std::span<const double> shape) {
  if (static_cast<Index>(shape.size()) != shape_size()) {
    throw Error(ErrorKind::data, "CMA-ES: covariance matrix to begin with",
                fmt::format("{} values", shape.size()), fmt::format("{}", shape_size()));
  }
  const auto values = covariance_.values();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = (1 - kOfSphere) * shape[i];
  for (Index i = 0; i < options_.dimension; ++i) covariance_(i, i) += kOfSphere;
  shape_given_ = true;
}

// The factor F of x = mean + sigma F'z, from the covariance matrix as it is now. Where that
// has ceased to be positive definite, the last good factor stays and stop() says so.
void CmaEs::decompose() {
  const Index n = options_.dimension;
  double shortest = 1;
  if (options_.factor == Factor::cholesky) {
    positive_ = kernels::cholesky(covariance_.data(), next_.data(), n);
    factor_generation_ = generation_;
    if (!positive_) return;
    std::swap(factor_, next_);
    // The diagonal of F brackets the axes from inside: a lower bound of the condition.
    shortest = longest_ = factor_(0, 0);
    for (Index i = 1; i < n; ++i) {
      shortest = std::min(shortest, factor_(i, i));
      longest_ = std::max(longest_, factor_(i, i));
    }
  } else {
    positive_ =
        kernels::dense().eigenvectors(covariance_.data(), whitened_.data(), next_.data(), n) &&
        whitened_.front() > 0;
    factor_generation_ = generation_;  // not before: the solver may find no memory
    if (!positive_) return;
    std::swap(axes_, next_);
    std::swap(lengths_, whitened_);
    for (double& length : lengths_) length = std::sqrt(length);
    shortest = lengths_.front();
    longest_ = lengths_.back();
    for (Index i = 0; i < n; ++i) {
      const double length = lengths_[static_cast<std::size_t>(i)];
      for (Index j = 0; j < n; ++j) factor_(i, j) = length * axes_(i, j);
    }
  }
  condition_ = (longest_ / shortest) * (longest_ / shortest);
}

// Equations (38) to (40): x = mean + sigma F'z, z ~ N(0, I), all rows in one product.
void CmaEs::ask(const StreamKey& key, BatchSpan out) {
  const Index n = options_.dimension;
  const Index rows = out.rows();
  if (rows < 1 || out.cols() != n) {
    throw Error(ErrorKind::data, "CMA-ES: ask", fmt::format("{} x {}", rows, out.cols()),
                fmt::format("{} x {}", options_.batch, n));
  }
  if (rows > options_.batch) check_bounds(options_.bounds, n, rows);
  make_room(rows);
  asked_ = rows;
  forced_ = 0;
  if (generation_ - factor_generation_ >= decompose_every_) decompose();
  // Mirrored: half the rows are drawn, multiplied and then reflected at the mean.
  const Index drawn = options_.mirrored ? (rows + 1) / 2 : rows;
  const BatchSpan normals = normals_.span().rows(0, drawn);
  fill_normals(key, normals.values());
  const bool triangular = options_.factor == Factor::cholesky;
  double* products = options_.mirrored ? out.data() + (rows - drawn) * n : out.data();
  kernels::multiply(normals.data(), factor_.data(), triangular, products, drawn, n);
  if (!options_.mirrored) {
    for (Index i = 0; i < drawn; ++i) {
      for (Index d = 0; d < n; ++d) {
        out(i, d) = mean_[static_cast<std::size_t>(d)] + sigma_ * out(i, d);
      }
    }
  } else {
    // The products lie in the last rows; row i of them becomes rows 2i and 2i + 1, which
    // never lie behind row i itself.
    for (Index i = 0; i < drawn; ++i) {
      for (Index d = 0; d < n; ++d) {
        const double step = sigma_ * products[i * n + d];
        const double centre = mean_[static_cast<std::size_t>(d)];
        out(2 * i, d) = centre + step;
        if (2 * i + 1 < rows) out(2 * i + 1, d) = centre - step;
      }
    }
  }
  if (options_.bounds.any()) repair_rows(key, out);
}

void CmaEs::repair_rows(const StreamKey& key, BatchSpan out) {
  const Index n = options_.dimension;
  const bool triangular = options_.factor == Factor::cholesky;
  for (Index i = 0; i < out.rows(); ++i) {
    const auto row = out.row(i);
    const bool forced = keep_inside(options_.bounds, key, i, row, [&](const StreamKey& again) {
      fill_normals(again, normals_.row(0));
      kernels::multiply(normals_.data(), factor_.data(), triangular, row.data(), 1, n);
      for (std::size_t d = 0; d < row.size(); ++d) row[d] = mean_[d] + sigma_ * row[d];
    });
    if (forced) ++forced_;
  }
}

// C^-1/2 y, or F'^-1 y.
void CmaEs::whiten(std::span<double> step) {
  const Index n = options_.dimension;
  if (options_.factor == Factor::cholesky) {
    kernels::dense().solve_transposed(factor_.data(), step.data(), n);
    return;
  }
  // B D^-1 B' y
  std::fill(whitened_.begin(), whitened_.end(), 0.0);
  for (Index i = 0; i < n; ++i) {
    const auto axis = axes_.view().row(i);
    const double along = std::inner_product(axis.begin(), axis.end(), step.begin(), 0.0) /
                         lengths_[static_cast<std::size_t>(i)];
    for (std::size_t d = 0; d < axis.size(); ++d) whitened_[d] += along * axis[d];
  }
  std::copy(whitened_.begin(), whitened_.end(), step.begin());
}

void CmaEs::tell(BatchView solutions, std::span<const Index> order) {
  tell(solutions, order, options_.batch / 2);
}

void CmaEs::tell(BatchView solutions, std::span<const Index> order, Index parents) {
  const Index n = options_.dimension;
  const auto& p = parameters_;
  if (solutions.rows() != asked_ || solutions.cols() != n ||
      static_cast<Index>(order.size()) != asked_) {
    throw Error(ErrorKind::data, "CMA-ES: tell",
                fmt::format("{} x {} solutions, {} ranks", solutions.rows(), solutions.cols(),
                            order.size()),
                fmt::format("{} x {} and {}", asked_, n, asked_));
  }
  if (parents < 0 || parents > asked_) {
    throw Error(ErrorKind::data, "CMA-ES: parents", fmt::format("{}", parents),
                fmt::format("0 to {}", asked_));
  }
  make_room(asked_);
  ++generation_;
  if (parents == 0) return;  // no parents to learn from
  if (parents != p.mu) parameters_.select(parents);

  // The mu best steps y = (x - mean) / sigma, and <y>_w = sum_i w_i y_i, (41).
  const BatchSpan steps = steps_.span().rows(0, p.mu);
  std::fill(mean_step_.begin(), mean_step_.end(), 0.0);
  for (Index i = 0; i < p.mu; ++i) {
    const auto x = solutions.row(order[static_cast<std::size_t>(i)]);
    const auto step = steps.row(i);
    const double weight = p.weights[static_cast<std::size_t>(i)];
    for (std::size_t d = 0; d < x.size(); ++d) {
      step[d] = (x[d] - mean_[d]) / sigma_;
      mean_step_[d] += weight * step[d];
    }
  }

  // (43): p_sigma = (1 - c_sigma) p_sigma + sqrt(c_sigma (2 - c_sigma) mueff) C^-1/2 <y>_w.
  const auto n_values = static_cast<std::size_t>(n);
  const auto whitened = std::span(steps_.row(p.mu).data(), n_values);  // scratch
  std::copy(mean_step_.begin(), mean_step_.end(), whitened.begin());
  whiten(whitened);
  const double push = std::sqrt(p.csigma * (2 - p.csigma) * p.mueff);
  for (std::size_t d = 0; d < n_values; ++d) {
    path_sigma_[d] = (1 - p.csigma) * path_sigma_[d] + push * whitened[d];
  }
  const double length = std::sqrt(squared_norm(path_sigma_));

  const bool hsig = path_is_short(length);

  // (42): mean = mean + sigma <y>_w, with c_m = 1.
  for (std::size_t d = 0; d < n_values; ++d) mean_[d] += sigma_ * mean_step_[d];
  adapt_covariance({.mean_step = mean_step_, .steps = steps, .hsig = hsig, .sigma = sigma_});

  // (44), with a change of at most a factor e in one generation.
  sigma_ *= maths::exp(std::min(1.0, step_change(length)));
}

// h_sigma stalls p_c while p_sigma is large: table 1's condition, with g + 1 generations done.
bool CmaEs::path_is_short(double length) const {
  const auto& p = parameters_;
  const double decay = 1 - maths::power(1 - p.csigma, 2.0 * static_cast<double>(generation_));
  const auto n = static_cast<double>(options_.dimension);
  return length / std::sqrt(decay) < (1.4 + 2 / (n + 1)) * p.chi_n;
}

// (44): sigma = sigma exp((c_sigma / d_sigma) (|p_sigma| / E|N(0, I)| - 1)).
double CmaEs::step_change(double length) const {
  return parameters_.csigma / parameters_.dsigma * (length / parameters_.chi_n - 1);
}

void CmaEs::adapt_covariance(const Adaptation& now) {
  const auto& p = parameters_;
  // (45): p_c = (1 - c_c) p_c + h_sigma sqrt(c_c (2 - c_c) mueff) <y>_w.
  const double push = now.hsig ? std::sqrt(p.cc * (2 - p.cc) * p.mueff) : 0.0;
  for (std::size_t d = 0; d < path_c_.size(); ++d) {
    path_c_[d] = (1 - p.cc) * path_c_[d] + push * now.mean_step[d];
  }
  // (47): C = (1 + c_1 delta - c_1 - c_mu) C + c_1 p_c p_c' + c_mu sum_i w_i y_i y_i',
  // delta = (1 - h_sigma) c_c (2 - c_c).
  const double delta = now.hsig ? 0.0 : p.cc * (2 - p.cc);
  update_covariance(1 + p.c1 * delta - p.c1 - p.cmu, p.c1, now.steps);
}

// C = keep C + rank_one p_c p_c' + cmu sum_i w_i y_i y_i', as one symmetric update.
void CmaEs::update_covariance(double keep, double rank_one, BatchSpan steps) {
  const Index mu = parameters_.mu;
  for (Index i = 0; i < mu; ++i) {
    const auto at = static_cast<std::size_t>(i);
    update_weights_[at] = parameters_.cmu * parameters_.weights[at];
  }
  update_weights_[static_cast<std::size_t>(mu)] = rank_one;
  double* rows = steps.data();  // steps_ has one more row behind the last step
  std::copy(path_c_.begin(), path_c_.end(), rows + mu * options_.dimension);
  kernels::rank_update(covariance_.data(), keep, rows, update_weights_.data(), mu + 1,
                       options_.dimension);
}

Stop CmaEs::stop(std::span<const double> scores, const StopTests& tests) const {
  if (!positive_ || !(condition_ <= tests.condition)) return Stop::condition;
  return stop_by(sigma_ * longest_, scores, tests);
}

Batch CmaEs::covariance() const {
  Batch whole = covariance_;
  for (Index i = 1; i < whole.rows(); ++i) {
    for (Index j = 0; j < i; ++j) whole(i, j) = whole(j, i);
  }
  return whole;
}

void CmaEs::identify(StateOptions& options) const {
  options.text("es.strategy", "cma-es");
  options.integer("es.dimension", options_.dimension);
  options.integer("es.batch", options_.batch);
  options.real("es.sigma0", options_.sigma0);
  options.flag("es.mirrored", options_.mirrored);
  options_.bounds.identify(options);
  options.text("cma.factor", name_of(options_.factor));
  options.integer("cma.decompose_every", decompose_every_);
}

void CmaEs::save(StateWriter& out) const {
  out.reals("cma.mean", mean_);
  out.real("cma.sigma", sigma_);
  out.reals("cma.covariance", covariance_.values());
  out.reals("cma.path_c", path_c_);
  out.reals("cma.path_sigma", path_sigma_);
  out.integer("cma.generation", generation_);
  out.integer("cma.factor_generation", factor_generation_);
  out.integer("cma.positive", positive_ ? 1 : 0);
  out.real("cma.condition", condition_);
  out.real("cma.longest", longest_);
  out.reals("cma.factor", factor_.values());
  out.reals("cma.axes", axes_.values());
  out.reals("cma.lengths", lengths_);
}

void CmaEs::load(StateReader& in) {
  constexpr std::int64_t kMost = std::int64_t{1} << 62;
  in.finite_reals("cma.mean", mean_);
  sigma_ = in.finite("cma.sigma");
  in.finite_reals("cma.covariance", covariance_.values());
  in.finite_reals("cma.path_c", path_c_);
  in.finite_reals("cma.path_sigma", path_sigma_);
  generation_ = in.integer("cma.generation", 0, kMost);
  factor_generation_ = in.integer("cma.factor_generation", 0, generation_);
  positive_ = in.integer("cma.positive", 0, 1) == 1;
  condition_ = in.finite("cma.condition");
  longest_ = in.finite("cma.longest");
  in.finite_reals("cma.factor", factor_.values());
  in.finite_reals("cma.axes", axes_.values());
  in.finite_reals("cma.lengths", lengths_);
  const auto positive = [](double value) { return value > 0; };
  bool invertible = std::all_of(lengths_.begin(), lengths_.end(), positive);
  for (Index i = 0; i < factor_.rows() && options_.factor == Factor::cholesky; ++i) {
    invertible = invertible && positive(factor_(i, i));
    for (Index j = 0; j < i; ++j) factor_(i, j) = 0.0;  // which products count on
  }
  if (!invertible) {
    throw Error(ErrorKind::corrupt, "saved state: a covariance matrix has an axis of length 0");
  }
  if (!(sigma_ > 0)) {
    throw Error(ErrorKind::corrupt, "saved state: sigma", fmt::format("{}", sigma_),
                "a number > 0");
  }
}

}  // namespace rarefy
