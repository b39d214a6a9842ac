#include "held_strategy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "rarefy/compat/published.hpp"
#include "rarefy/compat/published_strategies.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/random.hpp"
#include "rarefy/core/state.hpp"
#include "rarefy/emitters/cma_es.hpp"
#include "rarefy/emitters/lm_ma_es.hpp"
#include "rarefy/emitters/separable_cma_es.hpp"

namespace rarefy::python {
namespace {

// Lets go of the interpreter, then waits for its turn: never the other way round, or two threads
// could wait for each other.
class Turn {
 public:
  explicit Turn(std::mutex& mutex) : lock_(mutex) {}

 private:
  nb::gil_scoped_release release_;
  std::lock_guard<std::mutex> lock_;
};

constexpr Index kAttempts = 100;

Bounds bounds_of(const StrategyOptions& options) {
  return {.lower = options.lower,
          .upper = options.upper,
          .resamples = kAttempts,
          .repair = Repair::clip};
}

// A batch of one row is a sample of the smallest batch that has a half.
Index batch_of(const StrategyOptions& options) { return std::max<Index>(2, options.batch); }

std::unique_ptr<EvolutionStrategy> full(const StrategyOptions& options) {
  const CmaEsOptions cma{.dimension = options.dimension,
                         .batch = batch_of(options),
                         .sigma0 = options.sigma0,
                         .bounds = bounds_of(options)};
  if (options.published) return std::make_unique<compat::PublishedCmaEs>(cma);
  return std::make_unique<CmaEs>(cma);
}

std::unique_ptr<EvolutionStrategy> linear(const StrategyOptions& options) {
  const LinearStrategyOptions linear{.dimension = options.dimension,
                                     .batch = batch_of(options),
                                     .sigma0 = options.sigma0,
                                     .bounds = bounds_of(options)};
  if (options.strategy == Strategy::sep_cma_es) {
    if (options.published) return std::make_unique<compat::PublishedSeparableCmaEs>(linear);
    return std::make_unique<SeparableCmaEs>(linear);
  }
  if (options.published) {
    return std::make_unique<compat::PublishedLmMaEs>(linear, options.directions);
  }
  return std::make_unique<LmMaEs>(linear, options.directions);
}

}  // namespace

HeldStrategy::HeldStrategy(const StrategyOptions& options)
    : options_(options),
      strategy_(options.strategy == Strategy::cma_es ? full(options) : linear(options)) {}

void HeldStrategy::reset(const Values& mean) {
  for (const double value : span_of(mean)) {
    if (!std::isfinite(value)) {
      throw Error(ErrorKind::data, "x0", fmt::format("{}", value), "finite numbers");
    }
  }
  const Turn turn(mutex_);
  strategy_->reset(span_of(mean));
  started_ = true;
  open_ = false;  // what was asked for could not be drawn again from where it is now
}

// The rows of ask() number so and so.
void HeldStrategy::draw(std::uint64_t number, Index rows) {
  auto solutions = std::make_shared<Batch>(rows, options_.dimension);
  strategy_->ask(
      {.seed = options_.seed, .purpose = Purpose::sampling, .index = 0, .iteration = number},
      *solutions);
  if (options_.single) {
    for (double& value : solutions->values()) value = static_cast<float>(value);
  }
  solutions_ = std::move(solutions);
  open_ = true;
}

nb::object HeldStrategy::ask(Index rows) {
  constexpr Index kMostValues = Index{1} << 40;
  if (rows < 1 || rows > kMostValues / options_.dimension) {
    throw Error(ErrorKind::data, "batch_size", fmt::format("{}", rows),
                fmt::format("1 to {}", kMostValues / options_.dimension));
  }
  std::shared_ptr<Batch> solutions;
  std::shared_ptr<std::vector<float>> rounded;
  {
    const Turn turn(mutex_);
    if (!started_) throw Error(ErrorKind::state, "ask() without a mean; call reset(x0) first");
    draw(asks_, rows);
    ++asks_;
    solutions = solutions_;
    if (options_.single) {
      const auto values = std::as_const(*solutions).values();
      rounded = std::make_shared<std::vector<float>>(values.begin(), values.end());
    }
  }
  const std::vector<std::size_t> shape = {static_cast<std::size_t>(rows),
                                          static_cast<std::size_t>(options_.dimension)};
  if (rounded) {
    const float* const data = rounded->data();
    return nb::cast(array_over(data, shape, std::move(rounded)));
  }
  const double* const data = solutions->data();
  return nb::cast(array_over(data, shape, std::move(solutions)));
}

void HeldStrategy::tell(const Order& order, Index parents) {
  const Turn turn(mutex_);
  if (!solutions_) throw Error(ErrorKind::state, "tell() without solutions; call ask() first");
  const Index rows = solutions_->rows();
  if (static_cast<Index>(order.size()) != rows) {
    throw Error(ErrorKind::data, "ranking_indices", fmt::format("{}", order.size()),
                fmt::format("{}, one for each solution", rows));
  }
  if (parents < 0 || parents > rows) {
    throw Error(ErrorKind::data, "num_parents", fmt::format("{}", parents),
                fmt::format("0 to {}", rows));
  }
  order_.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::int64_t row = order(i);
    if (row < 0 || row >= rows) {
      throw Error(ErrorKind::data, fmt::format("ranking_indices: entry {}", i),
                  fmt::format("{}", row), fmt::format("0 to {}", rows - 1));
    }
    order_[i] = row;
  }
  strategy_->tell(*solutions_, order_, parents);
  open_ = false;
}

bool HeldStrategy::stopped() {
  const Turn turn(mutex_);
  StopTests tests;
  // pyribs looks at the step size alone in LM-MA-ES, and has another limit for it.
  if (options_.published && options_.strategy == Strategy::lm_ma_es) tests.step_size = 1e-12;
  return strategy_->stop({}, tests) != Stop::none;
}

Index HeldStrategy::forced() {
  const Turn turn(mutex_);
  return strategy_->forced();
}

double HeldStrategy::sigma() {
  const Turn turn(mutex_);
  return strategy_->sigma();
}

Out<double> HeldStrategy::mean() {
  std::vector<double> mean;
  {
    const Turn turn(mutex_);
    mean.assign(strategy_->mean().begin(), strategy_->mean().end());
  }
  const auto size = mean.size();
  return array_of(std::move(mean), {size});
}

Out<double> HeldStrategy::covariance() {
  std::vector<double> values;
  std::vector<std::size_t> shape = {static_cast<std::size_t>(options_.dimension)};
  {
    const Turn turn(mutex_);
    if (const auto* const matrix = dynamic_cast<const CmaEs*>(strategy_.get())) {
      const Batch whole = matrix->covariance();
      values.assign(whole.view().values().begin(), whole.view().values().end());
      shape.push_back(shape.front());
    } else if (const auto* const diagonal = dynamic_cast<const SeparableCmaEs*>(strategy_.get())) {
      values.assign(diagonal->variances().begin(), diagonal->variances().end());
    } else {
      throw Error(ErrorKind::parameter, "covariance", "LM-MA-ES",
                  "CMA-ES or sep-CMA-ES, which have one");
    }
  }
  return array_of(std::move(values), std::move(shape));
}

nb::bytes HeldStrategy::save() {
  StateWriter out;
  {
    const Turn turn(mutex_);
    strategy_->save(out);
    out.integer("held.started", started_ ? 1 : 0);
    out.integer("held.asks", static_cast<std::int64_t>(asks_));
    out.integer("held.open", open_ ? solutions_->rows() : 0);
  }
  return nb::bytes(out.bytes().data(), out.bytes().size());
}

void HeldStrategy::load(const nb::bytes& state) {
  const std::span bytes(static_cast<const std::byte*>(state.data()), state.size());
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  const Turn turn(mutex_);
  StateReader in(bytes);
  strategy_->load(in);
  started_ = in.integer("held.started", 0, 1) == 1;
  asks_ = static_cast<std::uint64_t>(in.integer("held.asks", 0, kMost));
  const Index open = in.integer("held.open", 0, asks_ == 0 ? 0 : kMost);
  solutions_.reset();
  open_ = false;
  // What was asked for last is drawn once more, so that tell() may come next.
  if (open > 0) draw(asks_ - 1, open);
}

}  // namespace rarefy::python
