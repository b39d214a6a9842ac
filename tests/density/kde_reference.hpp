// Kernel density estimation as its definition has it: slow, obvious, in double precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include "rarefy/core/batch.hpp"
#include "rarefy/core/workers.hpp"
#include "rarefy/density/kde.hpp"
#include "rarefy/density/reservoir.hpp"

namespace kde_reference {

using rarefy::Batch;
using rarefy::BatchView;
using rarefy::Index;
using rarefy::Kernel;

constexpr Kernel kKernels[] = {Kernel::gaussian, Kernel::triangular, Kernel::epanechnikov};

/// Distance in bandwidths.
inline double distance(std::span<const double> a, std::span<const double> b,
                       std::span<const double> h) {
  double sum = 0.0;
  for (std::size_t d = 0; d < a.size(); ++d) sum += std::pow((a[d] - b[d]) / h[d], 2.0);
  return std::sqrt(sum);
}

inline double kernel_value(Kernel kernel, double u) {
  switch (kernel) {
    case Kernel::gaussian: return std::exp(-0.5 * u * u);
    case Kernel::triangular: return std::max(0.0, 1.0 - u);
    case Kernel::epanechnikov: return std::max(0.0, 1.0 - u * u);
  }
  return 0.0;
}

/// Volume of the unit ball, by V_m = V_(m-2) 2 pi / m.
inline double ball(Index m) {
  if (m == 0) return 1.0;
  if (m == 1) return 2.0;
  return ball(m - 2) * 2.0 * std::numbers::pi / static_cast<double>(m);
}

/// What the kernel integrates to over m dimensions: a cone and a paraboloid lose the part
/// m/(m+1) and m/(m+2) of their cylinder.
inline double kernel_integral(Kernel kernel, Index m) {
  const auto dims = static_cast<double>(m);
  switch (kernel) {
    case Kernel::gaussian: return std::pow(2.0 * std::numbers::pi, 0.5 * dims);
    case Kernel::triangular: return ball(m) * (1.0 - dims / (dims + 1.0));
    case Kernel::epanechnikov: return ball(m) * (1.0 - dims / (dims + 2.0));
  }
  return 0.0;
}

/// ln p(query); minus infinity where p is 0. The Gaussian by log-sum-exp.
inline double log_density(Kernel kernel, BatchView points, std::span<const double> h,
                          std::span<const double> query) {
  std::vector<double> u;
  for (Index i = 0; i < points.rows(); ++i) u.push_back(distance(query, points.row(i), h));
  double log_sum = 0.0, sum = 0.0;
  if (kernel == Kernel::gaussian) {
    const double nearest = *std::min_element(u.begin(), u.end());
    for (const double v : u) sum += std::exp(0.5 * (nearest * nearest - v * v));
    log_sum = std::log(sum) - 0.5 * nearest * nearest;
  } else {
    for (const double v : u) sum += kernel_value(kernel, v);
    log_sum = std::log(sum);
  }
  double log_rest = std::log(static_cast<double>(points.rows())) +
                    std::log(kernel_integral(kernel, points.cols()));
  for (const double width : h) log_rest += std::log(width);
  return log_sum - log_rest;
}

/// Half the diagonal of feature space in bandwidths: the r of the documented error.
inline double radius(const rarefy::FeatureSpace& space, std::span<const double> h) {
  return 0.5 * distance(space.lower, space.upper, h);
}

/// The error kde.hpp promises.
inline double documented_error(const rarefy::FeatureSpace& space, std::span<const double> h) {
  return 2e-6 * (1.0 + radius(space, h));
}

/// A full buffer of exactly these points, slot i holding row i.
inline std::unique_ptr<rarefy::Reservoir> buffer_of(BatchView points) {
  auto buffer = std::make_unique<rarefy::Reservoir>(
      rarefy::ReservoirOptions{.feature_dim = points.cols(), .capacity = points.rows(), .seed = 1});
  std::vector<Index> ignored;
  buffer->add(points, ignored);
  return buffer;
}

inline rarefy::KernelDensity estimate_over(BatchView points, rarefy::KdeOptions options) {
  return {std::move(options), buffer_of(points)};
}

inline std::vector<double> scores_of(rarefy::Density& density, BatchView queries,
                                     rarefy::Workers& workers) {
  std::vector<double> scores(static_cast<std::size_t>(queries.rows()), -7.0);
  density.score({queries}, scores, workers);
  return scores;
}

inline std::vector<double> scores_of(rarefy::Density& density, BatchView queries) {
  rarefy::Workers alone(1);
  return scores_of(density, queries, alone);
}

}  // namespace kde_reference
