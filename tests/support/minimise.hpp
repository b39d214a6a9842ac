// Runs a CMA-ES on a function and counts evaluations.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "rarefy/core/batch.hpp"
#include "rarefy/core/random.hpp"
#include "rarefy/emitters/cma_es.hpp"

namespace minimise {

using Function = double (*)(std::span<const double>);

inline double sphere(std::span<const double> x) {
  return std::inner_product(x.begin(), x.end(), x.begin(), 0.0);
}

/// Axis ratio 1000: condition 1e6.
inline double ellipsoid(std::span<const double> x) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(x.size() - 1);
    sum += std::pow(10.0, 6 * share) * x[i] * x[i];
  }
  return sum;
}

inline double rosenbrock(std::span<const double> x) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    const double bend = x[i + 1] - x[i] * x[i];
    sum += 100 * bend * bend + (1 - x[i]) * (1 - x[i]);
  }
  return sum;
}

inline double rastrigin(std::span<const double> x) {
  double sum = 10 * static_cast<double>(x.size());
  for (const double value : x) {
    sum += value * value - 10 * std::cos(2 * std::numbers::pi * value);
  }
  return sum;
}

/// Rows of a batch, best first, by a value for each.
inline std::vector<rarefy::Index> ranked(std::span<const double> values) {
  std::vector<rarefy::Index> order(values.size());
  std::iota(order.begin(), order.end(), rarefy::Index{0});
  std::stable_sort(order.begin(), order.end(), [&](rarefy::Index a, rarefy::Index b) {
    return values[static_cast<std::size_t>(a)] < values[static_cast<std::size_t>(b)];
  });
  return order;
}

inline rarefy::StreamKey sampling_key(std::uint64_t seed, std::uint64_t iteration) {
  return {.seed = seed, .purpose = rarefy::Purpose::sampling, .index = 0, .iteration = iteration};
}

struct Problem {
  std::function<double(std::span<const double>)> function;
  std::vector<double> start;
  double target = 1e-9;
  std::int64_t most_evaluations = 1'000'000;
};

/// Evaluations made by the end of the first generation that reaches the target; nothing when
/// the run converged elsewhere or ran out of evaluations.
inline std::optional<std::int64_t> evaluations(rarefy::EvolutionStrategy& optimizer,
                                               const Problem& problem, std::uint64_t seed) {
  optimizer.reset(problem.start);
  const rarefy::Index batch = optimizer.batch();
  rarefy::Batch solutions(batch, optimizer.dimension());
  std::vector<double> values(static_cast<std::size_t>(batch));
  std::int64_t used = 0;
  for (std::uint64_t iteration = 0; used < problem.most_evaluations; ++iteration) {
    optimizer.ask(sampling_key(seed, iteration), solutions);
    for (rarefy::Index i = 0; i < batch; ++i) {
      values[static_cast<std::size_t>(i)] = problem.function(solutions.view().row(i));
    }
    used += batch;
    if (*std::min_element(values.begin(), values.end()) <= problem.target) return used;
    optimizer.tell(solutions, ranked(values), batch / 2);
    if (optimizer.stop(values, {}) != rarefy::Stop::none) return std::nullopt;
  }
  return std::nullopt;
}

inline std::optional<std::int64_t> evaluations(const rarefy::CmaEsOptions& options,
                                               const Problem& problem, std::uint64_t seed) {
  rarefy::CmaEs optimizer(options);
  return evaluations(optimizer, problem, seed);
}

}  // namespace minimise
