// Heatmaps of what was found, of the run in the middle.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "parts.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/experiment/domain_table.hpp"
#include "rarefy/runs/frames.hpp"
#include "rarefy/runs/picture.hpp"
#include "rarefy/storage/npz.hpp"

namespace rarefy::reports {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
constexpr Index kMostCells = Index{1} << 22;
// Cairo draws at most 32,767 pixels across; what is beside a panel takes some 80.
constexpr int kWidest = 30'000;
constexpr int kBesidePanel = 80;
constexpr int kLeastSide = 60;

const Trial& median_trial(const ResultRow& row) {
  auto trials = shown_trials(row);
  std::stable_sort(trials.begin(), trials.end(), [](const Trial* a, const Trial* b) {
    return a->metrics.back().coverage < b->metrics.back().coverage;
  });
  return *trials[(trials.size() - 1) / 2];
}

// The cells of a grid, as the archive of a run has them: visits, or the best objectives where those
// vary. Nothing where it has no grid of two features.
bool fill_from_archive(const std::filesystem::path& file, const DomainInfo& domain,
                       pictures::Heatmap& map) {
  if (!std::filesystem::exists(file)) return false;
  const auto small = [](std::span<const Index> shape) {
    if (!shape.empty() && shape[0] > kMostCells) {
      throw Error(ErrorKind::data, "archive.npz", fmt::format("{} cells", shape[0]),
                  fmt::format("at most {} to draw", kMostCells));
    }
  };
  NpyArray shape_array;
  try {
    shape_array = read_npz_array(file, "shape");
  } catch (const Error&) {
    return false;  // cells that are no grid
  }
  const auto shape = shape_array.integers();
  if (shape.size() != 2 || shape[0] < 1 || shape[1] < 1 || shape[0] > kMostCells / shape[1]) {
    return false;
  }
  map.columns = shape[0];
  map.rows = shape[1];
  map.values.assign(static_cast<std::size_t>(map.columns * map.rows), kNothing);
  // The last feature varies fastest.
  const auto set = [&](std::int64_t cell, double value) {
    map.values.at(static_cast<std::size_t>(cell % map.rows * map.columns + cell / map.rows)) =
        value;
  };
  if (domain.constant_objective) {
    const auto array = read_npz_array(file, "visits", small);
    const auto visits = array.integers();
    if (static_cast<Index>(visits.size()) != map.columns * map.rows) return false;
    for (std::size_t cell = 0; cell < visits.size(); ++cell) {
      if (visits[cell] > 0) set(static_cast<std::int64_t>(cell), static_cast<double>(visits[cell]));
    }
  } else {
    const auto cells_array = read_npz_array(file, "cells", small);
    const auto objectives_array = read_npz_array(file, "objectives", small);
    const auto cells = cells_array.integers();
    const auto objectives = objectives_array.reals();
    for (std::size_t i = 0; i < std::min(cells.size(), objectives.size()); ++i) {
      if (cells[i] >= 0 && cells[i] < map.columns * map.rows) set(cells[i], objectives[i]);
    }
  }
  return true;
}

bool fill_from_frames(const std::filesystem::path& file, pictures::Heatmap& map) {
  if (!std::filesystem::exists(file)) return false;
  const auto frames = read_frames(file);
  if (frames.values.empty()) return false;
  map.columns = frames.columns;
  map.rows = frames.rows;
  map.values.assign(frames.values.back().begin(), frames.values.back().end());
  return true;
}

std::optional<pictures::Heatmap> heatmap_of(const Trial& trial) {
  const auto domain = domain_info(trial.config);
  pictures::Heatmap map;
  if (!fill_from_archive(trial.folder / "archive.npz", domain, map) &&
      !fill_from_frames(trial.folder / "frames.npz", map)) {
    return std::nullopt;
  }
  add_axes(domain, map);
  add_landmarks(domain, map);
  map.logarithmic = domain.constant_objective;
  map.colour_label = domain.constant_objective ? "visits of a cell" : "best objective of a cell";
  map.subtitle = fmt::format("{:.1f} %", 100.0 * trial.metrics.back().coverage);
  return map;
}

// Columns without a single map say nothing.
void drop_empty_columns(pictures::HeatmapPanels& panels) {
  std::size_t kept = 0;
  for (std::size_t column = 0; column < panels.columns.size(); ++column) {
    const auto has_map = [&](const pictures::HeatmapRow& row) {
      return row.maps[column].has_value();
    };
    if (!std::any_of(panels.rows.begin(), panels.rows.end(), has_map)) continue;
    if (kept != column) {
      panels.columns[kept] = std::move(panels.columns[column]);
      for (auto& row : panels.rows) row.maps[kept] = std::move(row.maps[column]);
    }
    ++kept;
  }
  panels.columns.resize(kept);
  for (auto& row : panels.rows) row.maps.resize(kept);
}

}  // namespace

std::optional<pictures::HeatmapPanels> heatmap_panels(const PlottedRows& rows) {
  pictures::HeatmapPanels panels;
  panels.columns = rows.labels;
  for (const auto& domain : rows.domains) {
    pictures::HeatmapRow line;
    line.title = title_of(rows, domain);
    bool any = false;
    for (std::size_t entry = 0; entry < rows.labels.size(); ++entry) {
      const auto* row = rows.row_of(domain, entry);
      auto& map = line.maps.emplace_back();
      if (row == nullptr) continue;
      const auto& trial = median_trial(*row);
      if (domain_info(trial.config).feature_dim() != 2) continue;
      map = heatmap_of(trial);
      any = any || map.has_value();
    }
    if (any) panels.rows.push_back(std::move(line));
  }
  if (panels.rows.empty()) return std::nullopt;
  drop_empty_columns(panels);
  // Of an experiment with many rows the maps are smaller, and of one with hundreds there are none.
  panels.side =
      std::min(panels.side, kWidest / static_cast<int>(panels.columns.size()) - kBesidePanel);
  if (panels.side < kLeastSide) return std::nullopt;
  panels.subtitle = "the run with the median coverage of each, and that coverage";
  return panels;
}

}  // namespace rarefy::reports
