#include "density/panel_sums.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "core/at.hpp"
#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

constexpr Index kNodes = kernels::kPanelNodes;
constexpr Index kWidth = kernels::kPanelWidth;
constexpr Index kNeighbours = 4;  // panels to each side that are not passed over
constexpr Index kWindow = (2 * kNeighbours + 1) * kNodes;
constexpr Index kCells = 4;   // of CellMoments along the side of a panel
constexpr Index kGroups = 8;  // tasks that deposit points; a row of panels belongs to one
// A multiplication and addition in double precision costs this much of a Gaussian in single.
constexpr double kProductCost = 0.22;
// The relative error of single-precision sums (kernels/kernel_sums.hpp).
constexpr double kLooseError = 3e-6;
// d^2 here is u^2 log2(e) / 2 there.
const double kKernelUnit = std::sqrt(0.5 * std::numbers::log2e);

Index panels_for(double width) {
  return std::max(Index{1}, static_cast<Index>(std::ceil(width / PanelSums::kWidestSide)));
}

Index rounded_up(Index count, Index to) { return (count + to - 1) / to * to; }

// The place of a node, counted from the first panel's, in sides of a panel.
double node_place(Index node) {
  const Index panel = node / kNodes;
  return static_cast<double>(panel) + 0.5 + 0.5 * kernels::panel_nodes()[at(node % kNodes)];
}

// The panels that a panel hears of.
struct Window {
  Index first, count;
};
Window window(Index panel, Index panels) {
  const Index first = std::max(Index{0}, panel - kNeighbours);
  return {first, std::min(panels, panel + kNeighbours + 1) - first};
}

void write_points(StateWriter& out, std::string_view name, const std::vector<PlanePoint>& points) {
  std::vector<double> values;
  for (const PlanePoint point : points) values.insert(values.end(), {point.x, point.y});
  out.reals(name, values);
}

std::vector<PlanePoint> read_points(StateReader& in, std::string_view name) {
  constexpr std::size_t kMost = std::size_t{1} << 32;
  const auto values = in.reals_up_to(name, kMost);
  const bool finite =
      std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
  if (values.size() % 2 != 0 || !finite) {
    throw Error(ErrorKind::corrupt, "saved state: " + std::string(name),
                std::to_string(values.size()) + " values", "finite ones, in pairs");
  }
  std::vector<PlanePoint> points;
  for (std::size_t i = 0; i < values.size(); i += 2) points.push_back({values[i], values[i + 1]});
  return points;
}

}  // namespace

void PanelSums::Loose::add(const std::vector<PlanePoint>& more) {
  Index slot = columns.count();
  columns.resize(slot + static_cast<Index>(more.size()));
  for (const PlanePoint point : more) {
    columns.set(slot, 0, static_cast<float>(point.x * kKernelUnit));
    columns.set(slot, 1, static_cast<float>(point.y * kKernelUnit));
    ++slot;
  }
  points.insert(points.end(), more.begin(), more.end());
}

void PanelSums::Loose::remove(PlanePoint point) {
  const auto found = std::find_if(points.begin(), points.end(), [&](const PlanePoint& other) {
    return other.x == point.x && other.y == point.y;
  });
  if (found == points.end()) return;
  const auto slot = found - points.begin();
  const Index last = count() - 1;
  points[at(slot)] = points[at(last)];
  points.pop_back();
  for (Index d = 0; d < 2; ++d) columns.set(slot, d, columns.column(d)[last]);
  columns.resize(last);
}

void PanelSums::Loose::clear() {
  points.clear();
  columns.resize(0);
}

bool PanelSums::fits(double width, double height) {
  return width < 1e6 && height < 1e6 && panels_for(width) * panels_for(height) <= kMostPanels;
}

PanelSums::Axis::Axis(double width)
    : panels(panels_for(width)),
      side(width / static_cast<double>(panels)),
      origin(-0.5 * width),
      kernel_rows(at(kNodes * kWindow)),
      kernel_columns(at(kWindow * kWidth), 0.0) {
  for (Index i = 0; i < kNodes; ++i) {
    for (Index j = 0; j < kWindow; ++j) {
      const double d = side * (node_place(kNeighbours * kNodes + i) - node_place(j));
      kernel_rows[at(i * kWindow + j)] = std::exp(-0.5 * d * d);
      kernel_columns[at(j * kWidth + i)] = std::exp(-0.5 * d * d);
    }
  }
}

PanelSums::PanelSums(double width, double height)
    : x_(width),
      y_(height),
      stride_(rounded_up(y_.panels * kNodes + kWidth - kNodes, kWidth)),
      weights_(at(x_.panels * kNodes * stride_), 0.0),
      half_way_(weights_.size(), 0.0),
      field_(weights_.size(), 0.0),
      peaks_(at(x_.panels), 0.0),
      counts_(at(x_.panels * y_.panels), 0),
      cells_({x_.origin, y_.origin}, {x_.side / kCells, y_.side / kCells}, x_.panels * kCells,
             y_.panels * kCells),
      groups_(kGroups) {
  double products = 0.0;
  for (Index i = 0; i < x_.panels; ++i) {
    products += static_cast<double>(window(i, x_.panels).count * kNodes * kNodes * stride_);
    for (Index j = 0; j < y_.panels; ++j) {
      products += static_cast<double>(window(j, y_.panels).count * kNodes * kNodes * kWidth);
    }
  }
  field_cost_ = kProductCost * products;
}

bool PanelSums::covers(PlanePoint point) const {
  return std::abs(point.x) <= -x_.origin && std::abs(point.y) <= -y_.origin;
}

kernels::PanelPoint PanelSums::on_panel(PlanePoint point) const {
  const double x = (point.x - x_.origin) / x_.side;
  const double y = (point.y - y_.origin) / y_.side;
  const auto column = std::clamp(static_cast<Index>(x), Index{0}, x_.panels - 1);
  const auto row = std::clamp(static_cast<Index>(y), Index{0}, y_.panels - 1);
  return {2.0 * (x - static_cast<double>(column)) - 1.0, 2.0 * (y - static_cast<double>(row)) - 1.0,
          column * kNodes * stride_ + row * kNodes, 1.0};
}

void PanelSums::change(const std::vector<PlanePoint>& came, const std::vector<PlanePoint>& went,
                       Workers& workers) {
  inside_.clear();
  beside_.clear();
  for (const PlanePoint point : came) (covers(point) ? inside_ : beside_).push_back(point);
  outside_.add(beside_);
  came_.add(inside_);
  left_.clear();
  for (const PlanePoint point : went) {
    if (covers(point)) {
      left_.push_back(point);
    } else {
      outside_.remove(point);
    }
  }
  went_.add(left_);
  cells_.change(inside_, left_, workers);
}

void PanelSums::settle(Index queries, Workers& workers) {
  const auto loose = static_cast<double>(came_.count() + went_.count());
  loose_cost_ += loose * static_cast<double>(queries);
  if (loose_cost_ <= field_cost_) return;
  deposit(workers);
  came_.clear();
  went_.clear();
  loose_cost_ = 0.0;
  make_field(workers);
}

void PanelSums::hand_out(const std::vector<PlanePoint>& points, int sign) {
  for (const PlanePoint point : points) {
    auto on = on_panel(point);
    on.weight = sign;
    const Index column = on.offset / (kNodes * stride_);
    counts_[at(column * y_.panels + on.offset % stride_ / kNodes)] += sign;
    groups_[at(column % kGroups)].push_back(on);
  }
}

void PanelSums::deposit(Workers& workers) {
  for (auto& group : groups_) group.clear();
  hand_out(came_.points, 1);
  hand_out(went_.points, -1);
  workers.for_each(kGroups, [&](Index g) {
    const auto& group = groups_[at(g)];
    kernels::panel_deposits(group.data(), static_cast<Index>(group.size()), weights_.data(),
                            stride_);
    // As in CellMoments: no trace of the last point that left.
    for (const auto& point : group) {
      const Index column = point.offset / (kNodes * stride_);
      if (counts_[at(column * y_.panels + point.offset % stride_ / kNodes)] != 0) continue;
      for (Index j = 0; j < kNodes; ++j) {
        std::fill_n(weights_.begin() + point.offset + j * stride_, kNodes, 0.0);
      }
    }
  });
}

void PanelSums::make_field(Workers& workers) {
  workers.for_each(x_.panels, [&](Index panel) { make_field_rows(panel); });
  peak_ = *std::max_element(peaks_.begin(), peaks_.end());
}

void PanelSums::make_field_rows(Index panel) {
  double* half_way = half_way_.data() + panel * kNodes * stride_;
  double* field = field_.data() + panel * kNodes * stride_;
  const Window heard = window(panel, x_.panels);
  kernels::panel_product(x_.kernel_rows.data() + (heard.first - panel + kNeighbours) * kNodes,
                         kWindow, heard.count * kNodes,
                         weights_.data() + heard.first * kNodes * stride_, stride_, stride_,
                         half_way, stride_);
  // From left to right: each block is two values too wide, which the next one replaces.
  for (Index j = 0; j < y_.panels; ++j) {
    const Window beside = window(j, y_.panels);
    kernels::panel_product(
        half_way + beside.first * kNodes, stride_, beside.count * kNodes,
        y_.kernel_columns.data() + (beside.first - j + kNeighbours) * kNodes * kWidth, kWidth,
        kWidth, field + j * kNodes, stride_);
  }
  peaks_[at(panel)] = std::max(0.0, *std::max_element(field, field + kNodes * stride_));
}

void PanelSums::log_sums(const PlanePoint* queries, Index count, double* out) const {
  constexpr Index kPiece = 36;
  std::array<kernels::PanelPoint, kPiece> places{};
  std::array<double, kPiece> values{};
  std::array<float, 2 * kPiece> loose_queries{};
  std::array<kernels::KernelSum, kPiece> came{};
  std::array<kernels::KernelSum, kPiece> went{};
  std::array<kernels::KernelSum, kPiece> outside{};
  for (Index first = 0; first < count; first += kPiece) {
    const Index piece = std::min(kPiece, count - first);
    for (Index i = 0; i < piece; ++i) {
      const PlanePoint query = queries[first + i];
      places[at(i)] = covers(query) ? on_panel(query) : on_panel({0.0, 0.0});
      loose_queries[at(2 * i)] = static_cast<float>(query.x * kKernelUnit);
      loose_queries[at(2 * i + 1)] = static_cast<float>(query.y * kKernelUnit);
    }
    kernels::panel_values(places.data(), piece, field_.data(), stride_, values.data());
    kernels::gaussian_sums(came_.columns, loose_queries.data(), piece, came.data());
    kernels::gaussian_sums(went_.columns, loose_queries.data(), piece, went.data());
    kernels::gaussian_sums(outside_.columns, loose_queries.data(), piece, outside.data());
    for (Index i = 0; i < piece; ++i) {
      const auto q = at(i);
      const double sum = values[q] + came[q].sum - went[q].sum + outside[q].sum;
      const double error =
          kFieldError * peak_ + kLooseError * (came[q].sum + went[q].sum + outside[q].sum);
      const bool sure = covers(queries[first + i]) && error <= kTolerance * sum && sum >= 0x1p-60;
      out[first + i] = sure ? std::log(sum) : tail(queries[first + i]);
    }
  }
}

double PanelSums::tail(PlanePoint query) const {
  const auto cells = cells_.log_sum(query);
  double nearest = cells.nearest;
  for (const PlanePoint point : outside_.points) {
    const double x = query.x - point.x;
    const double y = query.y - point.y;
    nearest = std::min(nearest, x * x + y * y);
  }
  constexpr double kReach = CellMoments::kReach;
  if (!(nearest <= kReach * kReach)) return std::numeric_limits<double>::quiet_NaN();
  double sum = std::exp(cells.log_sum + 0.5 * nearest);
  for (const PlanePoint point : outside_.points) {
    const double x = query.x - point.x;
    const double y = query.y - point.y;
    sum += std::exp(-0.5 * (x * x + y * y - nearest));
  }
  return std::log(sum) - 0.5 * nearest;
}

double PanelSums::log_sum_of_crowds(PlanePoint query) const {
  const auto for_each_crowd = [&](auto use) {
    cells_.for_each_cell(use);
    for (const PlanePoint& point : outside_.points) use(point, 1.0);
  };
  const auto squared = [&](PlanePoint point) {
    const double x = query.x - point.x;
    const double y = query.y - point.y;
    return x * x + y * y;
  };
  double nearest = std::numeric_limits<double>::max();
  for_each_crowd([&](PlanePoint point, double) { nearest = std::min(nearest, squared(point)); });
  double sum = 0.0;
  for_each_crowd([&](PlanePoint point, double count) {
    sum += count * std::exp(-0.5 * (squared(point) - nearest));
  });
  return std::log(sum) - 0.5 * nearest;
}

std::size_t PanelSums::bytes() const {
  return (weights_.size() + half_way_.size() + field_.size()) * sizeof(double) + cells_.bytes();
}

void PanelSums::save(StateWriter& out) const {
  out.integers("panels.counts", counts_);
  out.reals("panels.weights", weights_);
  out.real("panels.loose_cost", loose_cost_);
  write_points(out, "panels.came", came_.points);
  write_points(out, "panels.went", went_.points);
  write_points(out, "panels.outside", outside_.points);
  cells_.save(out);
}

// The field follows from the weights, to the bit.
void PanelSums::load(StateReader& in) {
  in.integers("panels.counts", counts_);
  in.finite_reals("panels.weights", weights_);
  loose_cost_ = in.finite("panels.loose_cost");
  const auto take = [&](std::string_view name, Loose& loose, bool inside) {
    loose.clear();
    const auto points = read_points(in, name);
    for (const PlanePoint point : points) {
      if (covers(point) != inside) {
        throw Error(ErrorKind::corrupt, "saved state: " + std::string(name),
                    inside ? "a point off the panels" : "a point on the panels",
                    inside ? "points on them" : "points off them");
      }
    }
    loose.add(points);
  };
  take("panels.came", came_, true);
  take("panels.went", went_, true);
  take("panels.outside", outside_, false);
  cells_.load(in);
  Workers alone(1);
  make_field(alone);
}

}  // namespace rarefy
