#include "measures.hpp"

#include <algorithm>
#include <cmath>

namespace rarefy::pictures {
namespace {

double unit_of(const PictureSize& size) {
  const double across = size.width / 1400.0;
  const double down = size.height / 1200.0;
  return std::min(std::sqrt(across * down), 1.5 * std::min(across, down));
}

}  // namespace

Measures::Measures(const PictureSize& size) : Measures(unit_of(size)) {}

Measures::Measures(double unit_)
    : unit(unit_), stroke(std::max(1, static_cast<int>(std::lround(2.0 * unit)))) {}

}  // namespace rarefy::pictures
