#include "kernels/kernel_sums.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "rarefy/core/random.hpp"
#include "support/every_instruction_set.hpp"

using rarefy::RandomStream;
using rarefy::kernels::PointColumns;

namespace {

enum class Shape { gaussian, triangular, epanechnikov };
constexpr std::array kShapes = {Shape::gaussian, Shape::triangular, Shape::epanechnikov};
constexpr std::array<std::ptrdiff_t, 5> kDims = {1, 2, 3, 4, 10};
// Around the lengths of vectors (4, 8, 16), of padding (64) and of a partial sum (256).
constexpr std::array<std::ptrdiff_t, 17> kCounts = {1,  2,  3,  4,   5,   7,   15,   16,    17,
                                                    63, 64, 65, 255, 256, 257, 1025, 10'000};

// The error of a sum that the header states, given the squared distances.
constexpr double kStatedError = 2e-6;
constexpr double kSmallest = 0x1p-126;  // what terms below it count as

// The places that fill up the last vector are terms below 2^-126 too: fewer than 64 of them.
double padding_allowance(Shape shape) { return shape == Shape::gaussian ? 64 * kSmallest : 0.0; }

using Rows = std::vector<float>;  // row-major coordinates

PointColumns columns_of(const Rows& rows, std::ptrdiff_t dims) {
  PointColumns points(dims);
  points.resize(static_cast<std::ptrdiff_t>(rows.size()) / dims);
  for (std::ptrdiff_t i = 0; i < points.count(); ++i) {
    for (std::ptrdiff_t d = 0; d < dims; ++d) {
      points.set(i, d, rows[static_cast<std::size_t>(i * dims + d)]);
    }
  }
  return points;
}

std::vector<double> sums(Shape shape, const PointColumns& points, const Rows& queries) {
  const auto count = static_cast<std::ptrdiff_t>(queries.size()) / points.dims();
  std::vector<double> out(static_cast<std::size_t>(count), -1.0);
  switch (shape) {
    case Shape::gaussian:
      rarefy::kernels::gaussian_sums(points, queries.data(), count, out.data());
      break;
    case Shape::triangular:
      rarefy::kernels::triangular_sums(points, queries.data(), count, out.data());
      break;
    case Shape::epanechnikov:
      rarefy::kernels::epanechnikov_sums(points, queries.data(), count, out.data());
      break;
  }
  return out;
}

double kernel(Shape shape, double squared) {
  switch (shape) {
    case Shape::gaussian: return std::max(std::exp2(-squared), kSmallest);
    case Shape::triangular: return std::max(0.0, 1.0 - std::sqrt(squared));
    default: return std::max(0.0, 1.0 - squared);
  }
}

// How much a term changes at most when its squared distance is off by `error`.
double change(Shape shape, double squared, double error) {
  switch (shape) {
    case Shape::gaussian: return kernel(shape, squared) * std::numbers::ln2 * error;
    case Shape::triangular:
      if (squared - error > 1.0) return 0.0;
      return squared > 0.0 ? 0.5 * error / std::sqrt(squared) : 0.0;
    default: return squared - error > 1.0 ? 0.0 : error;
  }
}

struct Reference {
  double sum = 0.0;
  double allowance = 0.0;  // for the rounding of squared distances
};

// In double precision, from the same single-precision coordinates. A squared distance takes, for
// each dimension, a difference, a square and a sum in single precision, each rounded to within
// 2^-24: a relative error of (dims + 2) 2^-24 at most, to first order.
Reference reference(Shape shape, const Rows& rows, std::ptrdiff_t dims, const float* query) {
  Reference result;
  for (std::size_t i = 0; i < rows.size(); i += static_cast<std::size_t>(dims)) {
    double squared = 0.0;
    for (std::ptrdiff_t d = 0; d < dims; ++d) {
      const double difference = static_cast<double>(rows[i + static_cast<std::size_t>(d)]) -
                                static_cast<double>(query[d]);
      squared += difference * difference;
    }
    result.sum += kernel(shape, squared);
    result.allowance += change(shape, squared, squared * static_cast<double>(dims + 2) * 0x1p-24);
  }
  return result;
}

Rows random_rows(RandomStream& random, std::ptrdiff_t count, std::ptrdiff_t dims, double width) {
  Rows rows(static_cast<std::size_t>(count * dims));
  for (auto& value : rows) value = static_cast<float>(width * (random.uniform() - 0.5));
  return rows;
}

// Coordinates that are small multiples of 1/64, so that squared distances are exact in single
// precision and the stated error holds by itself.
Rows lattice_rows(RandomStream& random, std::ptrdiff_t count, std::ptrdiff_t dims,
                  std::uint64_t steps) {
  Rows rows(static_cast<std::size_t>(count * dims));
  for (auto& value : rows) {
    value = (static_cast<float>(random.below(steps)) - static_cast<float>(steps / 2)) / 64.0F;
  }
  return rows;
}

class KernelSums : public WithInstructionSet {};

}  // namespace

INSTANTIATE_TEST_SUITE_P(On, KernelSums, testing::ValuesIn(available_instruction_sets()),
                         instruction_set_of_test);

TEST_P(KernelSums, AreWithinTheStatedErrorWhereDistancesAreExact) {
  for (const auto shape : kShapes) {
    for (const auto dims : kDims) {
      RandomStream random({.seed = 1, .index = static_cast<std::uint32_t>(dims)});
      for (const auto count : kCounts) {
        // About one unit wide in all, so that many terms of the bounded kernels are positive.
        const auto steps =
            static_cast<std::uint64_t>(64.0 / std::sqrt(static_cast<double>(dims))) + 1;
        const auto rows = lattice_rows(random, count, dims, steps);
        const auto queries = lattice_rows(random, 11, dims, steps);
        const auto found = sums(shape, columns_of(rows, dims), queries);
        for (std::size_t q = 0; q < found.size(); ++q) {
          const auto exact =
              reference(shape, rows, dims, &queries[q * static_cast<std::size_t>(dims)]);
          ASSERT_NEAR(found[q], exact.sum, kStatedError * exact.sum)
              << dims << " dimensions, " << count << " points, shape " << static_cast<int>(shape);
        }
      }
    }
  }
}

TEST_P(KernelSums, AreWithinTheStatedErrorAnywhere) {
  for (const auto shape : kShapes) {
    for (const auto dims : kDims) {
      RandomStream random({.seed = 2, .index = static_cast<std::uint32_t>(dims)});
      for (const auto count : kCounts) {
        const double width = shape == Shape::gaussian ? 8.0 : 2.0;
        const auto rows = random_rows(random, count, dims, width);
        const auto queries = random_rows(random, 7, dims, width);
        const auto found = sums(shape, columns_of(rows, dims), queries);
        for (std::size_t q = 0; q < found.size(); ++q) {
          const auto exact =
              reference(shape, rows, dims, &queries[q * static_cast<std::size_t>(dims)]);
          ASSERT_NEAR(found[q], exact.sum,
                      kStatedError * exact.sum + exact.allowance + padding_allowance(shape))
              << dims << " dimensions, " << count << " points, shape " << static_cast<int>(shape);
        }
      }
    }
  }
}

// A buffer may hold one point many times over: then every rounding of the running sum has the
// same sign, the worst case for a sum in single precision.
TEST_P(KernelSums, AreWithinTheStatedErrorWhenAllPointsAreTheSame) {
  for (const auto shape : kShapes) {
    for (const std::ptrdiff_t count : {1023, 1024, 1025, 10'000}) {
      for (int steps = 0; steps < 64; ++steps) {
        const Rows rows(static_cast<std::size_t>(count), 0.0F);
        const Rows queries = {static_cast<float>(steps) / 64.0F};
        const auto found = sums(shape, columns_of(rows, 1), queries);
        const auto exact = reference(shape, rows, 1, queries.data());
        EXPECT_NEAR(found[0], exact.sum, kStatedError * exact.sum)
            << count << " points at " << steps << "/64, shape " << static_cast<int>(shape);
      }
    }
  }
}

// Close to its edge a bounded kernel is the small difference of two large numbers.
TEST_P(KernelSums, AreWithinTheStatedErrorAtTheEdgeOfABoundedKernel) {
  for (const auto shape : {Shape::triangular, Shape::epanechnikov}) {
    for (int x = 0; x < 64; ++x) {
      for (int y = 0; y < 64; ++y) {
        const Rows rows = {static_cast<float>(x) / 64.0F, static_cast<float>(y) / 64.0F};
        const Rows queries = {0.0F, 0.0F};
        const auto found = sums(shape, columns_of(rows, 2), queries);
        const auto exact = reference(shape, rows, 2, queries.data());
        EXPECT_NEAR(found[0], exact.sum, kStatedError * exact.sum)
            << x << "/64, " << y << "/64, shape " << static_cast<int>(shape);
      }
    }
  }
}

TEST_P(KernelSums, OfAGaussianFollowItIntoTheTail) {
  for (int eighth = 0; eighth <= 8 * 11; ++eighth) {
    const Rows rows = {0.0F};
    const Rows queries = {static_cast<float>(eighth) / 8.0F};  // d^2 up to 121
    const auto found = sums(Shape::gaussian, columns_of(rows, 1), queries);
    const double exact = std::exp2(-static_cast<double>(queries[0]) * queries[0]);
    EXPECT_NEAR(found[0], exact, kStatedError * exact + padding_allowance(Shape::gaussian))
        << queries[0];
  }
}

TEST_P(KernelSums, OfAGaussianNeverVanish) {
  for (const float far : {11.5F, 100.0F, 1e6F, 1e15F}) {
    const auto found = sums(Shape::gaussian, columns_of({0.0F}, 1), {far});
    EXPECT_GE(found[0], kSmallest);
    EXPECT_LE(found[0], kSmallest * (1.0 + kStatedError) + padding_allowance(Shape::gaussian));
  }
}

TEST_P(KernelSums, DoNotDependOnTheOtherQueriesOfTheCall) {
  for (const auto shape : kShapes) {
    for (const auto dims : kDims) {
      RandomStream random({.seed = 5, .index = static_cast<std::uint32_t>(dims)});
      const auto points = columns_of(random_rows(random, 1037, dims, 2.0), dims);
      const auto queries = random_rows(random, 19, dims, 2.0);
      const auto together = sums(shape, points, queries);
      const auto width = static_cast<std::ptrdiff_t>(dims);
      for (std::ptrdiff_t first = 0; first < 19; ++first) {
        for (std::ptrdiff_t count = 1; first + count <= 19; ++count) {
          const Rows some(queries.begin() + first * width,
                          queries.begin() + (first + count) * width);
          const auto apart = sums(shape, points, some);
          for (std::ptrdiff_t q = 0; q < count; ++q) {
            ASSERT_EQ(apart[static_cast<std::size_t>(q)],
                      together[static_cast<std::size_t>(first + q)]);
          }
        }
      }
    }
  }
}

TEST_P(KernelSums, OfNoPointsAreNothing) {
  for (const auto shape : kShapes) {
    for (const auto dims : kDims) {
      const PointColumns points(dims);
      const auto found = sums(shape, points, Rows(static_cast<std::size_t>(5 * dims), 0.25F));
      for (const auto& one : found) {
        EXPECT_EQ(one, 0.0);
      }
    }
  }
}

TEST_P(KernelSums, TakeNothingFromThePadding) {
  for (const auto shape : {Shape::triangular, Shape::epanechnikov}) {
    for (const auto dims : kDims) {
      for (const std::ptrdiff_t count : {1, 3, 17, 1025}) {
        // Every point at the query: the sum is their number, exactly.
        const Rows rows(static_cast<std::size_t>(count * dims), 0.5F);
        const auto found =
            sums(shape, columns_of(rows, dims), Rows(static_cast<std::size_t>(dims), 0.5F));
        EXPECT_EQ(found[0], static_cast<double>(count));
      }
    }
  }
}

TEST_P(KernelSums, TakeNothingFromPointsNotYetSet) {
  for (const auto shape : kShapes) {
    PointColumns points(2);
    points.resize(100);
    points.set(40, 0, 0.0F);
    points.set(40, 1, 0.0F);
    const auto found = sums(shape, points, {0.0F, 0.0F});
    EXPECT_NEAR(found[0], 1.0, kStatedError);
  }
}

TEST_P(KernelSums, ForgetThePointsThatAreTakenAway) {
  for (const bool reserved : {false, true}) {
    for (const auto shape : {Shape::triangular, Shape::epanechnikov}) {
      PointColumns points(2);
      if (reserved) points.reserve(500);
      const auto place = [&](std::ptrdiff_t first, std::ptrdiff_t last) {
        for (std::ptrdiff_t i = first; i < last; ++i) {
          points.set(i, 0, 0.0F);
          points.set(i, 1, 0.0F);
        }
      };
      points.resize(300);
      place(0, 300);
      EXPECT_EQ(sums(shape, points, {0.0F, 0.0F})[0], 300.0);
      points.resize(50);
      EXPECT_EQ(points.count(), 50);
      EXPECT_EQ(sums(shape, points, {0.0F, 0.0F})[0], 50.0);
      points.resize(200);
      EXPECT_EQ(sums(shape, points, {0.0F, 0.0F})[0], 50.0);
      place(50, 60);
      EXPECT_EQ(sums(shape, points, {0.0F, 0.0F})[0], 60.0);
      points.resize(0);
      EXPECT_EQ(sums(shape, points, {0.0F, 0.0F})[0], 0.0);
    }
  }
}

TEST_P(KernelSums, GrowOnePointAtATime) {
  RandomStream random({.seed = 6});
  const auto rows = random_rows(random, 200, 3, 1.0);
  PointColumns points(3);
  for (std::ptrdiff_t i = 0; i < 200; ++i) {
    points.resize(i + 1);
    for (std::ptrdiff_t d = 0; d < 3; ++d) {
      points.set(i, d, rows[static_cast<std::size_t>(i * 3 + d)]);
    }
  }
  const auto whole = columns_of(rows, 3);
  const Rows queries(3, 0.1F);
  for (const auto shape : kShapes) {
    EXPECT_EQ(sums(shape, points, queries)[0], sums(shape, whole, queries)[0]);
  }
}

// Were the kernels to ignore which set is pinned, the tests above would test one of them only.
TEST(KernelSumsDispatch, UsesThePinnedInstructionSet) {
  if (available_instruction_sets().size() < 2) GTEST_SKIP() << "only one instruction set here";
  RandomStream random({.seed = 7});
  const auto points = columns_of(random_rows(random, 10'000, 2, 8.0), 2);
  const auto queries = random_rows(random, 20, 2, 8.0);
  std::vector<std::vector<double>> found;
  for (const auto set : available_instruction_sets()) {
    const PinnedInstructionSet pinned(set);
    std::vector<double> values;
    for (const double one : sums(Shape::gaussian, points, queries)) values.push_back(one);
    // Other lengths of vectors round other partial sums: some bit differs.
    for (const auto& before : found) EXPECT_NE(values, before) << rarefy::name_of(set);
    found.push_back(values);
  }
}
