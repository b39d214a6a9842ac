// From a number to a colour.
#pragma once

namespace rarefy::pictures {

/// An sRGB colour; every channel is in [0, 1].
struct Colour {
  double red = 0.0;
  double green = 0.0;
  double blue = 0.0;

  friend bool operator==(const Colour&, const Colour&) = default;
};

/// The viridis colour map: dark violet at 0, yellow at 1. Equal steps of `t`
/// look equally large, also in grey and to colour-blind readers. `t` outside
/// [0, 1] is clamped; NaN counts as 0.
[[nodiscard]] Colour viridis(double t);

}  // namespace rarefy::pictures
