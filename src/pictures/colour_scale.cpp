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

// The values of some cells at a time, wherever they come from.
class CellValues {
 public:
  explicit CellValues(const Heatmap& map) : map_(map) {}

  // To be called before values of the tile are looked at.
  void look_at(const CellTile& tile) {
    if (!map_.fill) return;
    tile_ = tile;
    values_.resize(static_cast<std::size_t>(tile.rows * tile.columns));
    map_.fill(tile, values_);
  }
  [[nodiscard]] double operator()(Index row, Index column) const {
    if (!map_.fill) return map_.values[static_cast<std::size_t>(row * map_.columns + column)];
    return values_[static_cast<std::size_t>((row - tile_.first_row) * tile_.columns + column -
                                            tile_.first_column)];
  }

 private:
  const Heatmap& map_;
  CellTile tile_;
  std::vector<double> values_;
};

// Calls use(value) for every cell.
template <typename Use>
void for_each_value(const Heatmap& map, Use use) {
  constexpr Index kRows = 64, kColumns = 1024;
  CellValues values(map);
  for (Index row = 0; row < map.rows; row += kRows) {
    const Index rows = std::min(kRows, map.rows - row);
    for (Index column = 0; column < map.columns; column += kColumns) {
      const Index columns = std::min(kColumns, map.columns - column);
      values.look_at({row, rows, column, columns});
      for (Index r = row; r < row + rows; ++r) {
        for (Index c = column; c < column + columns; ++c) use(values(r, c));
      }
    }
  }
}

}  // namespace

ColourScale::ColourScale(const Heatmap& map) : logarithmic_(map.logarithmic) {
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  for_each_value(map, [&](double value) {
    if (std::isinf(value)) {
      throw Error(ErrorKind::data, "values of a heatmap", "an infinite value",
                  "finite values, or NaN for an empty cell");
    }
    if (!shows(value)) return;
    least = std::min(least, value);
    most = std::max(most, value);
  });
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
  constexpr int kPixels = 64;  // whose cells are looked at together
  Raster raster(area.width, area.height);
  CellValues values(map);
  std::vector<double> sums(static_cast<std::size_t>(area.width));
  std::vector<Index> counts(sums.size());
  for (int y = 0; y < area.height; ++y) {
    std::fill(sums.begin(), sums.end(), 0.0);
    std::fill(counts.begin(), counts.end(), 0);
    const auto [first_row, end_row] = cells_of_pixel(area.height - 1 - y, area.height, map.rows);
    for (int left = 0; left < area.width; left += kPixels) {
      const int right = std::min(left + kPixels, area.width);
      const Index first_column = cells_of_pixel(left, area.width, map.columns).first;
      const Index end_column = cells_of_pixel(right - 1, area.width, map.columns).second;
      values.look_at({first_row, end_row - first_row, first_column, end_column - first_column});
      for (Index row = first_row; row < end_row; ++row) {
        for (int x = left; x < right; ++x) {
          const auto [first, end] = cells_of_pixel(x, area.width, map.columns);
          for (Index column = first; column < end; ++column) {
            const double position = scale.position(values(row, column));
            if (std::isnan(position)) continue;
            sums[static_cast<std::size_t>(x)] += position;
            ++counts[static_cast<std::size_t>(x)];
          }
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
