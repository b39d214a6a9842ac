// The nearest of many points, by looking at all of them.
#pragma once

#include <cstddef>
#include <vector>

namespace rarefy::kernels {

/// Points as the search wants them: columns of coordinates, in double and in single precision,
/// and a column of |p|^2 / 2 behind each; padded with points that are infinitely far away.
class PointTable {
 public:
  PointTable() = default;
  /// From `count` rows of `dims` finite coordinates. Keep them centred: see nearest_points.
  PointTable(const double* rows, std::ptrdiff_t count, std::ptrdiff_t dims);

  [[nodiscard]] std::ptrdiff_t count() const { return count_; }
  [[nodiscard]] std::ptrdiff_t dims() const { return dims_; }
  [[nodiscard]] std::ptrdiff_t stride() const { return stride_; }
  [[nodiscard]] const double* doubles() const { return doubles_.data(); }
  [[nodiscard]] const float* floats() const { return floats_.data(); }
  /// The greatest |p|.
  [[nodiscard]] double largest() const { return largest_; }

 private:
  std::ptrdiff_t count_ = 0, dims_ = 0, stride_ = 0;
  std::vector<double> doubles_;
  std::vector<float> floats_;
  double largest_ = 0.0;
};

/// For each query (row-major) the number of the nearest point in Euclidean distance, the lowest
/// number where several are equally near.
/// Compared is |p|^2 / 2 - q.p, which differs from half the squared distance by |q|^2 / 2 and
/// takes one operation a dimension.
///   lanes      f32 for all points, then f64 for the blocks of points that are nearest to within
///              the error of the former: what is found is what f64 alone would find
///   accuracy   points whose squared distances differ by less than (dims + 8) 2^-53 of the
///              largest squared norm may be taken for each other: keep coordinates centred
void nearest_points(const PointTable& points, const double* queries, std::ptrdiff_t query_count,
                    std::ptrdiff_t* out);

}  // namespace rarefy::kernels
