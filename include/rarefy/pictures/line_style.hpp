// How lines of one plot are told apart.
#pragma once

#include <cstddef>
#include <vector>

#include "rarefy/pictures/colour_map.hpp"

namespace rarefy::pictures {

struct LineStyle {
  Colour colour;
  /// Lengths of dashes and gaps by turns, in widths of the line; none: unbroken.
  std::vector<double> dashes;
};

/// The style of line `number` among `count`. Up to eight lines have the colours of M. Okabe and
/// K. Ito ("Color universal design", 2008), which colour-blind readers can tell apart, without the
/// yellow, which print loses; and dashes of their own, for print in grey. More have steps of
/// viridis, and four kinds of dashes by turns.
[[nodiscard]] LineStyle line_style(std::size_t number, std::size_t count);

}  // namespace rarefy::pictures
