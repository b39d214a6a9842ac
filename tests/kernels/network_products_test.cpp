// The float products of kernels/dense.hpp, which the layers of a network are made of.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "kernels/dense.hpp"
#include "rarefy/core/random.hpp"
#include "support/every_instruction_set.hpp"

using rarefy::RandomStream;
using rarefy::kernels::dense;

namespace {

using Floats = std::vector<float>;

struct Shape {
  std::ptrdiff_t rows, inner, columns;
};

// Multiples of 16 units and 4 columns, as networks have them; the last are long sums, which
// Eigen cuts into parts.
constexpr Shape kShapes[] = {{16, 16, 4},   {16, 64, 4},  {64, 16, 4},  {48, 80, 28}, {64, 64, 64},
                             {80, 32, 132}, {16, 96, 88}, {32, 320, 4}, {48, 640, 12}};

std::size_t at(std::ptrdiff_t i) { return static_cast<std::size_t>(i); }

Floats random_floats(RandomStream& random, std::ptrdiff_t count) {
  Floats values(at(count));
  for (float& value : values) value = static_cast<float>(2.0 * random.uniform() - 1.0);
  return values;
}

/// Holds out[i, j] against the sum over k of left(i, k) * right(k, j), in double precision.
template <typename Left, typename Right>
void expect_product(const Floats& out, std::ptrdiff_t rows, std::ptrdiff_t columns,
                    std::ptrdiff_t terms, Left left, Right right) {
  for (std::ptrdiff_t j = 0; j < columns; ++j) {
    for (std::ptrdiff_t i = 0; i < rows; ++i) {
      double exact = 0.0, size = 0.0;
      for (std::ptrdiff_t k = 0; k < terms; ++k) {
        const double term = static_cast<double>(left(i, k)) * static_cast<double>(right(k, j));
        exact += term;
        size += std::abs(term);
      }
      // As the header has it.
      ASSERT_NEAR(out[at(j * rows + i)], exact, static_cast<double>(terms) * 0x1p-24 * size)
          << rows << " x " << columns << ", " << terms << " terms: " << i << ", " << j;
    }
  }
}

/// Room for a result, which must be overwritten, and one value that must not.
Floats room_for(std::ptrdiff_t count) {
  Floats out(at(count) + 1, std::numeric_limits<float>::quiet_NaN());
  out.back() = 77.0F;
  return out;
}

class NetworkProducts : public WithInstructionSet {};

}  // namespace

INSTANTIATE_TEST_SUITE_P(On, NetworkProducts, testing::ValuesIn(available_instruction_sets()),
                         instruction_set_of_test);

TEST_P(NetworkProducts, ForwardIsWeightsTimesColumns) {
  RandomStream random({.seed = 1});
  for (const auto& [rows, inner, columns] : kShapes) {
    const Floats w = random_floats(random, rows * inner),
                 x = random_floats(random, inner * columns);
    Floats out = room_for(rows * columns);
    dense().forward(w.data(), x.data(), out.data(), rows, inner, columns);
    const auto height = rows, depth = inner;
    expect_product(
        out, rows, columns, inner, [&](auto i, auto k) { return w[at(k * height + i)]; },
        [&](auto k, auto j) { return x[at(j * depth + k)]; });
    EXPECT_EQ(out.back(), 77.0F);
  }
}

TEST_P(NetworkProducts, BackwardIsTransposedWeightsTimesColumns) {
  RandomStream random({.seed = 2});
  for (const auto& [rows, inner, columns] : kShapes) {
    const Floats w = random_floats(random, rows * inner), d = random_floats(random, rows * columns);
    Floats out = room_for(inner * columns);
    dense().backward(w.data(), d.data(), out.data(), rows, inner, columns);
    const auto height = rows;
    expect_product(
        out, inner, columns, rows, [&](auto i, auto k) { return w[at(i * height + k)]; },
        [&](auto k, auto j) { return d[at(j * height + k)]; });
    EXPECT_EQ(out.back(), 77.0F);
  }
}

TEST_P(NetworkProducts, OuterTakesItsRowsOutOfALongerMatrix) {
  RandomStream random({.seed = 3});
  for (const auto& [rows, inner, columns] : kShapes) {
    for (const std::ptrdiff_t more : {0, 16, 80}) {
      const std::ptrdiff_t stride = inner + more;
      const Floats d = random_floats(random, rows * columns);
      const Floats x = random_floats(random, stride * columns);
      Floats out = room_for(rows * inner);
      // The last rows of x: those before must not matter.
      dense().outer(d.data(), x.data() + more, stride, out.data(), rows, inner, columns);
      const auto height = rows;
      expect_product(
          out, rows, inner, columns, [&](auto i, auto k) { return d[at(k * height + i)]; },
          [&](auto k, auto j) { return x[at(k * stride + more + j)]; });
      EXPECT_EQ(out.back(), 77.0F);
    }
  }
}

// Small whole numbers, whose sums a float holds: whatever the order, no bit may be lost.
TEST_P(NetworkProducts, AreExactWhereArithmeticIs) {
  RandomStream random({.seed = 4});
  const auto whole = [&](std::ptrdiff_t count) {
    Floats values(at(count));
    for (float& value : values) value = static_cast<float>(random.below(17)) - 8.0F;
    return values;
  };
  for (const auto& [rows, inner, columns] : kShapes) {
    const Floats w = whole(rows * inner), x = whole(inner * columns);
    Floats out(at(rows * columns));
    dense().forward(w.data(), x.data(), out.data(), rows, inner, columns);
    for (std::ptrdiff_t i = 0; i < rows; ++i) {
      for (std::ptrdiff_t j = 0; j < columns; ++j) {
        float sum = 0.0F;
        for (std::ptrdiff_t k = 0; k < inner; ++k)
          sum += w[at(k * rows + i)] * x[at(j * inner + k)];
        ASSERT_EQ(out[at(j * rows + i)], sum);
      }
    }
  }
}

// What scores rely on: a candidate's does not depend on the others of its batch.
TEST_P(NetworkProducts, AColumnComesOutTheSameAloneAndAtAnyPlaceAmongOthers) {
  RandomStream random({.seed = 5});
  constexpr std::ptrdiff_t kMost = 268;
  for (const auto& shape : {Shape{16, 16, kMost}, Shape{64, 16, kMost}, Shape{80, 64, kMost},
                            Shape{16, 256, kMost}, Shape{48, 400, kMost}}) {
    const auto rows = shape.rows, inner = shape.inner;
    const Floats w = random_floats(random, rows * inner);
    const Floats one = random_floats(random, inner);
    const auto result_of = [&](std::ptrdiff_t columns, std::ptrdiff_t place, std::size_t shift) {
      Floats x = random_floats(random, inner * columns);
      std::copy(one.begin(), one.end(), x.begin() + place * inner);
      // Also wherever the result lies in memory.
      Floats out(at(rows * columns) + shift);
      dense().forward(w.data(), x.data(), out.data() + shift, rows, inner, columns);
      const auto first = out.begin() + static_cast<std::ptrdiff_t>(shift) + place * rows;
      return Floats(first, first + rows);
    };
    const auto alone = result_of(4, 0, 0);
    for (const std::ptrdiff_t columns : {4, 8, 12, 28, 84, 88, 132, 268}) {
      for (std::ptrdiff_t place = 0; place < columns; place += columns < 30 ? 1 : 7) {
        ASSERT_EQ(result_of(columns, place, at(place % 3)), alone)
            << rows << " x " << inner << ": " << place << " of " << columns;
      }
    }
  }
}

TEST_P(NetworkProducts, WhatOverflowsIsNoLongerFinite) {
  for (const float value :
       {1e30F, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    Floats w(16 * 32, 0.5F), x(32 * 4, 0.5F), out(16 * 4);
    w[5] = value;   // row 5, first input
    x[32] = value;  // first input of column 1
    dense().forward(w.data(), x.data(), out.data(), 16, 32, 4);
    EXPECT_FALSE(std::isfinite(out[16 + 5])) << value;
    EXPECT_TRUE(std::isfinite(out[4]));
    EXPECT_EQ(out[2 * 16 + 4], 8.0F);
  }
}
