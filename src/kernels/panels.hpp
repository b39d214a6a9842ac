// Polynomials through Chebyshev nodes on square panels: how a smooth function of two features
// is kept as a table, and a crowd of points as weights on a few nodes.
#pragma once

#include <array>
#include <cstddef>

namespace rarefy::kernels {

/// Nodes along each side of a panel.
inline constexpr std::ptrdiff_t kPanelNodes = 14;
/// A row of nodes is read and written this wide: as many values must lie behind its first.
inline constexpr std::ptrdiff_t kPanelWidth = 16;

/// The nodes on [-1, 1], zeros of the Chebyshev polynomial, in ascending order.
[[nodiscard]] const std::array<double, kPanelNodes>& panel_nodes();

/// A point on a panel: its place on [-1, 1] x [-1, 1], and where the panel's first value is.
struct PanelPoint {
  double x, y;
  std::ptrdiff_t offset;
  double weight;  ///< of panel_deposits alone
};

/// With L_j the polynomial that is 1 at node j and 0 at the others, for each point
///   values[offset + j * stride + k] += weight * L_j(x) * L_k(y),
/// so that for any polynomial f of degree < kPanelNodes in x and in y, the sum of f over the
/// nodes, weighted by the values, is the sum over the points.
void panel_deposits(const PanelPoint* points, std::ptrdiff_t count, double* values,
                    std::ptrdiff_t stride);

/// out[i] = sum over j, k of values[offset + j * stride + k] * L_j(x) * L_k(y): the polynomial
/// through the values, at the point.
void panel_values(const PanelPoint* points, std::ptrdiff_t count, const double* values,
                  std::ptrdiff_t stride, double* out);

/// C = A B with kPanelNodes rows; columns a multiple of kPanelWidth. Each entry is added up in
/// the order of `inner`.
void panel_product(const double* a, std::ptrdiff_t a_stride, std::ptrdiff_t inner, const double* b,
                   std::ptrdiff_t b_stride, std::ptrdiff_t columns, double* c,
                   std::ptrdiff_t c_stride);

}  // namespace rarefy::kernels
