// Maps of mazes, by name and as text.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "rarefy/core/error.hpp"
#include "rarefy/core/nearest_name.hpp"
#include "rarefy/domains/maze.hpp"

namespace rarefy {
namespace {

using Maps = std::map<std::string_view, std::vector<Wall>>;

// Kheperax's maps; its later versions call the first one "standard".
const Maps& maps() {
  static const Maps all = {
      {"deceptive",
       {{0.25, 0.25, 0.25, 0.75},
        {0.14, 0.45, 0, 0.65},
        {0.25, 0.75, 0, 0.8},
        {0.25, 0.75, 0.66, 0.875},
        {0.355, 0, 0.525, 0.185},
        {0.25, 0.5, 0.75, 0.215},
        {1, 0.25, 0.435, 0.55}}},
      {"pointmaze", {{0, 0.25, 0.75, 0.25}, {0.25, 0.6, 1, 0.6}, {0, 0.25, 0, 1}}},
      {"snake",
       {{0.2, 0, 0.2, 0.8},
        {0, 0.2, 0, 1},
        {0.2, 0, 1, 0},
        {0.2, 0.8, 0.8, 0.8},
        {0.2, 0.4, 0.8, 0.4},
        {0.4, 0.6, 1, 0.6},
        {0.4, 0.2, 1, 0.2}}},
      {"empty", {}},
  };
  return all;
}

// Numbers separated by commas.
std::vector<double> parse_numbers(std::string_view text, std::size_t count, std::string_view thing,
                                  std::string_view expected) {
  std::vector<double> numbers;
  const auto refuse = [&] {
    throw Error(ErrorKind::parameter, thing, fmt::format("'{}'", text), expected);
  };
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto skip_spaces = [&] {
    while (at != end && *at == ' ') ++at;
  };
  while (true) {
    skip_spaces();
    double value = 0;
    const auto parsed = std::from_chars(at, end, value);
    if (parsed.ec != std::errc() || !std::isfinite(value)) refuse();
    numbers.push_back(value);
    at = parsed.ptr;
    skip_spaces();
    if (at == end) break;
    if (*at++ != ',') refuse();
  }
  if (numbers.size() != count) refuse();
  return numbers;
}

}  // namespace

const std::vector<std::string_view>& maze_map_names() {
  static const std::vector<std::string_view> names = {"deceptive", "pointmaze", "snake", "empty"};
  return names;
}

std::vector<Wall> maze_map_named(std::string_view name) {
  const auto found = maps().find(name);
  if (found == maps().end()) throw unknown_name("maze", name, maze_map_names());
  return found->second;
}

std::vector<Wall> parse_walls(std::string_view text) {
  std::vector<Wall> walls;
  while (!text.empty()) {
    const auto end = std::min(text.find(';'), text.size());
    const auto one = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (one.find_first_not_of(' ') == std::string_view::npos) continue;  // after the last one
    const auto numbers =
        parse_numbers(one, 4, fmt::format("walls: wall {}", walls.size() + 1), "x1,y1,x2,y2");
    walls.push_back({numbers[0], numbers[1], numbers[2], numbers[3]});
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

MazeStart parse_maze_start(std::string_view text) {
  const auto numbers = parse_numbers(text, 3, "start", "x,y,heading");
  return {numbers[0], numbers[1], numbers[2]};
}

}  // namespace rarefy
