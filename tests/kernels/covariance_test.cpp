#include "kernels/covariance.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/plain_matrix.hpp"
#include "support/every_instruction_set.hpp"

namespace {

using rarefy::kernels::cholesky;
using rarefy::kernels::multiply;
using rarefy::kernels::rank_update;

class Covariance : public WithInstructionSet {};

/// As CMA-ES has it: nothing below the diagonal may be looked at.
Matrix upper_only(Matrix a) {
  for (std::ptrdiff_t i = 0; i < a.rows; ++i) {
    for (std::ptrdiff_t j = 0; j < i; ++j) a(i, j) = std::nan("");
  }
  return a;
}

TEST_P(Covariance, MultipliesByAnyMatrix) {
  for (const auto n : kSizes) {
    for (const std::ptrdiff_t rows : {1, 2, 36}) {
      RandomStream random({.seed = 1, .index = static_cast<std::uint32_t>(n)});
      const auto z = random_matrix(random, rows, n);
      const auto factor = random_matrix(random, n, n);
      Matrix out(rows, n, std::nan(""));  // must be overwritten, not added to
      multiply(z.data(), factor.data(), false, out.data(), rows, n);
      expect_near(out, product(z, factor), product(absolute(z), absolute(factor)), few(n));
    }
  }
}

TEST_P(Covariance, MultipliesByATriangularMatrix) {
  for (const auto n : kSizes) {
    for (const std::ptrdiff_t rows : {1, 2, 36}) {
      RandomStream random({.seed = 2, .index = static_cast<std::uint32_t>(n)});
      const auto z = random_matrix(random, rows, n);
      const auto factor = upper_triangle(random_matrix(random, n, n));
      Matrix out(rows, n, std::nan(""));
      multiply(z.data(), factor.data(), true, out.data(), rows, n);
      expect_near(out, product(z, factor), product(absolute(z), absolute(factor)), few(n));
    }
  }
}

TEST_P(Covariance, UpdatesByAWeightedSumOfOuterProducts) {
  for (const auto n : kSizes) {
    for (const std::ptrdiff_t count : {1, 2, 18}) {
      RandomStream random({.seed = 3, .index = static_cast<std::uint32_t>(n)});
      auto c = with_spectrum(random, spread(n, 100.0));
      auto y = random_matrix(random, count, n);
      std::vector<double> weights(static_cast<std::size_t>(count));
      for (auto& weight : weights) weight = random.uniform();
      if (count > 1) weights[1] = 0.0;  // allowed
      Matrix expected = c, size = absolute(c);
      for (std::ptrdiff_t i = 0; i < n; ++i) {
        for (std::ptrdiff_t j = 0; j < n; ++j) {
          expected(i, j) *= 0.75;
          for (std::ptrdiff_t k = 0; k < count; ++k) {
            const double term = weights[static_cast<std::size_t>(k)] * y(k, i) * y(k, j);
            expected(i, j) += term;
            size(i, j) += std::abs(term);
          }
        }
      }
      Matrix scaled = y;
      for (std::ptrdiff_t k = 0; k < count; ++k) {
        for (std::ptrdiff_t j = 0; j < n; ++j) {
          scaled(k, j) *= std::sqrt(weights[static_cast<std::size_t>(k)]);
        }
      }
      rank_update(c.data(), 0.75, y.data(), weights.data(), count, n);
      expect_near(upper_triangle(c), upper_triangle(expected), size, few(count));
      EXPECT_EQ(y.values, scaled.values);  // as the header says
    }
  }
}

TEST_P(Covariance, FactorsAPositiveDefiniteMatrix) {
  for (const auto n : kSizes) {
    for (const double condition : {1.0, 1e3, 1e10}) {
      RandomStream random({.seed = 4, .index = static_cast<std::uint32_t>(n)});
      const auto c = with_spectrum(random, spread(n, condition));
      Matrix factor(n, n);
      ASSERT_TRUE(cholesky(c.data(), factor.data(), n)) << n << " " << condition;
      for (std::ptrdiff_t i = 0; i < n; ++i) {
        ASSERT_GT(factor(i, i), 0.0);
        for (std::ptrdiff_t j = 0; j < i; ++j) ASSERT_EQ(factor(i, j), 0.0);
      }
      const auto size = product(transposed(absolute(factor)), absolute(factor));
      expect_near(product(transposed(factor), factor), c, size, few(n));
    }
  }
}

TEST_P(Covariance, RefusesToFactorWhatIsNotPositiveDefinite) {
  for (const auto n : kSizes) {
    RandomStream random({.seed = 5, .index = static_cast<std::uint32_t>(n)});
    Matrix factor(n, n);
    for (const double least : {-1e-6, -1.0, -1e6}) {
      auto values = spread(n, 10.0);
      values[static_cast<std::size_t>(n / 2)] = least;
      EXPECT_FALSE(cholesky(with_spectrum(random, values).data(), factor.data(), n))
          << n << " " << least;
    }
    // Found out only at the very last, or at the very first.
    Matrix c(n, n);
    for (std::ptrdiff_t i = 0; i < n; ++i) c(i, i) = 1.0;
    ASSERT_TRUE(cholesky(c.data(), factor.data(), n));
    c(n - 1, n - 1) = -1e-300;
    EXPECT_FALSE(cholesky(c.data(), factor.data(), n)) << n;
    c(n - 1, n - 1) = 0.0;
    EXPECT_FALSE(cholesky(c.data(), factor.data(), n)) << n;
    c(n - 1, n - 1) = 1.0;
    c(0, 0) = -1.0;
    EXPECT_FALSE(cholesky(c.data(), factor.data(), n)) << n;
    EXPECT_FALSE(cholesky(Matrix(n, n).data(), factor.data(), n)) << n;
  }
}

TEST_P(Covariance, LooksAtTheUpperTriangleAlone) {
  for (const auto n : kSizes) {
    RandomStream random({.seed = 6, .index = static_cast<std::uint32_t>(n)});
    Matrix whole = with_spectrum(random, spread(n, 100.0));
    Matrix half = upper_only(whole);
    const std::vector<double> weights = {0.5, 0.25, 0.1};
    auto y = random_matrix(random, 3, n);
    auto again = y;
    rank_update(whole.data(), 0.9, y.data(), weights.data(), 3, n);
    rank_update(half.data(), 0.9, again.data(), weights.data(), 3, n);
    EXPECT_EQ(upper_triangle(whole).values, upper_triangle(half).values);
    Matrix expected(n, n), factor(n, n);
    ASSERT_TRUE(cholesky(whole.data(), expected.data(), n));
    ASSERT_TRUE(cholesky(upper_only(half).data(), factor.data(), n));
    EXPECT_EQ(factor.values, expected.values);
  }
}

INSTANTIATE_TEST_SUITE_P(On, Covariance, testing::ValuesIn(available_instruction_sets()),
                         instruction_set_of_test);

}  // namespace
