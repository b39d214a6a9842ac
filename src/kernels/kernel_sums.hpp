// Sums of a kernel over many points, the inner loop of kernel density estimation.
#pragma once

#include <cstddef>
#include <vector>

namespace rarefy::kernels {

/// Points as columns of single-precision coordinates, padded so that a vector may
/// be read past the end; the padding lies far away from everything.
class PointColumns {
 public:
  explicit PointColumns(std::ptrdiff_t dims) : columns_(static_cast<std::size_t>(dims)) {}

  [[nodiscard]] std::ptrdiff_t dims() const { return static_cast<std::ptrdiff_t>(columns_.size()); }
  [[nodiscard]] std::ptrdiff_t count() const { return count_; }
  [[nodiscard]] const float* column(std::ptrdiff_t d) const {
    return columns_[static_cast<std::size_t>(d)].data();
  }
  void reserve(std::ptrdiff_t count);
  [[nodiscard]] float* column(std::ptrdiff_t d) {
    return columns_[static_cast<std::size_t>(d)].data();
  }
  /// Makes room for `count` points; new ones lie far away until they are set.
  void resize(std::ptrdiff_t count);
  void set(std::ptrdiff_t point, std::ptrdiff_t d, float value) {
    columns_[static_cast<std::size_t>(d)][static_cast<std::size_t>(point)] = value;
  }

  static constexpr float kFarAway = 1e18F;

 private:
  std::vector<std::vector<float>> columns_;
  std::ptrdiff_t count_ = 0;
};

/// For each of `count` queries (row-major, dims() columns), with d the distance to a point:
///   gaussian      sum of 2^(-d^2)
///   triangular    sum of max(0, 1 - d)
///   epanechnikov  sum of max(0, 1 - d^2)
///   lanes      f32 products, partial sums of 256 points added up in f64
///   accuracy   relative error of the sum at most 2e-6, given d^2; the rounding of coordinates
///              to f32 adds, for the Gaussian, a relative error of about
///              2^-22 * d * (largest |coordinate|)
///   range      gaussian: terms below 2^-126 count as 2^-126, and so does each of fewer than 64
///              lanes of padding
/// A query's result does not depend on the other queries of the call.
void gaussian_sums(const PointColumns& points, const float* queries, std::ptrdiff_t count,
                   double* out);
void triangular_sums(const PointColumns& points, const float* queries, std::ptrdiff_t count,
                     double* out);
void epanechnikov_sums(const PointColumns& points, const float* queries, std::ptrdiff_t count,
                       double* out);

}  // namespace rarefy::kernels
