#include "rarefy/runs/trajectory.hpp"

#include <fmt/format.h>

#include <iterator>
#include <limits>

#include "rarefy/runs/picture.hpp"

namespace rarefy {

pictures::Heatmap trajectory_map(const Maze& maze, std::span<const MazeMoment> moments,
                                 const std::string& subtitle) {
  const auto& domain = maze.info();
  const auto& space = domain.feature_space;
  pictures::Heatmap map;
  map.columns = map.rows = 1;
  map.values = {std::numeric_limits<double>::quiet_NaN()};
  map.x_low = space.lower[0];
  map.x_high = space.upper[0];
  map.y_low = space.lower[1];
  map.y_high = space.upper[1];
  map.x_label = domain.feature_names[0];
  map.y_label = domain.feature_names[1];
  map.equal_aspect = true;
  map.title = domain.title + ": the path of one robot";
  map.subtitle = subtitle;
  map.colour_label = "step";
  map.colour_limits = pictures::ColourLimits{0.0, static_cast<double>(Maze::kSteps)};
  add_landmarks(domain, map);
  double step = 0.0;
  for (const auto& moment : moments) map.path.push_back({moment.x, moment.y, step++});
  // What counts is where the robot stands one move before the end.
  const auto& end = moments[static_cast<std::size_t>(Maze::kSteps - 1)];
  constexpr pictures::Colour kEnd = {0.12, 0.47, 0.71};
  map.markers.push_back({.x = end.x, .y = end.y, .colour = kEnd, .label = "end"});
  return map;
}

std::string trajectory_csv(std::span<const MazeMoment> moments) {
  std::string out =
      "step,x,y,heading,laser_right,laser_ahead,laser_left,bumper_right,bumper_left,"
      "wheel_left,wheel_right\n";
  int step = 0;
  for (const auto& m : moments) {
    fmt::format_to(std::back_inserter(out),
                   "{},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{},{},{:.9g},{:.9g}\n", step++,
                   m.x, m.y, m.heading, m.laser_right, m.laser_ahead, m.laser_left, m.bumper_right,
                   m.bumper_left, m.wheel_left, m.wheel_right);
  }
  return out;
}

}  // namespace rarefy
