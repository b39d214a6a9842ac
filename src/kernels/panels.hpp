// Polynomials through Chebyshev nodes on square panels: how a smooth function of two features
// is kept as a table, and a crowd of points as weights on a few nodes. The values of a panel
// are a block, row by row: one row for each node along x.
#pragma once

#include <array>
#include <cstddef>

namespace rarefy::kernels {

/// Nodes along each side of a panel.
inline constexpr std::ptrdiff_t kPanelNodes = 16;
/// Values of a panel.
inline constexpr std::ptrdiff_t kPanelBlock = kPanelNodes * kPanelNodes;

/// The nodes on [-1, 1], zeros of the Chebyshev polynomial, in ascending order.
[[nodiscard]] const std::array<double, kPanelNodes>& panel_nodes();

/// A point on a panel: its place on [-1, 1] x [-1, 1], and where the panel's block is.
struct PanelPoint {
  double x, y;
  std::ptrdiff_t offset;
  double weight;  ///< of panel_deposits alone
};

/// With L_j the polynomial that is 1 at node j and 0 at the others, for each point
///   values[offset + j * kPanelNodes + k] += weight * L_j(x) * L_k(y),
/// so that for any polynomial f of degree < kPanelNodes in x and in y, the sum of f over the
/// nodes, weighted by the values, is the sum over the points. Fast where the points of a panel
/// come one after the other.
void panel_deposits(const PanelPoint* points, std::ptrdiff_t count, double* values);

/// out[i] = sum over j, k of values[offset + j * kPanelNodes + k] * L_j(x) * L_k(y): the
/// polynomial through the values, at the point.
void panel_values(const PanelPoint* points, std::ptrdiff_t count, const double* values,
                  double* out);

/// Rows of a panel_product.
inline constexpr std::ptrdiff_t kProductRows = 8;

/// C = A B with kProductRows rows; columns a multiple of kPanelNodes. Each entry is added up in
/// the order of `inner`.
void panel_product(const double* a, std::ptrdiff_t a_stride, std::ptrdiff_t inner, const double* b,
                   std::ptrdiff_t b_stride, std::ptrdiff_t columns, double* c,
                   std::ptrdiff_t c_stride);

/// Four things, one for each way to be even or odd along x and along y; or four panels, one and
/// its mirror images: along y, along x, along both.
template <typename T>
using Four = std::array<T*, 4>;

/// The even and odd parts, row by row `stride` apart, of four panels:
///   parts[0](j, k) = f(j, k) + f(j, -k) + f(-j, k) + f(-j, -k),
/// where -j stands for the node opposite; parts[1] is odd along y, parts[2] along x.
void fold_panels(const Four<const double>& panels, const Four<double>& parts,
                 std::ptrdiff_t stride);

/// The way back, but for a factor of 4, for kProductRows rows of the parts, which are the
/// panels' rows from `row` on. Returns the greatest value written, or 0 where none is positive.
double unfold_panels(const Four<const double>& parts, std::ptrdiff_t row,
                     const Four<double>& panels);

}  // namespace rarefy::kernels
