#pragma once

namespace rarefy {

/// A point of the plane, in bandwidths.
struct PlanePoint {
  double x, y;
};

}  // namespace rarefy
