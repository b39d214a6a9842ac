#include "rarefy/runs/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "rarefy/archives/metrics.hpp"
#include "rarefy/core/text.hpp"
#include "rarefy/tessellations/grid.hpp"

namespace rarefy {
namespace {

constexpr double kEmpty = std::numeric_limits<double>::quiet_NaN();

double shown_value(const Archive& archive, const DomainInfo& domain, Index cell) {
  const auto visits = archive.visits()[static_cast<std::size_t>(cell)];
  if (domain.constant_objective) return visits > 0 ? static_cast<double>(visits) : kEmpty;
  const Index elite = archive.elite_of(cell);
  return elite < 0 ? kEmpty : archive.objectives()[static_cast<std::size_t>(elite)];
}

// The cells of a grid of one or two features. Those of a fine one are not copied, but looked up
// when they are drawn.
void paint_grid(const Archive& archive, const DomainInfo& domain, pictures::Heatmap& map) {
  constexpr Index kCopied = Index{1} << 20;
  const auto shape = archive.tessellation().shape();
  map.columns = shape[0];
  map.rows = shape.size() > 1 ? shape[1] : 1;
  // The last feature varies fastest.
  const auto fill = [&archive, &domain, rows = map.rows](const pictures::CellTile& tile,
                                                         std::span<double> values) {
    for (Index c = 0; c < tile.columns; ++c) {
      for (Index r = 0; r < tile.rows; ++r) {
        values[static_cast<std::size_t>(r * tile.columns + c)] =
            shown_value(archive, domain, (tile.first_column + c) * rows + tile.first_row + r);
      }
    }
  };
  if (archive.tessellation().cells() > kCopied) {
    map.fill = fill;
    return;
  }
  map.values.resize(static_cast<std::size_t>(map.columns * map.rows));
  fill({0, map.rows, 0, map.columns}, map.values);
}

// Other cells of one or two features: what lies at the middle of every spot of a raster.
void paint_spots(const Archive& archive, const DomainInfo& domain, pictures::Heatmap& map) {
  const auto& cells = archive.tessellation();
  const auto& space = cells.space();
  const Index features = cells.feature_dim();
  constexpr Index kRaster = 400;
  map.columns = kRaster;
  map.rows = features > 1 ? kRaster : 1;
  Batch spots(map.columns * map.rows, features);
  for (Index row = 0; row < map.rows; ++row) {
    for (Index column = 0; column < map.columns; ++column) {
      const Index spot = row * map.columns + column;
      const auto along = [](Index i, Index count) {
        return (static_cast<double>(i) + 0.5) / static_cast<double>(count);
      };
      spots(spot, 0) = space.lower[0] + along(column, map.columns) * space.width(0);
      if (features > 1) spots(spot, 1) = space.lower[1] + along(row, map.rows) * space.width(1);
    }
  }
  std::vector<Index> at(static_cast<std::size_t>(spots.rows()));
  cells.assign(spots, at);
  for (const Index cell : at) map.values.push_back(shown_value(archive, domain, cell));
}

void paint_cells(const Archive& archive, const DomainInfo& domain, pictures::Heatmap& map) {
  if (archive.tessellation().shape().empty()) {
    paint_spots(archive, domain, map);
  } else {
    paint_grid(archive, domain, map);
  }
  map.logarithmic = domain.constant_objective;
  map.colour_label =
      domain.constant_objective ? "visits of the cell" : "best objective of the cell";
}

// Many features: how many elites there are over the first two of them.
void paint_projection(const Archive& archive, const FeatureSpace& space, pictures::Heatmap& map) {
  // A grid's own intervals; else so many that a full archive has some elites in each.
  Index columns = 0, rows = 0;
  if (const auto shape = archive.tessellation().shape(); !shape.empty()) {
    columns = shape[0];
    rows = shape[1];
  } else {
    const auto cells = static_cast<double>(archive.tessellation().cells());
    columns = rows = std::clamp<Index>(static_cast<Index>(std::sqrt(cells) / 2.5), 5, 100);
  }
  const Grid bins({{space.lower[0], space.lower[1]}, {space.upper[0], space.upper[1]}},
                  {columns, rows});
  map.columns = columns;
  map.rows = rows;
  map.values.assign(static_cast<std::size_t>(columns * rows), kEmpty);
  for (Index i = 0; i < archive.size(); ++i) {
    Index bin = 0;
    bins.assign(BatchView(archive.features().row(i).data(), 1, 2), std::span(&bin, 1));
    auto& count = map.values[static_cast<std::size_t>((bin % rows) * columns + bin / rows)];
    count = std::isnan(count) ? 1.0 : count + 1.0;
  }
  map.colour_label = "elites in this projection";
}

}  // namespace

void add_axes(const DomainInfo& domain, pictures::Heatmap& map) {
  const auto& space = domain.feature_space;
  const auto name = [&](std::size_t feature) {
    return feature < domain.feature_names.size() ? domain.feature_names[feature]
                                                 : fmt::format("feature {}", feature + 1);
  };
  map.x_low = space.lower[0];
  map.x_high = space.upper[0];
  map.x_label = name(0);
  if (space.dim() == 1) return;
  map.y_low = space.lower[1];
  map.y_high = space.upper[1];
  map.y_label = name(1);
  map.equal_aspect = space.width(0) == space.width(1);
}

void add_landmarks(const DomainInfo& domain, pictures::Heatmap& map) {
  for (const auto& line : domain.lines) map.walls.push_back({line.x1, line.y1, line.x2, line.y2});
  for (const auto& place : domain.places) {
    map.markers.push_back({.x = place.x, .y = place.y, .label = place.name});
  }
}

pictures::Heatmap heatmap_of(const Archive& archive, const DomainInfo& domain, const Config& config,
                             std::int64_t iteration) {
  const auto& space = archive.tessellation().space();
  pictures::Heatmap map;
  if (space.dim() <= 2) {
    paint_cells(archive, domain, map);
  } else {
    paint_projection(archive, space, map);
  }
  add_axes(domain, map);
  if (space.dim() == 2) add_landmarks(domain, map);
  map.title = domain.title.empty() ? domain.name : domain.title;
  if (space.dim() > 2) map.title += fmt::format(", features 1 and 2 of {}", space.dim());
  map.subtitle = fmt::format(
      "{}, {} profile, seed {}, {} iterations: coverage {:.2f} %, cross-entropy {:.2f}",
      config.algorithm, name_of(config.profile), config.seed, with_commas(iteration),
      100.0 * coverage(archive), cross_entropy(archive.visits(), config.output.entropy_floor));
  if (config.output.entropy_floor != kCrossEntropyFloor) {
    map.subtitle += fmt::format(" (floor {:g})", config.output.entropy_floor);
  }
  return map;
}

}  // namespace rarefy
