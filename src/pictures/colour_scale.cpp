#include "colour_scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "rarefy/core/error.hpp"

namespace rarefy::pictures {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// The cells [first, second) that pixel `pixel` of `pixels` shows: the one at its
// centre, or all that it covers where there are more cells than pixels.
std::pair<Index, Index> cells_of_pixel(Index pixel, Index pixels, Index cells) {
  if (cells > pixels) return {pixel * cells / pixels, (pixel + 1) * cells / pixels};
  const Index cell = (2 * pixel + 1) * cells / (2 * pixels);
  return {cell, cell + 1};
}

}  // namespace

ColourScale::ColourScale(const Heatmap& map) : logarithmic_(map.logarithmic) {
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  for (const double value : map.values) {
    if (!shows(value)) continue;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  empty_ = least > most;
  if (map.colour_limits) {
    low_ = map.colour_limits->low;
    high_ = map.colour_limits->high;
    below_ = !empty_ && least < low_;
    above_ = !empty_ && most > high_;
  } else if (!empty_) {
    low_ = least;
    high_ = most;
    single_ = !is_drawable_range(low_, high_) && std::isfinite(high_ - low_);
    if (!single_ && !is_drawable_range(low_, high_)) {
      throw Error(ErrorKind::parameter, "values of a heatmap",
                  fmt::format("values from {} to {}", low_, high_), "a finite difference");
    }
  }
  has_range_ = map.colour_limits.has_value() || (!empty_ && !single_);
}

double ColourScale::position(double value) const {
  if (!shows(value)) return kNaN;
  if (!has_range_) return 0.5;
  // A difference of logarithms: the quotient of far-apart limits would overflow.
  const double share =
      logarithmic_ ? (std::log10(value) - std::log10(low_)) / (std::log10(high_) - std::log10(low_))
                   : (value - low_) / (high_ - low_);
  return std::clamp(share, 0.0, 1.0);
}

std::vector<Tick> ColourScale::ticks(int most) const {
  if (single_) return {{low_, format_number(low_)}};
  if (!has_range_) return {};
  return logarithmic_ ? log_ticks(low_, high_, most) : linear_ticks(low_, high_, most);
}

bool ColourScale::shows(double value) const {
  return !std::isnan(value) && (!logarithmic_ || value > 0.0);
}

// Drawing pixels, not one rectangle a cell, leaves no seams between cells.
Raster paint_cells(const Heatmap& map, const ColourScale& scale, const Box& area) {
  Raster raster(area.width, area.height);
  std::vector<double> sums(static_cast<std::size_t>(area.width));
  std::vector<Index> counts(sums.size());
  for (int y = 0; y < area.height; ++y) {
    std::fill(sums.begin(), sums.end(), 0.0);
    std::fill(counts.begin(), counts.end(), 0);
    const auto [first_row, end_row] = cells_of_pixel(area.height - 1 - y, area.height, map.rows);
    for (Index row = first_row; row < end_row; ++row) {
      for (int x = 0; x < area.width; ++x) {
        const auto [first, end] = cells_of_pixel(x, area.width, map.columns);
        for (Index column = first; column < end; ++column) {
          const double position =
              scale.position(map.values[static_cast<std::size_t>(row * map.columns + column)]);
          if (std::isnan(position)) continue;
          sums[static_cast<std::size_t>(x)] += position;
          ++counts[static_cast<std::size_t>(x)];
        }
      }
    }
    for (int x = 0; x < area.width; ++x) {
      const auto i = static_cast<std::size_t>(x);
      raster.set(x, y,
                 counts[i] == 0 ? kEmptyCell : viridis(sums[i] / static_cast<double>(counts[i])));
    }
  }
  return raster;
}

}  // namespace rarefy::pictures
