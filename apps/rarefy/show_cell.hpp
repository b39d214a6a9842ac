// rarefy show --cell and --trajectory: what was found for one cell.
#pragma once

#include <string>

#include "rarefy/runs/run.hpp"

namespace rarefy::command {

/// Prints the elite of a cell; of a run on the arm, draws it too.
void show_cell(const Run& run, const std::string& cell, bool json);

/// Draws the path of the robot that was found for a cell.
void show_trajectory(const Run& run, const std::string& cell);

}  // namespace rarefy::command
