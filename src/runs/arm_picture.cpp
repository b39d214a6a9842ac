#include "rarefy/runs/arm_picture.hpp"

#include <limits>
#include <numbers>

#include "kernels/domains.hpp"
#include "rarefy/runs/picture.hpp"

namespace rarefy {
namespace {

constexpr int kSides = 240;  // of the polygon that stands for a circle

void add_circle(double radius, pictures::Heatmap& map) {
  const auto at = [&](int side) {
    const double angle = 2.0 * std::numbers::pi * (side % kSides) / kSides;
    ArmJoint place;
    kernels::sum_of_directions(&angle, 1, &place.x, &place.y);
    return ArmJoint{radius * place.x, radius * place.y};
  };
  for (int side = 0; side < kSides; ++side) {
    const auto from = at(side), to = at(side + 1);
    map.walls.push_back({from.x, from.y, to.x, to.y});
  }
}

}  // namespace

pictures::Heatmap arm_map(const Arm& arm, std::span<const double> solution,
                          const std::string& subtitle) {
  const auto& domain = arm.info();
  const auto links = static_cast<double>(solution.size());
  pictures::Heatmap map;
  map.columns = map.rows = 1;
  map.values = {std::numeric_limits<double>::quiet_NaN()};
  add_axes(domain, map);
  map.title = domain.title + ": one arm";
  map.subtitle = subtitle;
  map.colour_label = "link";
  map.colour_limits = pictures::ColourLimits{0.0, links};
  add_circle(links, map);
  const auto joints = arm.joints(solution);
  double number = 0.0;
  for (const auto& joint : joints) map.path.push_back({joint.x, joint.y, number++});
  constexpr pictures::Colour kEnd = {0.12, 0.47, 0.71};
  map.markers.push_back({.x = 0.0, .y = 0.0, .label = ""});  // one would hide links
  map.markers.push_back(
      {.x = joints.back().x, .y = joints.back().y, .colour = kEnd, .label = "end"});
  return map;
}

}  // namespace rarefy
