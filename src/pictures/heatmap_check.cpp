#include "heatmap_check.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "rarefy/core/error.hpp"
#include "rarefy/pictures/axis.hpp"

namespace rarefy::pictures {
namespace {

void require(bool good, std::string_view thing, const std::string& given,
             std::string_view expected) {
  if (!good) throw Error(ErrorKind::parameter, thing, given, expected);
}

}  // namespace

void check_heatmap(const Heatmap& map) {
  constexpr Index kMost = Index{1} << 30;
  require(map.columns >= 1 && map.columns <= kMost, "columns of a heatmap",
          std::to_string(map.columns), "at least 1");
  require(map.rows >= 1 && map.rows <= kMost, "rows of a heatmap", std::to_string(map.rows),
          "at least 1");
  require(map.fill ? map.values.empty() : std::cmp_equal(map.values.size(), map.columns * map.rows),
          "values of a heatmap", fmt::format("{} values", map.values.size()),
          fmt::format("{} x {} values{}", map.columns, map.rows,
                      map.fill ? ", and none where they are asked for" : ""));
  const auto range = [](std::string_view thing, double low, double high) {
    require(is_drawable_range(low, high), thing, fmt::format("[{}, {}]", low, high),
            "finite limits, the second clearly above the first");
  };
  range("x range of a heatmap", map.x_low, map.x_high);
  range("y range of a heatmap", map.y_low, map.y_high);
  if (map.colour_limits) {
    range("colour limits of a heatmap", map.colour_limits->low, map.colour_limits->high);
    require(!map.logarithmic || map.colour_limits->low > 0.0, "logarithmic colour limits",
            fmt::format("{}", map.colour_limits->low), "a positive lower limit");
  }
  for (const Segment& wall : map.walls) {
    require(std::isfinite(wall.x1 + wall.y1 + wall.x2 + wall.y2), "wall of a heatmap",
            fmt::format("({}, {}) to ({}, {})", wall.x1, wall.y1, wall.x2, wall.y2), "finite ends");
  }
  for (const Dot& dot : map.dots) {
    require(std::isfinite(dot.x + dot.y), "dot of a heatmap", fmt::format("({}, {})", dot.x, dot.y),
            "a finite place");
  }
  for (const PathPoint& point : map.path) {
    require(std::isfinite(point.x + point.y + point.value), "path of a heatmap",
            fmt::format("({}, {}), value {}", point.x, point.y, point.value), "finite numbers");
  }
  require(map.path.empty() || map.colour_limits.has_value(), "path of a heatmap",
          "no colour limits", "limits that say which value of the path has which colour");
  for (const Marker& marker : map.markers) {
    require(std::isfinite(marker.x + marker.y), "marker of a heatmap",
            fmt::format("({}, {})", marker.x, marker.y), "a finite place");
  }
}

}  // namespace rarefy::pictures
