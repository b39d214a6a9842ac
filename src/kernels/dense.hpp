// Dense linear algebra on Eigen, compiled once for each instruction set; sizes are not
// checked here.
//
// For CMA-ES: n x n matrices, row-major and double (what it needs in every generation is in
// covariance.hpp).
//   accuracy   that of Eigen's algorithms: backward stable, a few n * 2^-53
//   range      finite input; `eigenvectors` says when it fails
// For networks: products of float matrices, column-major (a column is a sample), without gaps.
//   accuracy   each sum of k products within k * 2^-24 of the sum of their absolute values
//   range      what overflows becomes infinite or NaN
#pragma once

#include <cstddef>

namespace rarefy::kernels {

struct DenseKernels {
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
