#include "kernels/covariance.hpp"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/covariance.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rarefy::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<double, 8>;
using Real = hn::Vec<D>;

constexpr auto kLanes = static_cast<std::ptrdiff_t>(hn::MaxLanes(D()));
constexpr std::ptrdiff_t kColumns = 2 * kLanes;  // that are worked on together
// And rows: sixteen sums in registers. A square of them must fit the columns.
constexpr int kRows = kColumns < 8 ? 4 : 8;

// R rows of two vectors.
template <int R>
struct Tile {
  Real left[R];
  Real right[R];

  HWY_INLINE void clear() {
    for (int r = 0; r < R; ++r) left[r] = right[r] = hn::Zero(D());
  }
  HWY_INLINE void load(const double* from, std::ptrdiff_t stride) {
    for (int r = 0; r < R; ++r) {
      left[r] = hn::LoadU(D(), from + r * stride);
      right[r] = hn::LoadU(D(), from + r * stride + kLanes);
    }
  }
  HWY_INLINE void store(double* to, std::ptrdiff_t stride) const {
    for (int r = 0; r < R; ++r) {
      hn::StoreU(left[r], D(), to + r * stride);
      hn::StoreU(right[r], D(), to + r * stride + kLanes);
    }
  }
  HWY_INLINE void scale(double factor) {
    for (int r = 0; r < R; ++r) {
      left[r] = hn::Mul(left[r], hn::Set(D(), factor));
      right[r] = hn::Mul(right[r], hn::Set(D(), factor));
    }
  }
};

// tile(r, :) += or -= sum over p < inner of a[p * a_step + r * a_row] * b[p * b_stride + :].
template <int R, bool kSubtract>
HWY_INLINE void accumulate(Tile<R>& tile, const double* HWY_RESTRICT a, std::ptrdiff_t a_step,
                           std::ptrdiff_t a_row, const double* HWY_RESTRICT b,
                           std::ptrdiff_t b_stride, std::ptrdiff_t inner) {
  const D d;
  for (std::ptrdiff_t p = 0; p < inner; ++p) {
    const Real left = hn::LoadU(d, b + p * b_stride);
    const Real right = hn::LoadU(d, b + p * b_stride + kLanes);
    for (int r = 0; r < R; ++r) {
      const Real factor = hn::Set(d, a[p * a_step + r * a_row]);
      if (kSubtract) {
        tile.left[r] = hn::NegMulAdd(factor, left, tile.left[r]);
        tile.right[r] = hn::NegMulAdd(factor, right, tile.right[r]);
      } else {
        tile.left[r] = hn::MulAdd(factor, left, tile.left[r]);
        tile.right[r] = hn::MulAdd(factor, right, tile.right[r]);
      }
    }
  }
}

// Calls rows.run<R>(first) for the rows [0, count): kRows at a time, the rest in fours and ones.
template <typename Rows>
HWY_INLINE bool by_rows(std::ptrdiff_t count, const Rows& rows) {
  std::ptrdiff_t i = 0;
  for (; i + kRows <= count; i += kRows) {
    if (!rows.template run<kRows>(i)) return false;
  }
  for (; i + 4 <= count; i += 4) {
    if (!rows.template run<4>(i)) return false;
  }
  for (; i < count; ++i) {
    if (!rows.template run<1>(i)) return false;
  }
  return true;
}

// Matrices too small for a tile.
void small_rank_update(double* c, double keep, const double* y, std::ptrdiff_t count,
                       std::ptrdiff_t n) {
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    for (std::ptrdiff_t j = i; j < n; ++j) {
      double sum = keep * c[i * n + j];
      for (std::ptrdiff_t p = 0; p < count; ++p) sum += y[p * n + i] * y[p * n + j];
      c[i * n + j] = sum;
    }
  }
}

bool small_cholesky(const double* c, double* factor, std::ptrdiff_t n) {
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    for (std::ptrdiff_t j = i; j < n; ++j) {
      double sum = c[i * n + j];
      for (std::ptrdiff_t p = 0; p < i; ++p) sum -= factor[p * n + i] * factor[p * n + j];
      factor[i * n + j] = sum;
    }
    const double pivot = factor[i * n + i];
    if (!(pivot > 0.0) || !std::isfinite(pivot)) return false;
    const double inverse = 1.0 / std::sqrt(pivot);
    factor[i * n + i] = std::sqrt(pivot);
    for (std::ptrdiff_t j = i + 1; j < n; ++j) factor[i * n + j] *= inverse;
  }
  return true;
}

struct RankUpdate {
  double* c;
  double keep;
  const double* y;
  std::ptrdiff_t count, n;

  template <int R>
  HWY_INLINE bool run(std::ptrdiff_t i) const {
    std::ptrdiff_t j = i;
    for (; j + kColumns <= n; j += kColumns) updated<R>(i, j).store(c + i * n + j, n);
    if (j == n) return true;
    // The last columns, with some before them that must not change again.
    double rest[R * kColumns];
    const std::ptrdiff_t first = n - kColumns;
    updated<R>(i, first).store(rest, kColumns);
    for (int r = 0; r < R; ++r) {
      std::copy(rest + r * kColumns + (j - first), rest + (r + 1) * kColumns, c + (i + r) * n + j);
    }
    return true;
  }

  template <int R>
  HWY_INLINE Tile<R> updated(std::ptrdiff_t i, std::ptrdiff_t j) const {
    Tile<R> tile;
    tile.load(c + i * n + j, n);
    tile.scale(keep);
    accumulate<R, false>(tile, y + i, n, 1, y + j, n, count);
    return tile;
  }
};

// R rows at a time, from the top: what the rows above account for is taken off, then the R rows
// are factored among themselves.
struct Cholesky {
  const double* c;
  double* factor;
  std::ptrdiff_t n;

  // The factor of the square on the diagonal, and 1 over its diagonal.
  template <int R>
  struct Square {
    double at[R][R];
    double inverse[R];
  };

  template <int R>
  HWY_INLINE bool run(std::ptrdiff_t i) const {
    const std::ptrdiff_t first = std::min(i, n - kColumns);
    Tile<R> tile = remaining<R>(i, first);
    Square<R> square{};
    if (!factor_square<R>(tile, i - first, square)) return false;
    solve<R>(square, tile);
    tile.store(factor + i * n + first, n);
    for (std::ptrdiff_t j = first + kColumns; j < n; j += kColumns) {
      const std::ptrdiff_t at = std::min(j, n - kColumns);  // the last with some before them
      tile = remaining<R>(i, at);
      solve<R>(square, tile);
      tile.store(factor + i * n + at, n);
    }
    // The square itself, and what the first columns have left behind to its left.
    for (int r = 0; r < R; ++r) {
      double* row = factor + (i + r) * n;
      std::fill(row + first, row + i + r, 0.0);
      std::copy(square.at[r] + r, square.at[r] + R, row + i + r);
    }
    return true;
  }

  // What is left of the matrix after the rows above.
  template <int R>
  HWY_INLINE Tile<R> remaining(std::ptrdiff_t i, std::ptrdiff_t j) const {
    Tile<R> tile;
    tile.load(c + i * n + j, n);
    accumulate<R, true>(tile, factor + i, n, 1, factor + j, n, i);
    return tile;
  }

  // false when the square, which begins `skip` columns into the tile, is not positive definite.
  template <int R>
  static HWY_INLINE bool factor_square(const Tile<R>& tile, std::ptrdiff_t skip,
                                       Square<R>& square) {
    double rest[R * kColumns];
    tile.store(rest, kColumns);
    auto& at = square.at;
    for (int r = 0; r < R; ++r) {
      for (int k = r; k < R; ++k) at[r][k] = rest[r * kColumns + skip + k];
    }
    for (int r = 0; r < R; ++r) {
      if (!(at[r][r] > 0.0) || !std::isfinite(at[r][r])) return false;
      at[r][r] = std::sqrt(at[r][r]);
      square.inverse[r] = 1.0 / at[r][r];
      for (int k = r + 1; k < R; ++k) at[r][k] *= square.inverse[r];
      for (int q = r + 1; q < R; ++q) {
        for (int k = q; k < R; ++k) at[q][k] -= at[r][q] * at[r][k];
      }
    }
    return true;
  }

  // square' * x = tile, in place.
  template <int R>
  static HWY_INLINE void solve(const Square<R>& square, Tile<R>& tile) {
    const D d;
    for (int r = 0; r < R; ++r) {
      for (int q = 0; q < r; ++q) {
        const Real share = hn::Set(d, square.at[q][r]);
        tile.left[r] = hn::NegMulAdd(share, tile.left[q], tile.left[r]);
        tile.right[r] = hn::NegMulAdd(share, tile.right[q], tile.right[r]);
      }
      tile.left[r] = hn::Mul(tile.left[r], hn::Set(d, square.inverse[r]));
      tile.right[r] = hn::Mul(tile.right[r], hn::Set(d, square.inverse[r]));
    }
  }
};

struct Multiply {
  const double* z;
  const double* factor;
  bool upper;
  double* out;
  std::ptrdiff_t n;

  [[nodiscard]] HWY_INLINE std::ptrdiff_t terms(std::ptrdiff_t end) const {
    return upper ? std::min(end, n) : n;
  }

  template <int R>
  HWY_INLINE bool run(std::ptrdiff_t i) const {
    std::ptrdiff_t j = 0;
    for (; j + kColumns <= n; j += kColumns) columns<R>(i, j);
    if (j < n && n >= kColumns) {
      columns<R>(i, n - kColumns);
      return true;
    }
    for (; j < n; ++j) {
      for (int r = 0; r < R; ++r) {
        double sum = 0.0;
        const std::ptrdiff_t inner = terms(j + 1);
        for (std::ptrdiff_t p = 0; p < inner; ++p) sum += z[(i + r) * n + p] * factor[p * n + j];
        out[(i + r) * n + j] = sum;
      }
    }
    return true;
  }

  template <int R>
  HWY_INLINE void columns(std::ptrdiff_t i, std::ptrdiff_t j) const {
    Tile<R> tile;
    tile.clear();
    accumulate<R, false>(tile, z + i * n, 1, n, factor + j, n, terms(j + kColumns));
    tile.store(out + i * n + j, n);
  }
};

}  // namespace

void RankUpdateOf(double* c, double keep, double* y, const double* weights, std::ptrdiff_t count,
                  std::ptrdiff_t n) {
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const double root = std::sqrt(weights[i]);
    for (std::ptrdiff_t j = 0; j < n; ++j) y[i * n + j] *= root;
  }
  if (n < kColumns) {
    small_rank_update(c, keep, y, count, n);
  } else {
    by_rows(n, RankUpdate{c, keep, y, count, n});
  }
}

bool CholeskyOf(const double* c, double* factor, std::ptrdiff_t n) {
  if (n < kColumns) return small_cholesky(c, factor, n);
  return by_rows(n, Cholesky{c, factor, n});
}

void MultiplyBy(const double* z, const double* factor, bool upper, double* out, std::ptrdiff_t rows,
                std::ptrdiff_t n) {
  by_rows(rows, Multiply{z, factor, upper, out, n});
}

}  // namespace rarefy::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rarefy::kernels {
HWY_EXPORT(RankUpdateOf);
HWY_EXPORT(CholeskyOf);
HWY_EXPORT(MultiplyBy);

void rank_update(double* c, double keep, double* y, const double* weights, std::ptrdiff_t count,
                 std::ptrdiff_t n) {
  HWY_DYNAMIC_DISPATCH(RankUpdateOf)(c, keep, y, weights, count, n);
}
bool cholesky(const double* c, double* factor, std::ptrdiff_t n) {
  return HWY_DYNAMIC_DISPATCH(CholeskyOf)(c, factor, n);
}
void multiply(const double* z, const double* factor, bool upper, double* out, std::ptrdiff_t rows,
              std::ptrdiff_t n) {
  HWY_DYNAMIC_DISPATCH(MultiplyBy)(z, factor, upper, out, rows, n);
}
}  // namespace rarefy::kernels
#endif
