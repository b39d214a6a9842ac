#include "rarefy/density/nearest_neighbours.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "rarefy/core/error.hpp"
#include "rarefy/core/random.hpp"

namespace {

using rarefy::Batch;
using rarefy::BatchView;
using rarefy::Index;
using rarefy::NearestNeighbours;

Batch normal_points(Index rows, Index dims, std::uint64_t seed) {
  Batch points(rows, dims);
  rarefy::fill_normals({.seed = seed}, points.values());
  return points;
}

double plain_distance(std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for (std::size_t d = 0; d < a.size(); ++d) sum += (a[d] - b[d]) * (a[d] - b[d]);
  return std::sqrt(sum);
}

void expect_as_a_plain_loop(BatchView points, BatchView queries, Index k,
                            const NearestNeighbours& found) {
  std::vector<double> distances(static_cast<std::size_t>(queries.rows() * k));
  std::vector<Index> numbers(distances.size());
  found.find(queries, k, distances, numbers);
  for (Index q = 0; q < queries.rows(); ++q) {
    std::vector<double> all;
    for (Index i = 0; i < points.rows(); ++i) {
      all.push_back(plain_distance(queries.row(q), points.row(i)));
    }
    std::vector<double> sorted = all;
    std::sort(sorted.begin(), sorted.end());
    std::set<Index> different;
    for (Index j = 0; j < k; ++j) {
      const auto place = static_cast<std::size_t>(q * k + j);
      ASSERT_EQ(distances[place], sorted[static_cast<std::size_t>(j)]) << q << ", " << j;
      ASSERT_GE(numbers[place], 0);
      ASSERT_EQ(all[static_cast<std::size_t>(numbers[place])], distances[place]);
      different.insert(numbers[place]);
    }
    ASSERT_EQ(static_cast<Index>(different.size()), k);
  }
}

TEST(NearestNeighbours, AreThoseOfAPlainLoop) {
  for (const Index dims : {1, 2, 3, 10}) {
    NearestNeighbours neighbours(dims);
    Batch points(0, dims);
    for (const Index more : {1, 7, 600, 1500}) {  // more than one leaf has room for
      const Batch batch = normal_points(more, dims, static_cast<std::uint64_t>(more));
      neighbours.add(batch);
      for (Index i = 0; i < more; ++i) points.append(batch.view().row(i));
      ASSERT_EQ(neighbours.size(), points.rows());
      for (const Index k : {Index{1}, std::min<Index>(15, points.rows()), points.rows()}) {
        expect_as_a_plain_loop(points, normal_points(k > 100 ? 3 : 40, dims, 99), k, neighbours);
        expect_as_a_plain_loop(points, batch.view().rows(0, 1), k, neighbours);  // is among them
      }
    }
    neighbours.clear();
    EXPECT_EQ(neighbours.size(), 0);
    const Batch anew = normal_points(30, dims, 5);
    neighbours.add(anew);
    expect_as_a_plain_loop(anew, normal_points(5, dims, 6), 4, neighbours);
  }
}

TEST(NearestNeighbours, OfPointsThatAreEqualAreDifferentOnes) {
  NearestNeighbours neighbours(2);
  const Batch points(std::vector<double>(2 * 1000, 0.25), 1000, 2);
  neighbours.add(points);
  expect_as_a_plain_loop(points, normal_points(3, 2, 1), 9, neighbours);
}

TEST(NearestNeighbours, TooFarToSquareAreNotFound) {
  NearestNeighbours neighbours(1);
  neighbours.add(Batch({-1e300, 1e300, 1.0}, 3, 1));
  std::vector<double> distances(3);
  std::vector<Index> numbers(3);
  neighbours.find(Batch({0.0}, 1, 1), 3, distances, numbers);
  EXPECT_EQ(numbers, (std::vector<Index>{2, -1, -1}));
  EXPECT_EQ(distances[0], 1.0);
  EXPECT_TRUE(std::isinf(distances[1]) && std::isinf(distances[2]));
}

TEST(NearestNeighbours, RefuseWhatDoesNotFit) {
  EXPECT_THROW(NearestNeighbours(0), rarefy::Error);
  NearestNeighbours neighbours(2);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(neighbours.add(normal_points(3, 1, 1)), rarefy::Error);
  EXPECT_THROW(neighbours.add(Batch({0.0, 1.0, nan, 2.0}, 2, 2)), rarefy::Error);
  EXPECT_EQ(neighbours.size(), 0);
  neighbours.add(normal_points(3, 2, 1));
  std::vector<double> distances(4);
  std::vector<Index> numbers(4);
  const Batch queries = normal_points(1, 2, 2);
  EXPECT_THROW(neighbours.find(queries, 4, distances, numbers), rarefy::Error);  // of 3 points
  EXPECT_THROW(neighbours.find(queries, 0, distances, numbers), rarefy::Error);
  EXPECT_THROW(neighbours.find(queries, 2, distances, numbers), rarefy::Error);  // room for 4
  EXPECT_THROW(neighbours.find(normal_points(1, 3, 2), 4, distances, numbers), rarefy::Error);
}

}  // namespace
