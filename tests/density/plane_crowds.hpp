// Crowds of points in the plane, and what a sum of Gaussians over them is.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>
#include <vector>

#include "density/panels/cell_moments.hpp"
#include "rarefy/core/random.hpp"

namespace plane {

using rarefy::Index;
using rarefy::PlanePoint;
using Points = std::vector<PlanePoint>;

/// log of the sum of exp(-d^2 / 2), point by point.
inline double log_sum(const Points& points, PlanePoint query) {
  const auto squared = [&](PlanePoint point) {
    return (point.x - query.x) * (point.x - query.x) + (point.y - query.y) * (point.y - query.y);
  };
  double nearest = 1e300;
  for (const PlanePoint point : points) nearest = std::min(nearest, squared(point));
  double sum = 0.0;
  for (const PlanePoint point : points) sum += std::exp(-0.5 * (squared(point) - nearest));
  return std::log(sum) - 0.5 * nearest;
}

/// Ways to be distributed over a box of `side` about the origin.
constexpr std::string_view kCrowds[] = {"even",  "corner", "middle",        "edge",
                                        "seams", "one",    "two far apart", "lattice"};

inline PlanePoint member(std::string_view crowd, double side, rarefy::RandomStream& random) {
  const double half = 0.5 * side;
  const auto even = [&] { return side * (random.uniform() - 0.5); };
  // Near 0, seldom far.
  const auto near = [&](double width) {
    return width * (random.uniform() + random.uniform() + random.uniform() - 1.5);
  };
  const auto inside = [&](double v) { return std::clamp(v, -half, half); };
  if (crowd == "corner") return {inside(half + near(0.1)), inside(half + near(0.1))};
  if (crowd == "middle") return {inside(near(1.5)), inside(near(1.5))};
  if (crowd == "edge") return {inside(-half + near(0.5)), even()};
  if (crowd == "seams") {  // where panels meet
    return {inside(2.0 * std::round(0.5 * even()) + near(1e-9)), inside(std::round(even()))};
  }
  if (crowd == "one") return {0.123, -0.456};
  if (crowd == "two far apart") {
    const double sign = random.uniform() < 0.999 ? 1.0 : -1.0;
    return {inside(sign * half), inside(sign * half + near(0.3))};
  }
  if (crowd == "lattice") return {inside(std::round(even())), inside(std::round(even()))};
  return {even(), even()};
}

inline Points crowd_of(std::string_view crowd, double side, Index count, std::uint64_t seed) {
  rarefy::RandomStream random({.seed = seed, .purpose = rarefy::Purpose::user});
  Points points;
  for (Index i = 0; i < count; ++i) points.push_back(member(crowd, side, random));
  return points;
}

/// Queries everywhere, and around the points.
inline Points queries_for(const Points& points, double side, Index count, std::uint64_t seed) {
  rarefy::RandomStream random({.seed = seed, .purpose = rarefy::Purpose::user});
  Points queries = crowd_of("even", side, count / 2, seed + 1);
  for (Index i = 0; i < count / 2; ++i) {
    const auto& point = points[random.below(points.size())];
    const auto shifted = [&](double v) {
      return std::clamp(v + 4.0 * (random.uniform() - 0.5), -0.5 * side, 0.5 * side);
    };
    queries.push_back({shifted(point.x), shifted(point.y)});
  }
  return queries;
}

}  // namespace plane
