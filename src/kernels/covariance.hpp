// What CMA-ES does with a covariance matrix in every generation: update it, factor it, sample
// from it. Matrices are n x n, row-major and double; of a symmetric one the upper triangle counts
// alone.
//
// Written here because matrices of a hundred rows are too small for libraries made for thousands:
// packing them, and working on both triangles, took half of the time.
//   accuracy   each entry a sum in the order of its terms, fused where the processor can: within
//              n * 2^-53 of the sum of absolute values; the factor is backward stable
//   range      finite input; `cholesky` says when it fails
#pragma once

#include <cstddef>

namespace rarefy::kernels {

/// c = keep * c + sum_i weights[i] * y_i y_i', y_i the rows of y (count x n), on and above the
/// diagonal. y is scaled in place by the square roots of the weights, which must be >= 0.
void rank_update(double* c, double keep, double* y, const double* weights, std::ptrdiff_t count,
                 std::ptrdiff_t n);

/// The upper triangular factor with c = factor' * factor; false when c is not positive definite.
/// Below its diagonal, `factor` must hold zeros, and will.
bool cholesky(const double* c, double* factor, std::ptrdiff_t n);

/// out (rows x n) = z (rows x n) * factor; `upper` says that factor is upper triangular, with
/// zeros below its diagonal.
void multiply(const double* z, const double* factor, bool upper, double* out, std::ptrdiff_t rows,
              std::ptrdiff_t n);

}  // namespace rarefy::kernels
