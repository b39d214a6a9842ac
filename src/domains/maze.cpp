#include "rarefy/domains/maze.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "core/maths.hpp"
#include "kernels/maze.hpp"
#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

static_assert(Maze::kParameters == kernels::kMazeParameters);

// Both wheels at full speed, 0.025, for 250 steps.
constexpr double kMostEnergy = 0.3125;

constexpr std::array kBorder = {Wall{0, 0, 0, 1}, Wall{0, 1, 1, 1}, Wall{1, 1, 1, 0},
                                Wall{1, 0, 0, 0}};

kernels::MazeWall prepared(const Wall& wall) {
  kernels::MazeWall out{};
  out.from_x = static_cast<float>(wall.x1);
  out.from_y = static_cast<float>(wall.y1);
  out.to_x = static_cast<float>(wall.x2);
  out.to_y = static_cast<float>(wall.y2);
  out.along_x = out.to_x - out.from_x;
  out.along_y = out.to_y - out.from_y;
  out.inverse_square = 1.0F / (out.along_x * out.along_x + out.along_y * out.along_y);
  return out;
}

double distance(const Wall& wall, double x, double y) {
  const double along_x = wall.x2 - wall.x1, along_y = wall.y2 - wall.y1;
  const double dot = (x - wall.x1) * along_x + (y - wall.y1) * along_y;
  const double t = std::clamp(dot / (along_x * along_x + along_y * along_y), 0.0, 1.0);
  return maths::length(x - wall.x1 - t * along_x, y - wall.y1 - t * along_y);
}

void check(const MazeOptions& options) {
  constexpr double kFar = 10.0;  // a wall may begin outside the square, but not anywhere
  constexpr double kShortest = 1e-4;
  for (std::size_t i = 0; i < options.walls.size(); ++i) {
    const auto& wall = options.walls[i];
    for (const double value : {wall.x1, wall.y1, wall.x2, wall.y2}) {
      if (!(std::abs(value) <= kFar)) {
        throw Error(ErrorKind::parameter, fmt::format("maze: wall {}", i + 1),
                    fmt::format("{}", value),
                    fmt::format("coordinates from -{} to {}", kFar, kFar));
      }
    }
    if (!(maths::length(wall.x2 - wall.x1, wall.y2 - wall.y1) >= kShortest)) {
      throw Error(ErrorKind::parameter, fmt::format("maze: wall {}", i + 1),
                  fmt::format("{},{} to {},{}", wall.x1, wall.y1, wall.x2, wall.y2),
                  fmt::format("two ends at least {} apart", kShortest));
    }
  }
  const auto& start = options.start;
  if (!(std::abs(start.heading) <= 3.1416)) {
    throw Error(ErrorKind::parameter, "maze: heading at the start",
                fmt::format("{}", start.heading), "radians from -pi to pi");
  }
  const auto within = [](double value) { return value > 0 && value < 1; };
  if (!within(start.x) || !within(start.y)) {
    throw Error(ErrorKind::parameter, "maze: start", fmt::format("{},{}", start.x, start.y),
                "a point within the unit square");
  }
  const auto free_of = [&](const Wall& wall, const std::string& name) {
    if (distance(wall, start.x, start.y) > Maze::kRadius) return;
    throw Error(ErrorKind::parameter, "maze: start", fmt::format("{},{}", start.x, start.y),
                fmt::format("a point farther than {} from every wall: there the robot could "
                            "not move for {}",
                            Maze::kRadius, name));
  };
  for (const auto& wall : kBorder) free_of(wall, "the border");
  for (std::size_t i = 0; i < options.walls.size(); ++i) {
    free_of(options.walls[i], fmt::format("wall {}", i + 1));
  }
  constexpr double kMostRead = 1e6;  // and nothing overflows
  if (!(std::abs(options.no_wall_reading) <= kMostRead)) {
    throw Error(ErrorKind::parameter, "maze: reading of a laser that meets no wall",
                fmt::format("{}", options.no_wall_reading),
                fmt::format("a number from -{} to {}", kMostRead, kMostRead));
  }
}

DomainInfo describe(const MazeOptions& options) {
  check(options);
  DomainInfo info;
  info.name = "maze";
  info.title = options.walls == walls_of(MazeMap::deceptive) ? "Deceptive maze" : "Robot in a maze";
  info.solution_dim = Maze::kParameters;
  info.feature_space = {{0.0, 0.0}, {1.0, 1.0}};
  info.feature_names = {"x", "y"};
  info.constant_objective = options.objective == MazeObjective::constant;
  if (!info.constant_objective) {
    info.least_objective = -kMostEnergy;
    info.greatest_objective = 0.0;
  }
  for (const auto& wall : options.walls) {
    info.lines.push_back({wall.x1, wall.y1, wall.x2, wall.y2});
  }
  info.places.push_back({options.start.x, options.start.y, "start"});
  return info;
}

}  // namespace

struct Maze::Prepared {
  std::vector<kernels::MazeWall> walls;
  kernels::MazeTask task;
};

Maze::Maze(MazeOptions options) : Domain(describe(options)), options_(std::move(options)) {
  auto made = std::make_unique<Prepared>();
  for (const auto& wall : options_.walls) made->walls.push_back(prepared(wall));
  for (const auto& wall : kBorder) made->walls.push_back(prepared(wall));
  made->task = {.walls = made->walls.data(),
                .wall_count = static_cast<Index>(made->walls.size()),
                .start_x = static_cast<float>(options_.start.x),
                .start_y = static_cast<float>(options_.start.y),
                .start_heading = static_cast<float>(options_.start.heading),
                .no_wall_reading = static_cast<float>(options_.no_wall_reading),
                .steps = kSteps};
  prepared_ = std::move(made);
}

Maze::~Maze() = default;

void Maze::evaluate(BatchView solutions, BatchSpan features, std::span<double> objectives) const {
  if (solutions.cols() != kParameters) {
    throw Error(ErrorKind::data, "maze: controllers", fmt::format("{} values", solutions.cols()),
                fmt::format("{}", kParameters));
  }
  kernels::run_maze(prepared_->task, solutions.data(), solutions.rows(), features.data(),
                    objectives.data(), nullptr);
  for (double& value : objectives) {
    // Single precision may round past what is possible.
    value = options_.objective == MazeObjective::energy ? -std::min(value, kMostEnergy) : 1.0;
  }
  for (Index i = 0; i < solutions.rows(); ++i) {
    const auto row = solutions.row(i);
    if (std::any_of(row.begin(), row.end(), [](double value) { return std::isnan(value); })) {
      features(i, 0) = features(i, 1) = std::numeric_limits<double>::quiet_NaN();
    }
  }
}

std::vector<MazeMoment> Maze::trajectory(std::span<const double> controller) const {
  if (static_cast<Index>(controller.size()) != kParameters) {
    throw Error(ErrorKind::data, "maze: controller", fmt::format("{} values", controller.size()),
                fmt::format("{}", kParameters));
  }
  std::vector<float> trace(static_cast<std::size_t>((kSteps + 1) * kernels::kMazeTraceFields));
  std::array<double, 2> end{};
  double energy = 0;
  kernels::run_maze(prepared_->task, controller.data(), 1, end.data(), &energy, trace.data());
  std::vector<MazeMoment> moments;
  for (const float* at = trace.data(); at != trace.data() + trace.size();
       at += kernels::kMazeTraceFields) {
    const auto field = [at](int i) { return static_cast<double>(at[i]); };
    moments.push_back({.x = field(0),
                       .y = field(1),
                       .heading = field(2),
                       .laser_right = field(3),
                       .laser_ahead = field(4),
                       .laser_left = field(5),
                       .bumper_right = field(6),
                       .bumper_left = field(7),
                       .wheel_left = field(8),
                       .wheel_right = field(9)});
  }
  return moments;
}

}  // namespace rarefy
