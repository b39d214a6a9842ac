// Robots in a maze, one a lane.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rarefy::kernels {

/// A straight wall without thickness, with what every robot needs to know of it.
struct MazeWall {
  float from_x, from_y, to_x, to_y;
  float along_x, along_y;  ///< to - from
  float inverse_square;    ///< 1 / |to - from|^2
};

/// The task, in single precision throughout. See domains/maze.hpp for its meaning.
struct MazeTask {
  const MazeWall* walls = nullptr;
  std::ptrdiff_t wall_count = 0;
  float start_x = 0, start_y = 0, start_heading = 0;
  float no_wall_reading = 0;  ///< the reading of a laser that meets no wall
  std::int32_t steps = 0;     ///< of an episode
};

constexpr std::ptrdiff_t kMazeParameters = 66;
constexpr std::ptrdiff_t kMazeTraceFields = 10;

/// Runs one episode for each of `count` controllers (row-major, kMazeParameters columns).
/// Results of robot i: positions[2 i], positions[2 i + 1], where it stands after steps - 1
/// moves; energies[i], the sum of squared wheel displacements over all steps.
/// `trace`, unless null, gets steps + 1 rows of kMazeTraceFields for the one robot there then
/// must be: x, y, heading, three lasers, two bumpers, two wheels, before each step and at
/// the end.
///   lanes      f32; a robot that is done makes room for the next
///   accuracy   every operation is rounded by itself, none fused, and the elementary functions
///              are computed here (1.6 ulp), so that all instruction sets give the same bits
void run_maze(const MazeTask& task, const double* controllers, std::ptrdiff_t count,
              double* positions, double* energies, float* trace);

/// The elementary functions of the above, for the tests.
void maze_sine_cosine(const float* x, std::ptrdiff_t count, float* sine, float* cosine);
void maze_tanh(const float* x, std::ptrdiff_t count, float* out);

}  // namespace rarefy::kernels
