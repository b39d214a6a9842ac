#include "density/panels/panel_field.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/at.hpp"
#include "core/maths.hpp"
#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

constexpr Index kNodes = kernels::kPanelNodes;
constexpr Index kPanelValues = kernels::kPanelBlock;
constexpr Index kTaskRows = kernels::kProductRows;
constexpr Index kNeighbours = 3;  // panels to each side; points farther away add next to nothing
constexpr Index kWindow = (2 * kNeighbours + 1) * kNodes;

double even_panels_for(double width) {
  return 2.0 * std::max(1.0, std::ceil(0.5 * width / PanelField::kWidestSide));
}

// The place of a node, counted from the first panel's, in sides of a panel.
double node_place(Index node) {
  const Index panel = node / kNodes;
  return static_cast<double>(panel) + 0.5 + 0.5 * kernels::panel_nodes()[at(node % kNodes)];
}

template <typename T, typename From>
kernels::Four<T> pointers(From& vectors, Index offset) {
  return {vectors[0].data() + offset, vectors[1].data() + offset, vectors[2].data() + offset,
          vectors[3].data() + offset};
}

}  // namespace

double PanelField::panels_for(double width, double height) {
  return even_panels_for(width) * even_panels_for(height);
}

PanelField::Axis::Axis(double width)
    : panels(static_cast<Index>(even_panels_for(width))),
      half(panels / 2),
      side(width / static_cast<double>(panels)),
      origin(-0.5 * width),
      first_near_middle_(std::max(Index{0}, half - kNeighbours)) {
  const auto blocks = at(1 + 2 * (half - first_near_middle_));
  rows_.resize(blocks);
  columns_.resize(blocks);
  if (first_near_middle_ > 0) fill_block(kEven, 0);
  for (Index panel = first_near_middle_; panel < half; ++panel) {
    for (const Parity parity : {kEven, kOdd}) fill_block(parity, panel);
  }
}

PanelField::Window PanelField::Axis::window(Index panel) const {
  const Index first = std::max(Index{0}, panel - kNeighbours);
  return {first, std::min(half, panel + kNeighbours + 1) - first};
}

std::size_t PanelField::Axis::block_of(Parity parity, Index panel) const {
  if (panel < first_near_middle_) return 0;
  return at(1 + 2 * (panel - first_near_middle_) + (parity == kOdd ? 1 : 0));
}

// Entries G(i, j) + G(i, -j) or G(i, j) - G(i, -j), where -j stands for the node opposite, and
// half of that: of the sum of an even and an odd part.
void PanelField::Axis::fill_block(Parity parity, Index panel) {
  const std::size_t block = block_of(parity, panel);
  auto& rows = rows_[block] = std::vector<double>(at(kNodes * kWindow), 0.0);
  auto& columns = columns_[block] = std::vector<double>(at(kNodes * kWindow), 0.0);
  const auto gaussian = [&](Index i, Index j) {
    const double d = side * (node_place(i) - node_place(j));
    return maths::exp(-0.5 * d * d);
  };
  // Blocks that serve many panels are made for one with neighbours on both sides.
  const bool serves_many = panel < first_near_middle_;
  const Index first = panel * kNodes;
  for (Index i = 0; i < kNodes; ++i) {
    for (Index j = 0; j < kWindow; ++j) {
      const Index other = first + j - kNeighbours * kNodes;
      double entry = 0.0;
      if (serves_many) {
        entry = gaussian(kNeighbours * kNodes + i, j);
      } else if (other >= 0 && other < half * kNodes) {
        const double opposite = gaussian(first + i, panels * kNodes - 1 - other);
        entry = gaussian(first + i, other) + (parity == kEven ? opposite : -opposite);
      }
      rows[at(i * kWindow + j)] = columns[at(j * kNodes + i)] = 0.5 * entry;
    }
  }
}

const double* PanelField::Axis::rows(Parity parity, Index panel) const {
  return rows_[block_of(parity, panel)].data() +
         (window(panel).first - panel + kNeighbours) * kNodes;
}

const double* PanelField::Axis::columns(Parity parity, Index panel) const {
  return columns_[block_of(parity, panel)].data() +
         (window(panel).first - panel + kNeighbours) * kNodes * kNodes;
}

PanelField::PanelField(double width, double height)
    : x_(width),
      y_(height),
      weights_(at(x_.panels * y_.panels * kPanelValues), 0.0),
      field_(weights_.size(), 0.0),
      counts_(at(x_.panels * y_.panels), 0),
      peaks_(at(x_.half * kNodes / kTaskRows), 0.0),
      starts_(counts_.size() + 1) {
  parts_.fill(std::vector<double>(weights_.size() / 4, 0.0));
  half_way_.fill(std::vector<double>(weights_.size() / 4, 0.0));
}

double PanelField::cost() const {
  // Four parts, half of the panels on each axis.
  double products = 0.0;
  for (Index i = 0; i < x_.half; ++i) products += static_cast<double>(x_.window(i).count * y_.half);
  for (Index j = 0; j < y_.half; ++j) products += static_cast<double>(y_.window(j).count * x_.half);
  return 4.0 * static_cast<double>(kPanelValues * kNodes) * products;
}

bool PanelField::covers(PlanePoint point) const {
  return std::abs(point.x) <= -x_.origin && std::abs(point.y) <= -y_.origin;
}

kernels::PanelPoint PanelField::on_panel(PlanePoint point) const {
  const double x = (point.x - x_.origin) / x_.side;
  const double y = (point.y - y_.origin) / y_.side;
  const auto column = std::clamp(static_cast<Index>(x), Index{0}, x_.panels - 1);
  const auto row = std::clamp(static_cast<Index>(y), Index{0}, y_.panels - 1);
  return {2.0 * (x - static_cast<double>(column)) - 1.0, 2.0 * (y - static_cast<double>(row)) - 1.0,
          (column * y_.panels + row) * kPanelValues, 1.0};
}

void PanelField::change(const std::vector<PlanePoint>& came, const std::vector<PlanePoint>& went,
                        Workers& workers) {
  sort_by_panel(came, went);
  workers.for_each(x_.half * y_.half, [&](Index quarter_panel) { deposit(quarter_panel); });
  make(workers);
}

// A counting sort; points of a panel stay in the order in which they came.
void PanelField::sort_by_panel(const std::vector<PlanePoint>& came,
                               const std::vector<PlanePoint>& went) {
  changes_.clear();
  std::fill(starts_.begin(), starts_.end(), 0);
  const auto take = [&](const std::vector<PlanePoint>& points, int sign) {
    for (const PlanePoint point : points) {
      auto on = on_panel(point);
      on.weight = sign;
      const auto panel = at(on.offset / kPanelValues);
      counts_[panel] += sign;
      ++starts_[panel];
      changes_.push_back(on);
    }
  };
  take(came, 1);
  take(went, -1);
  Index end = 0;
  for (Index& start : starts_) end = start += end;  // for now the ends
  sorted_.resize(changes_.size());
  for (std::size_t i = changes_.size(); i-- > 0;) {
    sorted_[at(--starts_[at(changes_[i].offset / kPanelValues)])] = changes_[i];
  }
}

std::array<Index, 4> PanelField::images(Index column, Index row) const {
  const Index opposite = (x_.panels - 1 - column) * y_.panels;
  const Index back = y_.panels - 1 - row;
  return {column * y_.panels + row, column * y_.panels + back, opposite + row, opposite + back};
}

void PanelField::deposit(Index quarter_panel) {
  const auto panels = images(quarter_panel / y_.half, quarter_panel % y_.half);
  bool changed = false;
  for (const Index panel : panels) {
    const Index first = starts_[at(panel)];
    const Index count = starts_[at(panel + 1)] - first;
    if (count == 0) continue;
    changed = true;
    kernels::panel_deposits(sorted_.data() + first, count, weights_.data());
    // A point that came and went leaves a rounding error behind. Beside other points it is too
    // small to matter; on an empty panel it would be all there is, and pass for density.
    if (counts_[at(panel)] == 0)
      std::fill_n(weights_.begin() + panel * kPanelValues, kPanelValues, 0.0);
  }
  if (changed) fold(quarter_panel);
}

void PanelField::fold(Index quarter_panel) {
  const Index column = quarter_panel / y_.half;
  const Index row = quarter_panel % y_.half;
  const auto panels = images(column, row);
  kernels::Four<const double> from{};
  for (std::size_t i = 0; i < 4; ++i) from[i] = weights_.data() + panels[i] * kPanelValues;
  kernels::fold_panels(from,
                       pointers<double>(parts_, column * kNodes * y_.half * kNodes + row * kNodes),
                       y_.half * kNodes);
}

void PanelField::make(Workers& workers) {
  workers.for_each(static_cast<Index>(peaks_.size()), [&](Index task) { make_rows(task); });
  peak_ = *std::max_element(peaks_.begin(), peaks_.end());
}

// kTaskRows rows of nodes, and those opposite.
void PanelField::make_rows(Index task) {
  const Index stride = y_.half * kNodes;
  const Index panel = task * kTaskRows / kNodes;
  const Index row = task * kTaskRows % kNodes;
  const Window heard = x_.window(panel);
  for (std::size_t part = 0; part < 4; ++part) {
    const Parity along_x = part / 2 == 0 ? kEven : kOdd;
    kernels::panel_product(x_.rows(along_x, panel) + row * kWindow, kWindow, heard.count * kNodes,
                           parts_[part].data() + heard.first * kNodes * stride, stride, stride,
                           half_way_[part].data() + task * kTaskRows * stride, stride);
  }
  double peak = 0.0;
  alignas(64) std::array<std::array<double, at(kTaskRows * kNodes)>, 4> results{};
  for (Index j = 0; j < y_.half; ++j) {
    const Window beside = y_.window(j);
    for (std::size_t part = 0; part < 4; ++part) {
      const Parity along_y = part % 2 == 0 ? kEven : kOdd;
      kernels::panel_product(
          half_way_[part].data() + task * kTaskRows * stride + beside.first * kNodes, stride,
          beside.count * kNodes, y_.columns(along_y, j), kNodes, kNodes, results[part].data(),
          kNodes);
    }
    const auto panels = images(panel, j);
    kernels::Four<double> to{};
    for (std::size_t i = 0; i < 4; ++i) to[i] = field_.data() + panels[i] * kPanelValues;
    peak = std::max(peak, kernels::unfold_panels(pointers<const double>(results, 0), row, to));
  }
  peaks_[at(task)] = peak;
}

void PanelField::values(const kernels::PanelPoint* places, Index count, double* out) const {
  kernels::panel_values(places, count, field_.data(), out);
}

void PanelField::save(StateWriter& out) const {
  out.integers("panels.counts", counts_);
  out.reals("panels.weights", weights_);
}

// The field follows from the weights, to the bit.
void PanelField::load(StateReader& in) {
  in.integers("panels.counts", counts_);
  constexpr std::int64_t kMost = std::int64_t{1} << 48;
  for (const std::int64_t count : counts_) {
    if (count < 0 || count > kMost) {
      throw Error(ErrorKind::corrupt, "saved state: points on a panel", std::to_string(count),
                  "0 to 2^48");
    }
  }
  in.finite_reals("panels.weights", weights_);
  Workers alone(1);
  for (Index i = 0; i < x_.half * y_.half; ++i) fold(i);
  make(alone);
}

}  // namespace rarefy
