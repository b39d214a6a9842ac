// The nearest of many points, by looking at all of them.
#pragma once

#include <cstddef>

namespace rarefy::kernels {

/// For each query (row-major, `dims` columns) the number of the nearest point in Euclidean
/// distance, the lowest number where several are equally near.
/// Compared is |p|^2 / 2 - q.p, which differs from half the squared distance by |q|^2 / 2 and
/// takes one operation a dimension.
///   columns    `dims` columns of `stride` doubles each, then a column of |p|^2 / 2; stride is
///              a multiple of nearest_padding(), and past `count` that last column is infinite
///   lanes      f64
///   accuracy   points whose squared distances differ by less than (dims + 8) 2^-53 of the
///              largest squared norm may be taken for each other: keep coordinates centred
void nearest_points(const double* columns, std::ptrdiff_t stride, std::ptrdiff_t count,
                    const double* queries, std::ptrdiff_t query_count, std::ptrdiff_t dims,
                    std::ptrdiff_t* out);

constexpr std::ptrdiff_t nearest_padding() { return 32; }

}  // namespace rarefy::kernels
