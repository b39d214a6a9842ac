// A robot in a maze: where does its controller take it within one episode?
//
// The deceptive maze of the density descent paper (Lee et al., GECCO 2024) is the "standard"
// map of Kheperax (Grillotti, Cully, 2023), as it was when the paper was written (v0.1.0). It
// goes back to Lehman, Stanley, "Abandoning objectives", Evolutionary Computation 19(2), 2011,
// and, in this form, to Mouret, Doncieux, "Encouraging behavioral diversity in evolutionary
// robotics", Evolutionary Computation 20(1), 2012.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rarefy/core/names.hpp"
#include "rarefy/domains/domain.hpp"

namespace rarefy {

/// A straight wall without thickness. The maze is the unit square, y upwards; the square's own
/// four sides are always there and are not listed.
struct Wall {
  double x1 = 0, y1 = 0, x2 = 0, y2 = 0;
  bool operator==(const Wall&) const = default;
};

/// Heading counter-clockwise from +x, in radians.
struct MazeStart {
  double x = 0.15, y = 0.15, heading = 1.5707963267948966;

  /// Reads `x,y,heading`. Throws where the text is anything else.
  static MazeStart parse(std::string_view text);
  [[nodiscard]] std::string text() const;
  bool operator==(const MazeStart&) const = default;
};

/// Kheperax's maps; its later versions call the first one "standard".
enum class MazeMap { deceptive, pointmaze, snake, empty };

template <>
struct EnumNames<MazeMap> {
  static constexpr std::string_view thing = "maze";
  static constexpr std::pair<MazeMap, std::string_view> all[] = {{MazeMap::deceptive, "deceptive"},
                                                                 {MazeMap::pointmaze, "pointmaze"},
                                                                 {MazeMap::snake, "snake"},
                                                                 {MazeMap::empty, "empty"}};
};

[[nodiscard]] std::vector<Wall> walls_of(MazeMap map);

/// Walls as text: `x1,y1,x2,y2` for each, separated by semicolons. Throws where it is anything
/// else.
[[nodiscard]] std::vector<Wall> parse_walls(std::string_view text);
[[nodiscard]] std::string text_of(const std::vector<Wall>& walls);

enum class MazeObjective {
  constant,  ///< 1: diversity alone
  /// -(sum of the squared displacements of both wheels over the episode): sparing with energy.
  energy,
};

template <>
struct EnumNames<MazeObjective> {
  static constexpr std::string_view thing = "objective";
  static constexpr std::pair<MazeObjective, std::string_view> all[] = {
      {MazeObjective::constant, "constant"}, {MazeObjective::energy, "energy"}};
};

struct MazeOptions {
  std::vector<Wall> walls = walls_of(MazeMap::deceptive);
  MazeStart start = {};
  MazeObjective objective = MazeObjective::constant;
  double no_wall_reading = 0.2;  ///< the reading of a laser that meets no wall
};

/// Where a robot was, what it sensed and what it did, before each of the 250 steps of an
/// episode and after the last.
struct MazeMoment {
  double x = 0, y = 0, heading = 0;
  double laser_right = 0, laser_ahead = 0, laser_left = 0;
  double bumper_right = 0, bumper_left = 0;  ///< +1 contact, -1 none
  double wheel_left = 0, wheel_right = 0;    ///< -1 to 1
};

/// A round robot of radius 0.015 with two wheels 0.03 apart, three lasers of range 0.2 at -45,
/// 0 and +45 degrees, and two bumpers; steered by a network of 5 inputs, 8 hidden units (ReLU)
/// and 2 outputs (tanh): the wheels' displacements in a step, 0.025 at most. Solutions are its
/// 66 parameters: 8 biases, 5 x 8 weights (by input), 2 biases, 8 x 2 weights (by hidden unit).
///
/// Five things to know, all of them Kheperax's:
///  1. touching a wall freezes the robot for the rest of the episode: it neither slides nor
///     bounces, and may come to rest up to 0.01 within the wall;
///  2. the bumpers never matter to its path, only to the energy it then wastes;
///  3. the feature is where it stands after 249 of the 250 moves;
///  4. the first reading of the right laser is a tie (the tip of a wall exactly on the beam)
///     and counts as a hit;
///  5. about a third of evolved controllers are chaotic: the last bit of single precision
///     decides where they end. Episodes are computed in single precision, to the same bits
///     with every instruction set.
class Maze : public Domain {
 public:
  explicit Maze(MazeOptions options = {});
  ~Maze() override;
  Maze(const Maze&) = delete;
  Maze& operator=(const Maze&) = delete;

  /// A controller with a NaN among its parameters ends nowhere: its features are NaN.
  void evaluate(BatchView solutions, BatchSpan features,
                std::span<double> objectives) const override;

  /// The 251 moments of one controller's episode; moment 249 is where evaluate() says it ends.
  [[nodiscard]] std::vector<MazeMoment> trajectory(std::span<const double> controller) const;

  [[nodiscard]] const MazeOptions& options() const { return options_; }

  static constexpr Index kParameters = 66;
  static constexpr Index kSteps = 250;
  static constexpr double kRadius = 0.015;

 private:
  struct Prepared;
  MazeOptions options_;
  std::unique_ptr<const Prepared> prepared_;
};

}  // namespace rarefy
