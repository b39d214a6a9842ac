#include "floors.hpp"

#include <vector>

#include "density/panels/panel_sums.hpp"
#include "kernels/covariance.hpp"
#include "kernels/kernel_sums.hpp"
#include "kernels/nearest.hpp"
#include "rarefy/core/random.hpp"
#include "stopwatch.hpp"

namespace rarefy::bench {
namespace {

std::vector<double> normals(std::size_t count) {
  std::vector<double> values(count);
  fill_normals({.seed = 1}, values);
  return values;
}

double kernel_cost(Index dims) {
  constexpr Index kPoints = 10'000;
  constexpr Index kQueries = 540;
  kernels::PointColumns points(dims);
  points.resize(kPoints);
  const auto coordinates = normals(static_cast<std::size_t>(kPoints * dims));
  for (Index i = 0; i < kPoints; ++i) {
    for (Index d = 0; d < dims; ++d) {
      points.set(i, d, static_cast<float>(coordinates[static_cast<std::size_t>(i * dims + d)]));
    }
  }
  const std::vector<float> queries(coordinates.begin(), coordinates.begin() + kQueries * dims);
  std::vector<double> sums(kQueries);
  const double all = best_time(
      5, 10, [&] { kernels::gaussian_sums(points, queries.data(), kQueries, sums.data()); });
  return all / static_cast<double>(kPoints * kQueries);
}

double panel_query_cost() {
  constexpr Index kQueries = 540;
  constexpr double kSide = 16.1;  // Scott's rule for 10,000 samples
  const auto places = normals(2 * kQueries);
  std::vector<PlanePoint> points;
  for (std::size_t i = 0; i < kQueries; ++i) points.push_back({places[2 * i], places[2 * i + 1]});
  PanelSums sums(kSide, kSide);
  Workers alone(1);
  sums.change(points, {}, alone);
  sums.settle(1 << 30, alone);
  std::vector<double> out(kQueries);
  return best_time(5, 50, [&] { sums.log_sums(points.data(), kQueries, out.data()); }) / kQueries;
}

double nearest_cost() {
  constexpr Index kPoints = 10'000;
  constexpr Index kQueries = 540;
  constexpr Index kDims = 10;
  const auto rows = normals(static_cast<std::size_t>(kPoints * kDims));
  const kernels::PointTable points(rows.data(), kPoints, kDims);
  const auto queries = normals(static_cast<std::size_t>(kQueries * kDims));
  std::vector<Index> cells(kQueries);
  const double all = best_time(
      5, 10, [&] { kernels::nearest_points(points, queries.data(), kQueries, cells.data()); });
  return all / static_cast<double>(kPoints * kQueries);
}

}  // namespace

Floors measure_floors(Index n, Index batch) {
  const auto size = static_cast<std::size_t>(n);
  Floors floors;

  std::vector<double> numbers(size * static_cast<std::size_t>(batch));
  floors.normal = best_time(5, 200, [&] { fill_normals({.seed = 1}, numbers); }) /
                  static_cast<double>(numbers.size());

  std::vector<double> matrix(size * size), factor(size * size), out(numbers.size());
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      const auto apart = static_cast<double>(i > j ? i - j : j - i);
      matrix[i * size + j] = (i == j ? 2.0 : 0.0) + 0.5 / (1.0 + apart);
    }
  }
  floors.cholesky = best_time(5, 100, [&] { kernels::cholesky(matrix.data(), factor.data(), n); });
  floors.multiply = best_time(5, 100, [&] {
    kernels::multiply(numbers.data(), factor.data(), true, out.data(), batch / 2, n);
  });
  const std::vector<double> weights(static_cast<std::size_t>(batch / 2 + 1), 1e-3);
  floors.rank_update = best_time(5, 100, [&] {
    kernels::rank_update(matrix.data(), 0.99, out.data(), weights.data(), batch / 2 + 1, n);
  });
  floors.panel_query = panel_query_cost();
  floors.kernel_2d = kernel_cost(2);
  floors.kernel_10d = kernel_cost(10);
  floors.nearest_10d = nearest_cost();
  return floors;
}

}  // namespace rarefy::bench
