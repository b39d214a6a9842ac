#include "rarefy/emitters/linear_strategy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/at.hpp"
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

}  // namespace

LinearStrategy::LinearStrategy(const LinearStrategyOptions& options)
    : options_(completed(options)),
      parameters_(options_.dimension, options_.batch),
      initial_step_(options_.sigma0),
      asked_(options_.batch),
      mean_step_(at(options_.dimension)),
      mean_normal_(at(options_.dimension)) {}

void LinearStrategy::reset(std::span<const double> mean) {
  if (static_cast<Index>(mean.size()) != options_.dimension) {
    throw Error(ErrorKind::data, "evolution strategy: initial solution",
                fmt::format("{} values", mean.size()), fmt::format("{}", options_.dimension));
  }
  mean_.assign(mean.begin(), mean.end());
  sigma_ = initial_step_;
  generation_ = 0;
  parameters_.select(options_.batch / 2);
  reset_shape();
}

void LinearStrategy::weigh_by_parents() {
  parameters_.by_parents = true;
  parameters_.select(parameters_.mu);
}

// Memory for a batch, when there is one.
void LinearStrategy::make_room(Index rows) {
  normals_.resize(rows, options_.dimension);
  steps_.resize(rows, options_.dimension);
}

// x = mean + sigma y.
void LinearStrategy::place(BatchView normals, BatchSpan solutions) const {
  std::copy(normals.values().begin(), normals.values().end(), solutions.values().begin());
  shape(solutions);
  for (Index i = 0; i < solutions.rows(); ++i) {
    const auto row = solutions.row(i);
    for (std::size_t d = 0; d < row.size(); ++d) row[d] = mean_[d] + sigma_ * row[d];
  }
}

void LinearStrategy::ask(const StreamKey& key, BatchSpan out) {
  const Index n = options_.dimension;
  const Index rows = out.rows();
  if (rows < 1 || out.cols() != n) {
    throw Error(ErrorKind::data, "evolution strategy: ask",
                fmt::format("{} x {}", rows, out.cols()),
                fmt::format("{} x {}", options_.batch, n));
  }
  if (rows > options_.batch) check_bounds(options_.bounds, n, rows);
  make_room(rows);
  asked_ = rows;
  forced_ = 0;
  // The numbers of all rows from one stream.
  const Index drawn = options_.mirrored ? (rows + 1) / 2 : rows;
  fill_normals(key, normals_.span().rows(0, drawn).values());
  if (options_.mirrored) {  // from the last on, so that none is overwritten before it is used
    for (Index i = drawn - 1; i >= 0; --i) {
      for (Index d = 0; d < n; ++d) {
        const double z = normals_(i, d);
        if (2 * i + 1 < rows) normals_(2 * i + 1, d) = -z;
        normals_(2 * i, d) = z;
      }
    }
  }
  place(normals_, out);
  for (Index i = 0; i < rows && options_.bounds.any(); ++i) {
    const bool forced =
        keep_inside(options_.bounds, key, i, out.row(i), [&](const StreamKey& again) {
          fill_normals(again, normals_.row(i));
          place(normals_.view().rows(i, 1), out.rows(i, 1));
        });
    if (forced) ++forced_;
  }
}

void LinearStrategy::tell(BatchView solutions, std::span<const Index> order, Index parents) {
  const Index n = options_.dimension;
  if (solutions.rows() != asked_ || solutions.cols() != n ||
      static_cast<Index>(order.size()) != asked_ || parents < 0 || parents > asked_) {
    throw Error(ErrorKind::data, "evolution strategy: tell",
                fmt::format("{} x {} solutions, {} ranks, {} parents", solutions.rows(),
                            solutions.cols(), order.size(), parents),
                fmt::format("{} x {}, {}, and 0 to {}", asked_, n, asked_, asked_));
  }
  make_room(asked_);
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

void LinearStrategy::follow(std::span<double> path, std::span<const double> step, double rate,
                            double mueff) {
  const double push = std::sqrt(rate * (2 - rate) * mueff);
  for (std::size_t d = 0; d < path.size(); ++d) path[d] = (1 - rate) * path[d] + push * step[d];
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

}  // namespace rarefy
