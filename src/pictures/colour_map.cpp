#include "rarefy/pictures/colour_map.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace rarefy::pictures {
namespace {

// Every fifth of the 256 colours of viridis, 0xRRGGBB. The colour map is by
// Nathaniel Smith and Stefan van der Walt, dedicated to the public domain (CC0)
// and published with matplotlib 1.5, where these values come from.
//
// Accuracy: at t = i / 255, i = 0..255, linear interpolation between these
// colours is within 0.0036 (0.92 of an 8-bit step) of matplotlib's colour i in
// every channel.
constexpr std::array<std::uint32_t, 52> kAnchors = {
    0x440154, 0x46085c, 0x471063, 0x481769, 0x481d6f, 0x482475, 0x472a7a, 0x46307e, 0x453781,
    0x433d84, 0x414287, 0x3f4889, 0x3d4e8a, 0x3a538b, 0x38598c, 0x355e8d, 0x33638d, 0x31688e,
    0x2e6d8e, 0x2c718e, 0x2a768e, 0x297b8e, 0x27808e, 0x25848e, 0x23898e, 0x218e8d, 0x20928c,
    0x1f978b, 0x1e9c89, 0x1fa188, 0x21a585, 0x24aa83, 0x28ae80, 0x2eb37c, 0x35b779, 0x3dbc74,
    0x46c06f, 0x50c46a, 0x5ac864, 0x65cb5e, 0x70cf57, 0x7cd250, 0x89d548, 0x95d840, 0xa2da37,
    0xb0dd2f, 0xbddf26, 0xcae11f, 0xd8e219, 0xe5e419, 0xf1e51d, 0xfde725};

double channel(std::uint32_t rgb, int shift) {
  return static_cast<double>((rgb >> shift) & 0xffU) / 255.0;
}

}  // namespace

Colour viridis(double t) {
  // Written so that NaN, which fails every comparison, becomes 0.
  if (!(t > 0.0)) t = 0.0;
  if (t > 1.0) t = 1.0;
  const double place = t * static_cast<double>(kAnchors.size() - 1);
  auto below = static_cast<std::size_t>(place);
  if (below > kAnchors.size() - 2) below = kAnchors.size() - 2;
  const double weight = place - static_cast<double>(below);
  const auto mix = [&](int shift) {
    return (1.0 - weight) * channel(kAnchors[below], shift) +
           weight * channel(kAnchors[below + 1], shift);
  };
  return {mix(16), mix(8), mix(0)};
}

}  // namespace rarefy::pictures
