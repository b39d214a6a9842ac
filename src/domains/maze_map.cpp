// Maps of mazes, by name and as text.
#include <fmt/format.h>

#include <utility>

#include "rarefy/core/error.hpp"
#include "rarefy/core/numbers.hpp"
#include "rarefy/domains/maze.hpp"

namespace rarefy {
namespace {

std::vector<double> numbers_of(std::string_view text, std::size_t count, std::string_view thing,
                               std::string_view expected) {
  auto numbers = parse_numbers(text);
  if (!numbers || numbers->size() != count) {
    throw Error(ErrorKind::parameter, thing, fmt::format("'{}'", text), expected);
  }
  return std::move(*numbers);
}

}  // namespace

std::vector<Wall> walls_of(MazeMap map) {
  switch (map) {
    case MazeMap::deceptive:
      return {{0.25, 0.25, 0.25, 0.75},  {0.14, 0.45, 0, 0.65},    {0.25, 0.75, 0, 0.8},
              {0.25, 0.75, 0.66, 0.875}, {0.355, 0, 0.525, 0.185}, {0.25, 0.5, 0.75, 0.215},
              {1, 0.25, 0.435, 0.55}};
    case MazeMap::pointmaze: return {{0, 0.25, 0.75, 0.25}, {0.25, 0.6, 1, 0.6}, {0, 0.25, 0, 1}};
    case MazeMap::snake:
      return {{0.2, 0, 0.2, 0.8},   {0, 0.2, 0, 1},     {0.2, 0, 1, 0},    {0.2, 0.8, 0.8, 0.8},
              {0.2, 0.4, 0.8, 0.4}, {0.4, 0.6, 1, 0.6}, {0.4, 0.2, 1, 0.2}};
    case MazeMap::empty: break;
  }
  return {};
}

std::vector<Wall> parse_walls(std::string_view text) {
  std::vector<Wall> walls;
  for (const auto one : split(text, ';')) {
    if (trimmed(one).empty()) continue;  // after the last one
    const auto numbers =
        numbers_of(one, 4, fmt::format("walls: wall {}", walls.size() + 1), "x1,y1,x2,y2");
    walls.push_back({numbers[0], numbers[1], numbers[2], numbers[3]});
  }
  if (walls.empty() && !trimmed(text).empty()) {
    throw Error(ErrorKind::parameter, "walls", fmt::format("'{}'", text),
                "x1,y1,x2,y2 for each wall, with semicolons between");
  }
  return walls;
}

std::string text_of(const std::vector<Wall>& walls) {
  std::string text;
  for (const auto& wall : walls) {
    if (!text.empty()) text += "; ";
    text += fmt::format("{},{},{},{}", wall.x1, wall.y1, wall.x2, wall.y2);
  }
  return text;
}

MazeStart MazeStart::parse(std::string_view text) {
  const auto numbers = numbers_of(text, 3, "start", "x,y,heading");
  return {numbers[0], numbers[1], numbers[2]};
}

std::string MazeStart::text() const { return fmt::format("{},{},{}", x, y, heading); }

}  // namespace rarefy
