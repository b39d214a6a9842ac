// Dense linear algebra on Eigen, compiled once for each instruction set; sizes are not
// checked here.
//
// For CMA-ES: n x n matrices, row-major and double.
//   accuracy   that of Eigen's algorithms: backward stable, a few n * 2^-53
//   range      finite input; `cholesky` and `eigenvectors` say when they fail
// For networks: products of float matrices, column-major (a column is a sample), without gaps.
//   accuracy   each sum of k products within k * 2^-24 of the sum of their absolute values
//   range      what overflows becomes infinite or NaN
#pragma once

#include <cstddef>

namespace rarefy::kernels {

struct DenseKernels {
  /// out (rows x n) = z (rows x n) * factor; `upper` says that factor is upper triangular.
  void (*multiply)(const double* z, const double* factor, bool upper, double* out,
                   std::ptrdiff_t rows, std::ptrdiff_t n);
  /// c = keep * c + sum_i weights[i] * y_i y_i', y_i the rows of y (count x n);
  /// y is scaled in place by the square roots of the weights, which must be >= 0; count >= 1.
  void (*rank_update)(double* c, double keep, double* y, const double* weights,
                      std::ptrdiff_t count, std::ptrdiff_t n);
  /// The upper triangular factor with c = factor' * factor; false when c is not
  /// positive definite. The lower part of `factor` is set to zero.
  bool (*cholesky)(const double* c, double* factor, std::ptrdiff_t n);
  /// Solves factor' * x = b in place for an upper triangular factor.
  void (*solve_transposed)(const double* factor, double* x, std::ptrdiff_t n);
  /// Eigenvalues in ascending order and eigenvectors as rows; false on failure.
  bool (*eigenvectors)(const double* c, double* values, double* vectors, std::ptrdiff_t n);

  /// out (rows x columns) = w (rows x inner) * x (inner x columns)
  void (*forward)(const float* w, const float* x, float* out, std::ptrdiff_t rows,
                  std::ptrdiff_t inner, std::ptrdiff_t columns);
  /// out (inner x columns) = w' * d, with w (rows x inner) and d (rows x columns)
  void (*backward)(const float* w, const float* d, float* out, std::ptrdiff_t rows,
                   std::ptrdiff_t inner, std::ptrdiff_t columns);
  /// out (rows x inner) = d * x', with d (rows x columns), and x `inner` rows of a matrix
  /// whose columns are `stride` long
  void (*outer)(const float* d, const float* x, std::ptrdiff_t stride, float* out,
                std::ptrdiff_t rows, std::ptrdiff_t inner, std::ptrdiff_t columns);
};

/// The copy for the instruction set in use.
const DenseKernels& dense();

}  // namespace rarefy::kernels
