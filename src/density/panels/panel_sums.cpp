#include "density/panels/panel_sums.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "core/at.hpp"
#include "core/maths.hpp"
#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

constexpr Index kCells = 5;  // along the side of a panel
// A multiplication and addition in double precision costs this much of a Gaussian in single.
constexpr double kProductCost = 0.22;
// The relative error of single-precision sums, given the distances (kernels/kernel_sums.hpp).
constexpr double kSumError = 2e-6;
// d^2 here is u^2 log2(e) / 2 there.
const double kKernelUnit = std::sqrt(0.5 * std::numbers::log2e);

// How far from a query, in bandwidths, the farthest point is that single precision can see.
constexpr double kFarthestSeen = 14.0;

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

void PanelSums::Loose::sums(const float* queries, Index count, double* out) const {
  if (!points.empty()) kernels::gaussian_sums(columns, queries, count, out);
}

void PanelSums::Loose::clear() {
  points.clear();
  columns.resize(0);
}

// A coordinate that is rounded to single precision is off by 2^-25 of itself at most, so a distance
// d by 2^-24 of the farthest coordinate, and d^2 by d 2^-23 of that; adding d^2 up takes another
// 2^-22 of it. Times ln 2 that is the relative error of 2^(-d^2).
PanelSums::Rounding::Rounding(double farthest)
    : close_by_(std::numbers::ln2 *
                (0x1p-23 * kKernelUnit * farthest * kCloseBy + 0x1p-22 * kCloseBy * kCloseBy)) {}

double PanelSums::Rounding::relative() const { return kSumError + close_by_; }

double PanelSums::Rounding::absolute(Index points) const {
  return close_by_ * kFaint * static_cast<double>(points);
}

bool PanelSums::fits(double width, double height) {
  return PanelField::panels_for(width + 2 * kMargin, height + 2 * kMargin) <= kMostPanels;
}

PanelSums::PanelSums(double width, double height)
    : field_(width + 2 * kMargin, height + 2 * kMargin),
      cells_({-0.5 * width - kMargin, -0.5 * height - kMargin},
             {field_.side().x / kCells, field_.side().y / kCells}, field_.panels().first * kCells,
             field_.panels().second * kCells),
      inside_rounding_(maths::length(0.5 * width + kMargin, 0.5 * height + kMargin)),
      outside_rounding_(maths::length(0.5 * width + kMargin, 0.5 * height + kMargin) +
                        kFarthestSeen) {
  static_assert(PanelField::kWidestSide <= kCells * CellMoments::kWidestSide);
}

void PanelSums::change(const std::vector<PlanePoint>& came, const std::vector<PlanePoint>& went,
                       Workers& workers) {
  inside_.clear();
  beside_.clear();
  for (const PlanePoint point : came) (field_.covers(point) ? inside_ : beside_).push_back(point);
  outside_.add(beside_);
  came_.add(inside_);
  left_.clear();
  for (const PlanePoint point : went) {
    if (field_.covers(point)) {
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
  if (loose_cost_ <= kProductCost * field_.cost()) return;
  field_.change(came_.points, went_.points, workers);
  came_.clear();
  went_.clear();
  loose_cost_ = 0.0;
}

void PanelSums::log_sums(const PlanePoint* queries, Index count, double* out) const {
  constexpr Index kPiece = 36;
  std::array<double, kPiece> values{};
  std::array<double, kPiece> errors{};
  for (Index first = 0; first < count; first += kPiece) {
    const Index piece = std::min(kPiece, count - first);
    sums(queries + first, piece, values.data(), errors.data());
    for (Index i = 0; i < piece; ++i) {
      const double sum = values[at(i)];
      const bool sure = errors[at(i)] <= kTolerance * sum && sum >= 0x1p-60;
      out[first + i] = sure ? maths::log(sum) : log_sum_in_tail(queries[first + i]);
    }
  }
}

void PanelSums::sums(const PlanePoint* queries, Index count, double* out, double* errors) const {
  constexpr Index kPiece = 36;
  std::array<kernels::PanelPoint, kPiece> places{};
  std::array<float, 2 * kPiece> loose_queries{};
  std::array<double, kPiece> came{};
  std::array<double, kPiece> went{};
  std::array<double, kPiece> outside{};
  const double always = PanelField::kError * field_.peak() + inside_rounding_.absolute(loose()) +
                        outside_rounding_.absolute(outside_.count());
  for (Index first = 0; first < count; first += kPiece) {
    const Index piece = std::min(kPiece, count - first);
    for (Index i = 0; i < piece; ++i) {
      const PlanePoint query = queries[first + i];
      places[at(i)] = field_.on_panel(field_.covers(query) ? query : PlanePoint{0.0, 0.0});
      loose_queries[at(2 * i)] = static_cast<float>(query.x * kKernelUnit);
      loose_queries[at(2 * i + 1)] = static_cast<float>(query.y * kKernelUnit);
    }
    field_.values(places.data(), piece, out + first);
    came_.sums(loose_queries.data(), piece, came.data());
    went_.sums(loose_queries.data(), piece, went.data());
    outside_.sums(loose_queries.data(), piece, outside.data());
    for (Index i = 0; i < piece; ++i) {
      const auto q = at(i);
      out[first + i] = out[first + i] + came[q] - went[q] + outside[q];
      errors[first + i] = field_.covers(queries[first + i])
                              ? always + inside_rounding_.relative() * (came[q] + went[q]) +
                                    outside_rounding_.relative() * outside[q]
                              : std::numeric_limits<double>::infinity();
    }
  }
}

double PanelSums::log_sum_in_tail(PlanePoint query) const {
  const auto cells = cells_.log_sum(query);
  double nearest = cells.nearest;
  for (const PlanePoint point : outside_.points) {
    const double x = query.x - point.x;
    const double y = query.y - point.y;
    nearest = std::min(nearest, x * x + y * y);
  }
  constexpr double kReach = CellMoments::kReach;
  if (!(nearest <= kReach * kReach)) return std::numeric_limits<double>::quiet_NaN();
  double sum = maths::exp(cells.log_sum + 0.5 * nearest);
  for (const PlanePoint point : outside_.points) {
    const double x = query.x - point.x;
    const double y = query.y - point.y;
    sum += maths::exp(-0.5 * (x * x + y * y - nearest));
  }
  return maths::log(sum) - 0.5 * nearest;
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
    sum += count * maths::exp(-0.5 * (squared(point) - nearest));
  });
  return maths::log(sum) - 0.5 * nearest;
}

void PanelSums::save(StateWriter& out) const {
  field_.save(out);
  out.real("panels.loose_cost", loose_cost_);
  write_points(out, "panels.came", came_.points);
  write_points(out, "panels.went", went_.points);
  write_points(out, "panels.outside", outside_.points);
  cells_.save(out);
}

void PanelSums::load(StateReader& in) {
  field_.load(in);
  loose_cost_ = in.finite("panels.loose_cost");
  const auto take = [&](std::string_view name, Loose& loose, bool inside) {
    loose.clear();
    const auto points = read_points(in, name);
    for (const PlanePoint point : points) {
      if (field_.covers(point) != inside) {
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
}

}  // namespace rarefy
