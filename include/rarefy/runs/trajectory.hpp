// The path of one robot through a maze, as a picture and as a table.
#pragma once

#include <span>
#include <string>

#include "rarefy/domains/maze.hpp"
#include "rarefy/pictures/heatmap.hpp"

namespace rarefy {

/// The maze with the path of a robot, coloured by step, and its two ends.
[[nodiscard]] pictures::Heatmap trajectory_map(const Maze& maze,
                                               std::span<const MazeMoment> moments,
                                               const std::string& subtitle);

/// One line for every moment: step, pose, what was sensed and what was done.
[[nodiscard]] std::string trajectory_csv(std::span<const MazeMoment> moments);

}  // namespace rarefy
