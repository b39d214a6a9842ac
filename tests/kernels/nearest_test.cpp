#include "kernels/nearest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "rarefy/core/random.hpp"
#include "support/every_instruction_set.hpp"

using rarefy::RandomStream;

namespace {

using Rows = std::vector<double>;  // row-major

std::vector<std::ptrdiff_t> nearest(const Rows& points, const Rows& queries, std::ptrdiff_t dims) {
  const rarefy::kernels::PointTable table(points.data(),
                                          static_cast<std::ptrdiff_t>(points.size()) / dims, dims);
  const auto query_count = static_cast<std::ptrdiff_t>(queries.size()) / dims;
  std::vector<std::ptrdiff_t> out(static_cast<std::size_t>(query_count), -1);
  rarefy::kernels::nearest_points(table, queries.data(), query_count, out.data());
  return out;
}

long double squared_distance(const Rows& points, std::ptrdiff_t i, const Rows& queries,
                             std::ptrdiff_t q, std::ptrdiff_t dims) {
  long double sum = 0;
  for (std::ptrdiff_t d = 0; d < dims; ++d) {
    const long double difference =
        static_cast<long double>(points[static_cast<std::size_t>(i * dims + d)]) -
        queries[static_cast<std::size_t>(q * dims + d)];
    sum += difference * difference;
  }
  return sum;
}

// The lowest number among the nearest, by looking at all of them in extended precision.
std::ptrdiff_t brute_force(const Rows& points, const Rows& queries, std::ptrdiff_t q,
                           std::ptrdiff_t dims) {
  std::ptrdiff_t best = 0;
  for (std::ptrdiff_t i = 1; i < static_cast<std::ptrdiff_t>(points.size()) / dims; ++i) {
    if (squared_distance(points, i, queries, q, dims) <
        squared_distance(points, best, queries, q, dims)) {
      best = i;
    }
  }
  return best;
}

double largest_squared_norm(const Rows& rows, std::ptrdiff_t dims) {
  double largest = 0;
  for (std::size_t i = 0; i < rows.size(); i += static_cast<std::size_t>(dims)) {
    double sum = 0;
    for (std::size_t d = 0; d < static_cast<std::size_t>(dims); ++d) {
      sum += rows[i + d] * rows[i + d];
    }
    largest = std::max(largest, sum);
  }
  return largest;
}

Rows random_rows(RandomStream& random, std::ptrdiff_t count, std::ptrdiff_t dims) {
  Rows rows(static_cast<std::size_t>(count * dims));
  for (auto& value : rows) value = 2.0 * random.uniform() - 1.0;
  return rows;
}

class Nearest : public WithInstructionSet {};

}  // namespace

INSTANTIATE_TEST_SUITE_P(On, Nearest, testing::ValuesIn(available_instruction_sets()),
                         instruction_set_of_test);

TEST_P(Nearest, IsWhatBruteForceFinds) {
  for (const std::ptrdiff_t dims : {1, 2, 3, 10}) {
    RandomStream random({.seed = 1, .index = static_cast<std::uint32_t>(dims)});
    for (const std::ptrdiff_t count : {1, 2, 3, 7, 8, 9, 31, 32, 33, 100, 1000}) {
      const auto points = random_rows(random, count, dims);
      const auto queries = random_rows(random, 21, dims);  // two blocks of eight and a rest
      const auto found = nearest(points, queries, dims);
      for (std::ptrdiff_t q = 0; q < 21; ++q) {
        ASSERT_EQ(found[static_cast<std::size_t>(q)], brute_force(points, queries, q, dims))
            << count << " points in " << dims << " dimensions";
      }
    }
  }
}

TEST_P(Nearest, IsTheLowestNumberWhereSeveralAreEquallyNear) {
  // Small integers: all distances are exact, and many are equal.
  RandomStream random({.seed = 2});
  for (const std::ptrdiff_t dims : {1, 2, 3, 10}) {
    for (const std::ptrdiff_t count : {2, 5, 16, 33, 257}) {
      Rows points(static_cast<std::size_t>(count * dims));
      Rows queries(static_cast<std::size_t>(40 * dims));
      for (auto& value : points) value = static_cast<double>(random.below(3));
      for (auto& value : queries) value = static_cast<double>(random.below(3));
      const auto found = nearest(points, queries, dims);
      for (std::ptrdiff_t q = 0; q < 40; ++q) {
        ASSERT_EQ(found[static_cast<std::size_t>(q)], brute_force(points, queries, q, dims));
      }
    }
  }
}

TEST_P(Nearest, IsTheFirstOfManyCopies) {
  for (const std::ptrdiff_t first : {0, 1, 7, 8, 31, 32, 63, 90}) {
    Rows points(200, 5.0);
    for (std::ptrdiff_t i = first; i < 100; ++i) {
      points[static_cast<std::size_t>(2 * i)] = points[static_cast<std::size_t>(2 * i + 1)] = 1.0;
    }
    for (const auto number : nearest(points, Rows(18, 1.0), 2)) EXPECT_EQ(number, first);
  }
}

TEST_P(Nearest, DoesNotDependOnTheOtherQueries) {
  RandomStream random({.seed = 3});
  const auto points = random_rows(random, 500, 3);
  const auto queries = random_rows(random, 20, 3);
  const auto together = nearest(points, queries, 3);
  for (std::ptrdiff_t first = 0; first < 20; ++first) {
    for (std::ptrdiff_t count = 1; first + count <= 20; ++count) {
      const Rows some(queries.begin() + 3 * first, queries.begin() + 3 * (first + count));
      const auto apart = nearest(points, some, 3);
      ASSERT_TRUE(std::equal(apart.begin(), apart.end(), together.begin() + first));
    }
  }
}

TEST_P(Nearest, IsNeverInThePadding) {
  RandomStream random({.seed = 4});
  for (const std::ptrdiff_t count : {1, 5, 33, 127, 129}) {
    const auto points = random_rows(random, count, 2);
    Rows queries = random_rows(random, 9, 2);
    for (const double far : {1e3, 1e30, 1e200}) queries.insert(queries.end(), {far, -far});
    for (const auto number : nearest(points, queries, 2)) {
      EXPECT_GE(number, 0);
      EXPECT_LT(number, count);
    }
  }
}

// Nearer to each other than single precision can tell: double precision decides.
TEST_P(Nearest, IsRightWhereSinglePrecisionCannotTell) {
  RandomStream random({.seed = 7});
  for (const std::ptrdiff_t dims : {1, 2, 10}) {
    const auto corner = random_rows(random, 1, dims);
    Rows points;
    for (int i = 0; i < 700; ++i) {
      for (const double x : corner) points.push_back(x + 1e-8 * (random.uniform() - 0.5));
    }
    const auto queries = random_rows(random, 20, dims);
    const auto found = nearest(points, queries, dims);
    for (std::ptrdiff_t q = 0; q < 20; ++q) {
      EXPECT_EQ(found[static_cast<std::size_t>(q)], brute_force(points, queries, q, dims));
    }
  }
}

// Coordinates whose squares single precision has no numbers for.
TEST_P(Nearest, IsRightAtAnyScale) {
  for (const double scale : {1e-100, 1e-25, 1e-18, 1e-3, 1e15, 1e19, 1e25, 1e100}) {
    RandomStream random({.seed = 8});
    auto points = random_rows(random, 300, 3);
    auto queries = random_rows(random, 20, 3);
    for (double& value : points) value *= scale;
    for (double& value : queries) value *= scale;
    const auto found = nearest(points, queries, 3);
    for (std::ptrdiff_t q = 0; q < 20; ++q) {
      EXPECT_EQ(found[static_cast<std::size_t>(q)], brute_force(points, queries, q, 3)) << scale;
    }
  }
}

// More blocks than are looked at in one go.
TEST_P(Nearest, IsFoundAmongVeryMany) {
  if (kSanitized) GTEST_SKIP() << "too many for the sanitizers";
  RandomStream random({.seed = 9});
  const auto points = random_rows(random, 150'000, 2);
  const auto queries = random_rows(random, 11, 2);
  const auto found = nearest(points, queries, 2);
  for (std::ptrdiff_t q = 0; q < 11; ++q) {
    EXPECT_EQ(found[static_cast<std::size_t>(q)], brute_force(points, queries, q, 2));
  }
}

TEST_P(Nearest, OfAPointIsItself) {
  RandomStream random({.seed = 5});
  const auto points = random_rows(random, 300, 4);
  const auto found = nearest(points, points, 4);
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i], static_cast<std::ptrdiff_t>(i));
  }
}

// Clusters so tight that rounding decides: the point found may then be another, but not one that
// is further by more than the header states.
TEST_P(Nearest, IsWithinTheStatedErrorWhereRoundingDecides) {
  for (const std::ptrdiff_t dims : {1, 2, 3, 10, 30}) {
    RandomStream random({.seed = 6, .index = static_cast<std::uint32_t>(dims)});
    for (int round = 0; round < 20; ++round) {
      const auto centre = random_rows(random, 1, dims);
      Rows points;
      for (int i = 0; i < 200; ++i) {
        for (const double x : centre) points.push_back(x + 0x1p-48 * (random.uniform() - 0.5));
      }
      const auto queries = random_rows(random, 9, dims);
      const double norm =
          std::max(largest_squared_norm(points, dims), largest_squared_norm(queries, dims));
      const auto found = nearest(points, queries, dims);
      for (std::ptrdiff_t q = 0; q < 9; ++q) {
        const auto best = brute_force(points, queries, q, dims);
        const auto excess =
            squared_distance(points, found[static_cast<std::size_t>(q)], queries, q, dims) -
            squared_distance(points, best, queries, q, dims);
        EXPECT_LE(static_cast<double>(excess), norm * 0x1p-50) << dims << " dimensions";
      }
    }
  }
}
