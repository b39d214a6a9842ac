#include "kernels/dense.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "rarefy/core/random.hpp"
#include "support/every_instruction_set.hpp"

using rarefy::RandomStream;
using rarefy::kernels::dense;

namespace {

// Without optimisation the sanitizers take ten seconds for each of the largest.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::ptrdiff_t kSizes[] = {1, 2, 7, 16, 100, 131};
#else
constexpr std::ptrdiff_t kSizes[] = {1, 2, 7, 16, 100, 257, 300};
#endif

// "A few n * 2^-53", as the header puts it.
double few(std::ptrdiff_t n) { return 8.0 * static_cast<double>(n + 1) * 0x1p-53; }

/// Row-major, with no cleverness.
struct Matrix {
  std::ptrdiff_t rows, cols;
  std::vector<double> values;
  Matrix(std::ptrdiff_t r, std::ptrdiff_t c, double fill = 0.0)
      : rows(r), cols(c), values(static_cast<std::size_t>(r * c), fill) {}
  double& operator()(std::ptrdiff_t i, std::ptrdiff_t j) {
    return values[static_cast<std::size_t>(i * cols + j)];
  }
  double operator()(std::ptrdiff_t i, std::ptrdiff_t j) const {
    return values[static_cast<std::size_t>(i * cols + j)];
  }
  double* data() { return values.data(); }
  [[nodiscard]] const double* data() const { return values.data(); }
};

Matrix transposed(const Matrix& a) {
  Matrix b(a.cols, a.rows);
  for (std::ptrdiff_t i = 0; i < a.rows; ++i) {
    for (std::ptrdiff_t j = 0; j < a.cols; ++j) b(j, i) = a(i, j);
  }
  return b;
}

Matrix absolute(Matrix a) {
  for (auto& value : a.values) value = std::abs(value);
  return a;
}

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c(a.rows, b.cols);
  for (std::ptrdiff_t i = 0; i < a.rows; ++i) {
    for (std::ptrdiff_t k = 0; k < a.cols; ++k) {
      for (std::ptrdiff_t j = 0; j < b.cols; ++j) c(i, j) += a(i, k) * b(k, j);
    }
  }
  return c;
}

Matrix random_matrix(RandomStream& random, std::ptrdiff_t rows, std::ptrdiff_t cols) {
  Matrix a(rows, cols);
  for (auto& value : a.values) value = 2.0 * random.uniform() - 1.0;
  return a;
}

Matrix upper_triangle(Matrix a) {
  for (std::ptrdiff_t i = 0; i < a.rows; ++i) {
    for (std::ptrdiff_t j = 0; j < i; ++j) a(i, j) = 0.0;
  }
  return a;
}

// Q diag(values) Q', Q the product of two random reflections: a matrix of known spectrum.
Matrix with_spectrum(RandomStream& random, const std::vector<double>& values) {
  const auto n = static_cast<std::ptrdiff_t>(values.size());
  Matrix c(n, n);
  for (std::ptrdiff_t i = 0; i < n; ++i) c(i, i) = values[static_cast<std::size_t>(i)];
  for (int reflection = 0; reflection < 2; ++reflection) {
    const Matrix v = random_matrix(random, 1, n);
    const double squared =
        std::inner_product(v.values.begin(), v.values.end(), v.values.begin(), 0.0);
    // C <- H C H with H = I - 2 v v' / v'v, in O(n^2): C - p v' - v p'.
    std::vector<double> p(values.size());
    double vp = 0.0;
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      for (std::ptrdiff_t j = 0; j < n; ++j) p[static_cast<std::size_t>(i)] += c(i, j) * v(0, j);
      p[static_cast<std::size_t>(i)] *= 2.0 / squared;
      vp += v(0, i) * p[static_cast<std::size_t>(i)];
    }
    for (std::ptrdiff_t i = 0; i < n; ++i) p[static_cast<std::size_t>(i)] -= v(0, i) * vp / squared;
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      for (std::ptrdiff_t j = 0; j < n; ++j) {
        c(i, j) -=
            p[static_cast<std::size_t>(i)] * v(0, j) + v(0, i) * p[static_cast<std::size_t>(j)];
      }
    }
  }
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    for (std::ptrdiff_t j = 0; j < i; ++j) c(i, j) = c(j, i);
  }
  return c;
}

// From 1 down to 1 / condition, evenly in the logarithm.
std::vector<double> spread(std::ptrdiff_t n, double condition) {
  std::vector<double> values(static_cast<std::size_t>(n), 1.0);
  for (std::ptrdiff_t i = 1; i < n; ++i) {
    values[static_cast<std::size_t>(i)] =
        std::pow(condition, -static_cast<double>(i) / static_cast<double>(n - 1));
  }
  return values;
}

void expect_near(const Matrix& found, const Matrix& expected, const Matrix& size, double relative) {
  for (std::ptrdiff_t i = 0; i < found.rows; ++i) {
    for (std::ptrdiff_t j = 0; j < found.cols; ++j) {
      ASSERT_NEAR(found(i, j), expected(i, j), relative * size(i, j)) << i << ", " << j;
    }
  }
}

class Dense : public WithInstructionSet {};

}  // namespace

INSTANTIATE_TEST_SUITE_P(On, Dense, testing::ValuesIn(available_instruction_sets()),
                         instruction_set_of_test);

TEST_P(Dense, MultipliesByAnyMatrix) {
  for (const auto n : kSizes) {
    for (const std::ptrdiff_t rows : {1, 2, 36}) {
      RandomStream random({.seed = 1, .index = static_cast<std::uint32_t>(n)});
      const auto z = random_matrix(random, rows, n);
      const auto factor = random_matrix(random, n, n);
      Matrix out(rows, n, std::nan(""));  // must be overwritten, not added to
      dense().multiply(z.data(), factor.data(), false, out.data(), rows, n);
      expect_near(out, product(z, factor), product(absolute(z), absolute(factor)), few(n));
    }
  }
}

TEST_P(Dense, MultipliesByATriangularMatrix) {
  for (const auto n : kSizes) {
    for (const std::ptrdiff_t rows : {1, 2, 36}) {
      RandomStream random({.seed = 2, .index = static_cast<std::uint32_t>(n)});
      const auto z = random_matrix(random, rows, n);
      const auto factor = upper_triangle(random_matrix(random, n, n));
      Matrix out(rows, n, std::nan(""));
      dense().multiply(z.data(), factor.data(), true, out.data(), rows, n);
      expect_near(out, product(z, factor), product(absolute(z), absolute(factor)), few(n));
    }
  }
}

TEST_P(Dense, UpdatesByAWeightedSumOfOuterProducts) {
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
      dense().rank_update(c.data(), 0.75, y.data(), weights.data(), count, n);
      expect_near(c, expected, size, few(count));
      EXPECT_EQ(c.values, transposed(c).values);  // symmetric to the last bit
      EXPECT_EQ(y.values, scaled.values);         // as the header says
    }
  }
}

TEST_P(Dense, FactorsAPositiveDefiniteMatrix) {
  for (const auto n : kSizes) {
    for (const double condition : {1.0, 1e3, 1e10}) {
      RandomStream random({.seed = 4, .index = static_cast<std::uint32_t>(n)});
      const auto c = with_spectrum(random, spread(n, condition));
      Matrix factor(n, n, std::nan(""));
      ASSERT_TRUE(dense().cholesky(c.data(), factor.data(), n)) << n << " " << condition;
      for (std::ptrdiff_t i = 0; i < n; ++i) {
        ASSERT_GT(factor(i, i), 0.0);
        for (std::ptrdiff_t j = 0; j < i; ++j) ASSERT_EQ(factor(i, j), 0.0);
      }
      const auto size = product(transposed(absolute(factor)), absolute(factor));
      expect_near(product(transposed(factor), factor), c, size, few(n));
    }
  }
}

TEST_P(Dense, RefusesToFactorWhatIsNotPositiveDefinite) {
  for (const auto n : kSizes) {
    RandomStream random({.seed = 5, .index = static_cast<std::uint32_t>(n)});
    Matrix factor(n, n);
    for (const double least : {-1e-6, -1.0, -1e6}) {
      auto values = spread(n, 10.0);
      values[static_cast<std::size_t>(n / 2)] = least;
      EXPECT_FALSE(dense().cholesky(with_spectrum(random, values).data(), factor.data(), n))
          << n << " " << least;
    }
    // Found out only at the very last, or at the very first.
    Matrix c(n, n);
    for (std::ptrdiff_t i = 0; i < n; ++i) c(i, i) = 1.0;
    ASSERT_TRUE(dense().cholesky(c.data(), factor.data(), n));
    c(n - 1, n - 1) = -1e-300;
    EXPECT_FALSE(dense().cholesky(c.data(), factor.data(), n)) << n;
    c(n - 1, n - 1) = 0.0;
    EXPECT_FALSE(dense().cholesky(c.data(), factor.data(), n)) << n;
    c(n - 1, n - 1) = 1.0;
    c(0, 0) = -1.0;
    EXPECT_FALSE(dense().cholesky(c.data(), factor.data(), n)) << n;
    EXPECT_FALSE(dense().cholesky(Matrix(n, n).data(), factor.data(), n)) << n;
  }
}

TEST_P(Dense, SolvesWithTheTransposedFactor) {
  for (const auto n : kSizes) {
    RandomStream random({.seed = 6, .index = static_cast<std::uint32_t>(n)});
    const auto c = with_spectrum(random, spread(n, 1e4));
    Matrix factor(n, n);
    ASSERT_TRUE(dense().cholesky(c.data(), factor.data(), n));
    const auto b = random_matrix(random, n, 1);
    auto x = b;
    dense().solve_transposed(factor.data(), x.data(), n);
    const auto back = transposed(factor);
    expect_near(product(back, x), b, product(absolute(back), absolute(x)), few(n));
  }
}

TEST_P(Dense, SolvesExactlyWhereArithmeticIsExact) {
  // factor' x = b with factor = [1 2; 0 4]: x = (b1, (b2 - 2 b1) / 4).
  const std::vector<double> factor = {1, 2, 0, 4};
  std::vector<double> x = {3, 8};
  dense().solve_transposed(factor.data(), x.data(), 2);
  EXPECT_EQ(x, (std::vector<double>{3, 0.5}));
}

TEST_P(Dense, FindsEigenvectors) {
  for (const auto n : kSizes) {
    for (const double condition : {1.0, 1e3, 1e10}) {
      RandomStream random({.seed = 7, .index = static_cast<std::uint32_t>(n)});
      auto spectrum = spread(n, condition);
      const auto c = with_spectrum(random, spectrum);
      std::vector<double> values(static_cast<std::size_t>(n), std::nan(""));
      Matrix vectors(n, n, std::nan(""));
      ASSERT_TRUE(dense().eigenvectors(c.data(), values.data(), vectors.data(), n));

      std::sort(spectrum.begin(), spectrum.end());
      ASSERT_TRUE(std::is_sorted(values.begin(), values.end()));
      for (std::size_t i = 0; i < spectrum.size(); ++i) {
        ASSERT_NEAR(values[i], spectrum[i], few(n)) << n;  // the largest is one
      }
      // Rows are eigenvectors (C v = value v), orthonormal.
      const auto image = product(vectors, c);
      Matrix expected = vectors;
      for (std::ptrdiff_t i = 0; i < n; ++i) {
        for (std::ptrdiff_t j = 0; j < n; ++j)
          expected(i, j) *= values[static_cast<std::size_t>(i)];
      }
      const Matrix ones(n, n, 1.0);
      expect_near(image, expected, ones, few(n));
      Matrix identity(n, n);
      for (std::ptrdiff_t i = 0; i < n; ++i) identity(i, i) = 1.0;
      expect_near(product(vectors, transposed(vectors)), identity, ones, few(n));
    }
  }
}

TEST_P(Dense, FindsEigenvectorsOfEasyMatrices) {
  std::vector<double> values(2);
  Matrix vectors(2, 2);
  const std::vector<double> symmetric = {2, 1, 1, 2};
  ASSERT_TRUE(dense().eigenvectors(symmetric.data(), values.data(), vectors.data(), 2));
  EXPECT_NEAR(values[0], 1.0, few(2));
  EXPECT_NEAR(values[1], 3.0, few(2));
  EXPECT_NEAR(vectors(0, 0) + vectors(0, 1), 0.0, few(2));  // a multiple of (1, -1)
  EXPECT_NEAR(vectors(1, 0) - vectors(1, 1), 0.0, few(2));  // a multiple of (1, 1)

  Matrix diagonal(7, 7);
  for (std::ptrdiff_t i = 0; i < 7; ++i) diagonal(i, i) = static_cast<double>((3 * i) % 7) - 2.0;
  std::vector<double> seven(7);
  Matrix rows(7, 7);
  ASSERT_TRUE(dense().eigenvectors(diagonal.data(), seven.data(), rows.data(), 7));
  for (std::size_t i = 0; i < 7; ++i) EXPECT_NEAR(seven[i], static_cast<double>(i) - 2.0, few(7));

  const Matrix zero(7, 7);
  ASSERT_TRUE(dense().eigenvectors(zero.data(), seven.data(), rows.data(), 7));
  EXPECT_EQ(seven, std::vector<double>(7, 0.0));
}

TEST_P(Dense, FactorsAndDecomposesAtAnyScale) {
  for (const double scale : {1e-200, 1e-20, 1e20, 1e200}) {
    RandomStream random({.seed = 8});
    auto c = with_spectrum(random, spread(20, 100.0));
    for (auto& value : c.values) value *= scale;
    Matrix factor(20, 20), vectors(20, 20);
    std::vector<double> values(20);
    ASSERT_TRUE(dense().cholesky(c.data(), factor.data(), 20)) << scale;
    EXPECT_NEAR(factor(0, 0) * factor(0, 0), c(0, 0), few(20) * c(0, 0));
    ASSERT_TRUE(dense().eigenvectors(c.data(), values.data(), vectors.data(), 20)) << scale;
    EXPECT_NEAR(values[19] / scale, 1.0, few(20));
    EXPECT_NEAR(values[0] / scale, 0.01, few(20));
  }
}

TEST(DenseDispatch, HasACopyForEachInstructionSet) {
  std::vector<const void*> copies;
  for (const auto set : available_instruction_sets()) {
    const PinnedInstructionSet pinned(set);
    const void* copy = &dense();
    EXPECT_EQ(std::count(copies.begin(), copies.end(), copy), 0) << rarefy::name_of(set);
    copies.push_back(copy);
  }
}
