#include "reports/archive_frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "rarefy/core/error.hpp"
#include "rarefy/storage/npz.hpp"

namespace rarefy {
namespace {

constexpr float kNothing = std::numeric_limits<float>::quiet_NaN();
constexpr Index kMostShown = Index{1} << 16;

[[noreturn]] void refuse_archive(const FilePlace& file, const std::string& given,
                                 const std::string& expected) {
  throw Error(ErrorKind::data, file.string(), given, expected);
}

std::vector<Index> shape_of_cells(const FilePlace& file) {
  const auto shape = read_npz_array(file, "shape");
  const auto numbers = shape.integers();
  return {numbers.begin(), numbers.end()};
}

// Visits or objectives, cell by cell; the last feature varies fastest in the archive.
void show_cells(const FilePlace& file, const DomainInfo& domain, Frames& frames) {
  const auto cells = static_cast<std::size_t>(frames.columns * frames.rows);
  auto& frame = frames.values.emplace_back(cells, kNothing);
  const auto put = [&](Index cell, double value) {
    const Index column = cell / frames.rows, row = cell % frames.rows;
    frame[static_cast<std::size_t>(row * frames.columns + column)] = static_cast<float>(value);
  };
  if (domain.constant_objective) {
    const auto visits = read_npz_array(file, "visits");
    const auto numbers = visits.integers();
    if (numbers.size() != cells) {
      refuse_archive(file, fmt::format("{} visits", numbers.size()), fmt::format("{}", cells));
    }
    for (std::size_t i = 0; i < cells; ++i) {
      if (numbers[i] > 0) put(static_cast<Index>(i), static_cast<double>(numbers[i]));
    }
    return;
  }
  const auto places = read_npz_array(file, "cells");
  const auto objectives = read_npz_array(file, "objectives");
  const auto numbers = places.integers();
  const auto values = objectives.reals();
  for (std::size_t i = 0; i < std::min(numbers.size(), values.size()); ++i) {
    if (numbers[i] < 0 || numbers[i] >= static_cast<Index>(cells)) {
      refuse_archive(file, fmt::format("cell {}", numbers[i]), fmt::format("below {}", cells));
    }
    put(numbers[i], values[i]);
  }
}

void count_elites(const FilePlace& file, const DomainInfo& domain, Frames& frames) {
  const auto features = read_npz_array(file, "features");
  const auto values = features.reals();
  const Index dim = domain.feature_dim();
  if (features.shape.size() != 2 || features.shape[1] != dim) {
    refuse_archive(file, "features " + shape_text(features.shape), fmt::format("(N, {})", dim));
  }
  auto& frame =
      frames.values.emplace_back(static_cast<std::size_t>(frames.columns * frames.rows), kNothing);
  const auto& space = domain.feature_space;
  const auto place = [&](Index row, Index feature, Index bins) -> Index {
    if (feature >= dim) return 0;
    const double value = values[static_cast<std::size_t>(row * dim + feature)];
    const double part = (value - space.lower[static_cast<std::size_t>(feature)]) /
                        space.width(feature) * static_cast<double>(bins);
    if (!(part > 0)) return 0;
    return std::min(bins - 1, static_cast<Index>(std::min(part, static_cast<double>(bins) - 0.5)));
  };
  for (Index i = 0; i < features.shape[0]; ++i) {
    const Index column = place(i, 0, frames.columns), row = place(i, 1, frames.rows);
    auto& count = frame[static_cast<std::size_t>(row * frames.columns + column)];
    count = std::isnan(count) ? 1.0F : count + 1.0F;
  }
}

}  // namespace

std::int64_t archive_iteration(const FilePlace& archive) {
  const auto iteration = read_npz_array(archive, "iteration");
  const auto numbers = iteration.integers();
  if (numbers.size() != 1) {
    refuse_archive(archive, "iteration " + shape_text(iteration.shape), "a single one");
  }
  return numbers[0];
}

Frames archive_frame(const FilePlace& archive, const DomainInfo& domain) {
  Frames frames;
  frames.iterations = {archive_iteration(archive)};
  std::vector<Index> shape;
  try {
    shape = shape_of_cells(archive);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::data) throw;
    // No grid: it has centroids instead.
  }
  const auto grid = static_cast<Index>(shape.size());
  if (grid > 0) {
    frames.columns = shape[0];
    frames.rows = grid > 1 ? shape[1] : 1;
  } else {
    const auto visits = read_npz_array(archive, "visits");
    // So many that a full archive has some elites in each.
    frames.columns = std::clamp<Index>(
        static_cast<Index>(std::sqrt(static_cast<double>(visits.size())) / 2.5), 5, 100);
    frames.rows = domain.feature_dim() > 1 ? frames.columns : 1;
  }
  if (frames.columns < 1 || frames.rows < 1 || frames.columns > kMostShown ||
      frames.rows > kMostShown || frames.columns * frames.rows > kMostShown) {
    refuse_archive(archive, fmt::format("{} x {} cells", frames.columns, frames.rows),
                   fmt::format("at most {}", kMostShown));
  }
  if (grid > 0 && grid <= 2 && domain.feature_dim() == grid) {
    show_cells(archive, domain, frames);
  } else {
    count_elites(archive, domain, frames);
  }
  return frames;
}

}  // namespace rarefy
