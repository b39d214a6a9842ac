// Matrices with no cleverness, to check the others against.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "rarefy/core/random.hpp"
#include "support/sanitized.hpp"

namespace {

using rarefy::RandomStream;

// Without optimisation the sanitizers take ten seconds for each of the largest.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::ptrdiff_t kSizes[] = {1, 2, 7, 15, 16, 17, 31, 100, 131};
#else
constexpr std::ptrdiff_t kSizes[] = {1, 2, 3, 7, 8, 15, 16, 17, 20, 31, 33, 100, 257, 300};
#endif

// "A few n * 2^-53", as the header puts it.
inline double few(std::ptrdiff_t n) { return 8.0 * static_cast<double>(n + 1) * 0x1p-53; }

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

inline Matrix transposed(const Matrix& a) {
  Matrix b(a.cols, a.rows);
  for (std::ptrdiff_t i = 0; i < a.rows; ++i) {
    for (std::ptrdiff_t j = 0; j < a.cols; ++j) b(j, i) = a(i, j);
  }
  return b;
}

inline Matrix absolute(Matrix a) {
  for (auto& value : a.values) value = std::abs(value);
  return a;
}

inline Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c(a.rows, b.cols);
  for (std::ptrdiff_t i = 0; i < a.rows; ++i) {
    for (std::ptrdiff_t k = 0; k < a.cols; ++k) {
      for (std::ptrdiff_t j = 0; j < b.cols; ++j) c(i, j) += a(i, k) * b(k, j);
    }
  }
  return c;
}

inline Matrix random_matrix(RandomStream& random, std::ptrdiff_t rows, std::ptrdiff_t cols) {
  Matrix a(rows, cols);
  for (auto& value : a.values) value = 2.0 * random.uniform() - 1.0;
  return a;
}

inline Matrix upper_triangle(Matrix a) {
  for (std::ptrdiff_t i = 0; i < a.rows; ++i) {
    for (std::ptrdiff_t j = 0; j < i; ++j) a(i, j) = 0.0;
  }
  return a;
}

// Q diag(values) Q', Q the product of two random reflections: a matrix of known spectrum.
inline Matrix with_spectrum(RandomStream& random, const std::vector<double>& values) {
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
inline std::vector<double> spread(std::ptrdiff_t n, double condition) {
  std::vector<double> values(static_cast<std::size_t>(n), 1.0);
  for (std::ptrdiff_t i = 1; i < n; ++i) {
    values[static_cast<std::size_t>(i)] =
        std::pow(condition, -static_cast<double>(i) / static_cast<double>(n - 1));
  }
  return values;
}

inline void expect_near(const Matrix& found, const Matrix& expected, const Matrix& size,
                        double relative) {
  for (std::ptrdiff_t i = 0; i < found.rows; ++i) {
    for (std::ptrdiff_t j = 0; j < found.cols; ++j) {
      ASSERT_NEAR(found(i, j), expected(i, j), relative * size(i, j)) << i << ", " << j;
    }
  }
}

}  // namespace
