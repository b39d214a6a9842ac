#include "density/panels/cell_moments.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/at.hpp"
#include "core/maths.hpp"
#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

// Cells that may hold no more than e^-40 of the sum are passed over.
constexpr double kNegligible = 40.0;

constexpr Index kCellBlock = kernels::kPanelBlock;

// By how much rounding may put a point beyond the edge of its cell, of which half is 1.
constexpr double kSlack = 1e-6;

// The least and the greatest distance from `query` to the interval of half width `half`.
struct Range {
  double least, greatest;
};
Range range(double query, double centre, double half) {
  const double away = std::abs(query - centre);
  return {std::max(0.0, away - half), away + half};
}

// exp(-(d^2 - least^2) / 2) at the nodes of an interval, d their distances from `query`.
void node_kernels(double query, double centre, double half, double least, double* out) {
  const auto& nodes = kernels::panel_nodes();
  for (std::size_t j = 0; j < nodes.size(); ++j) {
    const double d = query - centre - half * nodes[j];
    out[j] = maths::exp(-0.5 * (d - least) * (d + least));
  }
}

}  // namespace

CellMoments::CellMoments(PlanePoint origin, PlanePoint size, Index across, Index up)
    : origin_(origin),
      size_(size),
      across_(across),
      up_(up),
      index_(at(across * up), -1),
      groups_(kGroups) {}

PlanePoint CellMoments::centre_of(std::int64_t place) const {
  const std::int64_t column = place / up_;
  const std::int64_t row = place % up_;
  return {origin_.x + size_.x * (static_cast<double>(column) + 0.5),
          origin_.y + size_.y * (static_cast<double>(row) + 0.5)};
}

Index CellMoments::cell_at(std::int64_t place) {
  auto& index = index_[at(place)];
  if (index < 0) {
    index = static_cast<std::int32_t>(cells_.size());
    cells_.push_back({place, 0, 0});
    moments_.resize(moments_.size() + at(kCellBlock), 0.0);
    put_by_.resize(put_by_.size() + kMostPutBy);
  }
  return index;
}

void CellMoments::hand_out(const std::vector<PlanePoint>& points, int sign) {
  for (const PlanePoint point : points) {
    const double x = (point.x - origin_.x) / size_.x;
    const double y = (point.y - origin_.y) / size_.y;
    const auto column = std::clamp(static_cast<Index>(x), Index{0}, across_ - 1);
    const auto row = std::clamp(static_cast<Index>(y), Index{0}, up_ - 1);
    const Index cell = cell_at(column * up_ + row);
    cells_[at(cell)].count += sign;
    groups_[at(cell % kGroups)].push_back({2.0 * (x - static_cast<double>(column)) - 1.0,
                                           2.0 * (y - static_cast<double>(row)) - 1.0,
                                           cell * kCellBlock, static_cast<double>(sign)});
  }
  count_ += sign * static_cast<std::int64_t>(points.size());
}

void CellMoments::change(const std::vector<PlanePoint>& came, const std::vector<PlanePoint>& went,
                         Workers& workers) {
  if (came.empty() && went.empty()) return;
  for (auto& group : groups_) group.clear();
  hand_out(came, 1);
  hand_out(went, -1);
  workers.for_each(kGroups, [&](Index g) { take(groups_[at(g)]); });
}

void CellMoments::take(const std::vector<kernels::PanelPoint>& group) {
  for (const auto& point : group) {
    const auto index = at(point.offset / kCellBlock);
    Cell& cell = cells_[index];
    if (cell.put_by == kMostPutBy) {
      kernels::panel_deposits(put_by_.data() + index * kMostPutBy, kMostPutBy, moments_.data());
      cell.put_by = 0;
    }
    put_by_[index * kMostPutBy + cell.put_by++] = point;
  }
  // A point that came and went leaves a rounding error behind. Beside other points it is too small
  // to matter; in an empty cell it would be all there is, and pass for density.
  for (const auto& point : group) {
    Cell& cell = cells_[at(point.offset / kCellBlock)];
    if (cell.count > 0) continue;
    cell.put_by = 0;
    std::fill_n(moments_.begin() + point.offset, kCellBlock, 0.0);
  }
}

PlanePoint CellMoments::point_of(std::int64_t place, const kernels::PanelPoint& on_cell) const {
  const PlanePoint centre = centre_of(place);
  return {centre.x + 0.5 * size_.x * on_cell.x, centre.y + 0.5 * size_.y * on_cell.y};
}

CellMoments::Sum CellMoments::log_sum(PlanePoint query) const {
  const PlanePoint half{0.5 * size_.x, 0.5 * size_.y};
  // What the cells hold at least, together at least as much as the one that holds most.
  double nearest = kNothing;
  double surely = -kNothing;
  for (const Cell& cell : cells_) {
    if (cell.count == 0) continue;
    const PlanePoint centre = centre_of(cell.place);
    const Range x = range(query.x, centre.x, half.x);
    const Range y = range(query.y, centre.y, half.y);
    nearest = std::min(nearest, x.least * x.least + y.least * y.least);
    surely = std::max(surely, -0.5 * (x.greatest * x.greatest + y.greatest * y.greatest));
  }
  double sum = 0.0;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const Cell& cell = cells_[i];
    if (cell.count == 0) continue;
    const PlanePoint centre = centre_of(cell.place);
    const Range x = range(query.x, centre.x, half.x);
    const Range y = range(query.y, centre.y, half.y);
    const double squared = x.least * x.least + y.least * y.least;
    const double log_count =
        std::numbers::ln2 *
        static_cast<double>(std::bit_width(static_cast<std::uint64_t>(cell.count)));
    if (log_count - 0.5 * squared < surely - kNegligible) continue;
    double along_x[kernels::kPanelNodes];
    double along_y[kernels::kPanelNodes];
    node_kernels(query.x, centre.x, half.x, x.least, along_x);
    node_kernels(query.y, centre.y, half.y, y.least, along_y);
    double in_cell = 0.0;
    const double* moments = moments_.data() + static_cast<Index>(i) * kCellBlock;
    for (Index j = 0; j < kernels::kPanelNodes; ++j, moments += kernels::kPanelNodes) {
      double row = 0.0;
      for (Index k = 0; k < kernels::kPanelNodes; ++k) row += moments[k] * along_y[k];
      in_cell += along_x[j] * row;
    }
    for (const auto& waiting : put_by(*this, i)) {
      const PlanePoint point = point_of(cell.place, waiting);
      const double dx = query.x - point.x;
      const double dy = query.y - point.y;
      in_cell += waiting.weight * maths::exp(-0.5 * (dx * dx + dy * dy - squared));
    }
    sum += in_cell * maths::exp(-0.5 * (squared - nearest));
  }
  return {sum > 0.0 ? maths::log(sum) - 0.5 * nearest : -kNothing, nearest};
}

// The polynomials through the nodes reproduce x and y themselves.
PlanePoint CellMoments::mean_of(std::size_t cell) const {
  const auto& nodes = kernels::panel_nodes();
  const PlanePoint centre = centre_of(cells_[cell].place);
  const double* moments = moments_.data() + static_cast<Index>(cell) * kCellBlock;
  double x = 0.0;
  double y = 0.0;
  for (std::size_t j = 0; j < nodes.size(); ++j, moments += kernels::kPanelNodes) {
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      x += moments[k] * nodes[j];
      y += moments[k] * nodes[k];
    }
  }
  for (const auto& waiting : put_by(*this, cell)) {
    x += waiting.weight * waiting.x;
    y += waiting.weight * waiting.y;
  }
  const double scale = 0.5 / static_cast<double>(cells_[cell].count);
  return {centre.x + scale * size_.x * x, centre.y + scale * size_.y * y};
}

std::size_t CellMoments::bytes() const {
  return index_.capacity() * sizeof(std::int32_t) + cells_.capacity() * sizeof(Cell) +
         moments_.capacity() * sizeof(double) + put_by_.capacity() * sizeof(kernels::PanelPoint);
}

void CellMoments::save(StateWriter& out) const {
  std::vector<std::int64_t> places;
  std::vector<std::int64_t> counts;
  std::vector<std::int64_t> waiting;
  std::vector<double> points;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    places.push_back(cells_[i].place);
    counts.push_back(cells_[i].count);
    waiting.push_back(static_cast<std::int64_t>(cells_[i].put_by));
    for (const auto& point : put_by(*this, i)) {
      points.insert(points.end(), {point.x, point.y, point.weight});
    }
  }
  out.integers("cells.places", places);
  out.integers("cells.counts", counts);
  out.reals("cells.moments", moments_);
  out.integers("cells.waiting", waiting);
  out.reals("cells.points", points);
}

void CellMoments::load(StateReader& in) {
  const auto places = in.integers_up_to("cells.places", index_.size());
  std::vector<std::int64_t> counts(places.size());
  in.integers("cells.counts", counts);
  moments_.assign(places.size() * at(kCellBlock), 0.0);
  in.finite_reals("cells.moments", moments_);
  std::vector<std::int64_t> waiting(places.size());
  in.integers("cells.waiting", waiting);

  std::fill(index_.begin(), index_.end(), -1);
  cells_.clear();
  count_ = 0;
  std::size_t points = 0;
  constexpr std::int64_t kMost = std::int64_t{1} << 46;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] < 0 || places[i] >= static_cast<std::int64_t>(index_.size()) ||
        index_[at(places[i])] >= 0 || counts[i] < 0 || counts[i] > kMost || waiting[i] < 0 ||
        waiting[i] > static_cast<std::int64_t>(kMostPutBy) || (counts[i] == 0 && waiting[i] > 0)) {
      throw Error(ErrorKind::corrupt, "saved state: the density's cells contradict each other");
    }
    index_[at(places[i])] = static_cast<std::int32_t>(i);
    cells_.push_back({places[i], counts[i], at(waiting[i])});
    count_ += counts[i];
    points += at(waiting[i]);
  }
  load_points(in, points);
}

void CellMoments::load_points(StateReader& in, std::size_t count) {
  std::vector<double> values(3 * count);
  in.finite_reals("cells.points", values);
  put_by_.assign(cells_.size() * kMostPutBy, {});
  auto value = values.begin();
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    for (auto& point : put_by(*this, i)) {
      point = {value[0], value[1], static_cast<Index>(i) * kCellBlock, value[2]};
      if (std::abs(point.x) > 1.0 + kSlack || std::abs(point.y) > 1.0 + kSlack ||
          std::abs(point.weight) != 1.0) {
        throw Error(ErrorKind::corrupt, "saved state: a point that is not in its cell");
      }
      value += 3;
    }
  }
}

}  // namespace rarefy
