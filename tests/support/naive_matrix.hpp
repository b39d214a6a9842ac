// Small dense matrices, done the slow and obvious way: what the fast ones are held against.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "rarefy/core/batch.hpp"

namespace naive {

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

inline Matrix zeros(std::size_t n) { return Matrix(n, Vector(n, 0.0)); }

inline Matrix identity(std::size_t n) {
  Matrix result = zeros(n);
  for (std::size_t i = 0; i < n; ++i) result[i][i] = 1.0;
  return result;
}

inline Matrix from(rarefy::BatchView view) {
  Matrix result;
  for (rarefy::Index i = 0; i < view.rows(); ++i) {
    const auto row = view.row(i);
    result.emplace_back(row.begin(), row.end());
  }
  return result;
}

inline double dot(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

inline double norm(const Vector& a) { return std::sqrt(dot(a, a)); }

inline Vector times(const Matrix& a, const Vector& x) {
  Vector result;
  for (const auto& row : a) result.push_back(dot(row, x));
  return result;
}

inline Matrix transposed(const Matrix& a) {
  Matrix result(a.empty() ? 0 : a.front().size(), Vector(a.size()));
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < a[i].size(); ++j) result[j][i] = a[i][j];
  }
  return result;
}

inline Matrix times(const Matrix& a, const Matrix& b) {
  const Matrix columns = transposed(b);
  Matrix result;
  for (const auto& row : a) result.push_back(times(columns, row));
  return result;
}

inline double largest_entry(const Matrix& a) {
  double largest = 0;
  for (const auto& row : a) {
    for (const double value : row) largest = std::max(largest, std::abs(value));
  }
  return largest;
}

inline double largest_difference(const Matrix& a, const Matrix& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < a[i].size(); ++j) {
      largest = std::max(largest, std::abs(a[i][j] - b[i][j]));
    }
  }
  return largest;
}

/// Lower triangular L with c = L L'.
inline Matrix cholesky(const Matrix& c) {
  Matrix l = zeros(c.size());
  for (std::size_t i = 0; i < c.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double rest = c[i][j];
      for (std::size_t k = 0; k < j; ++k) rest -= l[i][k] * l[j][k];
      l[i][j] = i == j ? std::sqrt(rest) : rest / l[j][j];
    }
  }
  return l;
}

/// L^-1 x for a lower triangular L.
inline Vector forward_substitution(const Matrix& l, Vector x) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) x[i] -= l[i][k] * x[k];
    x[i] /= l[i][i];
  }
  return x;
}

struct Eigen {
  Vector values;
  Matrix vectors;  // as rows
};

/// Jacobi's method: rotate the largest off-diagonal entries away, one after the other.
inline Eigen eigen(Matrix a) {
  const std::size_t n = a.size();
  Matrix vectors = identity(n);
  for (int sweep = 0; sweep < 100; ++sweep) {
    double off = 0;
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) {
        off = std::max(off, std::abs(a[p][q]) / std::sqrt(std::abs(a[p][p] * a[q][q])));
        if (a[p][q] == 0) continue;
        const double angle = 0.5 * std::atan2(2 * a[p][q], a[p][p] - a[q][q]);
        const double c = std::cos(angle), s = std::sin(angle);
        for (std::size_t k = 0; k < n; ++k) {
          const double kp = a[k][p], kq = a[k][q];
          a[k][p] = c * kp + s * kq;
          a[k][q] = c * kq - s * kp;
        }
        for (std::size_t k = 0; k < n; ++k) {
          const double pk = a[p][k], qk = a[q][k];
          a[p][k] = c * pk + s * qk;
          a[q][k] = c * qk - s * pk;
          const double vp = vectors[p][k], vq = vectors[q][k];
          vectors[p][k] = c * vp + s * vq;
          vectors[q][k] = c * vq - s * vp;
        }
      }
    }
    if (off < 1e-17) break;
  }
  Eigen result{Vector(n), vectors};
  for (std::size_t i = 0; i < n; ++i) result.values[i] = a[i][i];
  return result;
}

/// c^-1/2, the symmetric one.
inline Matrix inverse_root(const Matrix& c) {
  const auto [values, vectors] = eigen(c);
  Matrix result = zeros(c.size());
  for (std::size_t k = 0; k < c.size(); ++k) {
    for (std::size_t i = 0; i < c.size(); ++i) {
      for (std::size_t j = 0; j < c.size(); ++j) {
        result[i][j] += vectors[k][i] * vectors[k][j] / std::sqrt(values[k]);
      }
    }
  }
  return result;
}

inline double condition(const Matrix& c) {
  const auto values = eigen(c).values;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return *most / *least;
}

/// A rotation made of the rows of a random matrix, orthogonalised one after the other.
template <typename Normal>
Matrix random_rotation(std::size_t n, Normal&& normal) {
  Matrix rows;
  while (rows.size() < n) {
    Vector row(n);
    for (double& value : row) value = normal();
    for (int again = 0; again < 2; ++again) {
      for (const auto& other : rows) {
        const double along = dot(row, other);
        for (std::size_t d = 0; d < n; ++d) row[d] -= along * other[d];
      }
    }
    const double length = norm(row);
    for (double& value : row) value /= length;
    rows.push_back(row);
  }
  return rows;
}

}  // namespace naive
