#include "rarefy/pictures/line_style.hpp"

#include <array>

namespace rarefy::pictures {
namespace {

constexpr Colour from_bytes(int red, int green, int blue) {
  return {red / 255.0, green / 255.0, blue / 255.0};
}

constexpr std::array<Colour, 8> kColours = {
    from_bytes(0, 114, 178),    // blue
    from_bytes(213, 94, 0),     // vermilion
    from_bytes(0, 158, 115),    // bluish green
    from_bytes(204, 121, 167),  // reddish purple
    from_bytes(230, 159, 0),    // orange
    from_bytes(86, 180, 233),   // sky blue
    from_bytes(0, 0, 0),        // black
    from_bytes(127, 127, 127),  // grey, in place of yellow
};

std::vector<double> dashes_of(std::size_t number) {
  switch (number % kColours.size()) {
    case 0: return {};
    case 1: return {5.0, 2.0};
    case 2: return {1.5, 1.5};
    case 3: return {6.0, 1.8, 1.5, 1.8};
    case 4: return {9.0, 2.5};
    case 5: return {6.0, 1.6, 1.5, 1.6, 1.5, 1.6};
    case 6: return {3.0, 1.5};
    default: return {1.5, 4.0};
  }
}

}  // namespace

LineStyle line_style(std::size_t number, std::size_t count) {
  if (count <= kColours.size()) return {kColours[number % kColours.size()], dashes_of(number)};
  // The yellow end is hard to see on white.
  const double along = 0.92 * static_cast<double>(number) / static_cast<double>(count - 1);
  return {viridis(along), dashes_of(number % 4)};
}

}  // namespace rarefy::pictures
