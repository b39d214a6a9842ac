#include "kernels/dense.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "kernels/covariance.hpp"
#include "kernels/plain_matrix.hpp"
#include "rarefy/core/random.hpp"
#include "support/every_instruction_set.hpp"

using rarefy::RandomStream;
using rarefy::kernels::dense;

namespace {

class Dense : public WithInstructionSet {};

}  // namespace

INSTANTIATE_TEST_SUITE_P(On, Dense, testing::ValuesIn(available_instruction_sets()),
                         instruction_set_of_test);

TEST_P(Dense, SolvesWithTheTransposedFactor) {
  for (const auto n : kSizes) {
    RandomStream random({.seed = 6, .index = static_cast<std::uint32_t>(n)});
    const auto c = with_spectrum(random, spread(n, 1e4));
    Matrix factor(n, n);
    ASSERT_TRUE(rarefy::kernels::cholesky(c.data(), factor.data(), n));
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
    ASSERT_TRUE(rarefy::kernels::cholesky(c.data(), factor.data(), 20)) << scale;
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
