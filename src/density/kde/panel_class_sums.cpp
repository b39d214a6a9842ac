#include "density/kde/panel_class_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "core/maths.hpp"
#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

// What may be left out of a sum, relative to it; far less than panels leave.
constexpr double kLeftOut = 1e-7;

}  // namespace

PanelClassSums::PanelClassSums(PanelKdeSums::Box box, KernelCoordinates coordinates)
    : coordinates_(std::move(coordinates)),
      dims_(static_cast<Index>(coordinates_.bandwidths.size())) {
  sums_.reserve(static_cast<std::size_t>(LocalClasses::kCount));
  for (Index number = 0; number < LocalClasses::kCount; ++number) {
    const double multiple = LocalClasses::multiple(number);
    sums_.emplace_back(box.width / multiple, box.height / multiple);
  }
}

bool PanelClassSums::fits(PanelKdeSums::Box box) {
  const double narrowest = LocalClasses::multiple(0);
  return PanelSums::fits(box.width / narrowest, box.height / narrowest);
}

PlanePoint PanelClassSums::place_of(std::span<const double> features, Index number) const {
  const PlanePoint place = PanelKdeSums::place_of(features, coordinates_);
  const double multiple = LocalClasses::multiple(number);
  return {place.x / multiple, place.y / multiple};
}

void PanelClassSums::change(const Change& change, Index queries, Workers& workers) {
  const auto places = [&](const Batch& features, Index number, std::vector<PlanePoint>& out) {
    out.clear();
    for (Index i = 0; i < features.rows(); ++i) {
      out.push_back(place_of(features.view().row(i), number));
    }
  };
  for (Index number = 0; number < LocalClasses::kCount; ++number) {
    const auto& exchange = change.of_class[static_cast<std::size_t>(number)];
    auto& sums = sums_[static_cast<std::size_t>(number)];
    places(exchange.came, number, came_);
    places(exchange.went, number, went_);
    sums.change(came_, went_, workers);
    sums.settle(queries, workers);
  }
}

// Where a class is sparse its table may be wrong, and that does not matter where another is dense:
// so errors count against the total.
void PanelClassSums::log_sums(BatchView features, Index /*first*/, std::span<double> out) {
  std::array<PlanePoint, kQueriesAPiece> places{};
  std::array<double, kQueriesAPiece> values{};
  std::array<double, kQueriesAPiece> errors{};
  for (Index first = 0; first < features.rows(); first += kQueriesAPiece) {
    const Index piece = std::min(kQueriesAPiece, features.rows() - first);
    std::array<double, kQueriesAPiece> totals{};
    std::array<double, kQueriesAPiece> total_errors{};
    for (Index number = 0; number < LocalClasses::kCount; ++number) {
      const auto& sums = sums_[static_cast<std::size_t>(number)];
      if (sums.count() == 0) continue;
      for (Index i = 0; i < piece; ++i) {
        places[static_cast<std::size_t>(i)] = place_of(features.row(first + i), number);
      }
      sums.sums(places.data(), piece, values.data(), errors.data());
      const double weight = LocalClasses::weight(number, dims_);
      for (std::size_t i = 0; i < static_cast<std::size_t>(piece); ++i) {
        totals[i] += weight * values[i];
        total_errors[i] += weight * errors[i];
      }
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(piece); ++i) {
      const bool sure =
          total_errors[i] <= PanelSums::kTolerance * totals[i] && totals[i] >= 0x1p-60;
      const Index row = first + static_cast<Index>(i);
      out[static_cast<std::size_t>(row)] =
          sure ? maths::log(totals[i]) : log_sum_in_tail(features.row(row));
    }
  }
}

// A class that is out of reach has terms of exp(-kReach^2 / 2) at the most.
double PanelClassSums::log_sum_in_tail(std::span<const double> features) const {
  constexpr double kOutOfReach = -0.5 * CellMoments::kReach * CellMoments::kReach;
  std::array<double, LocalClasses::kCount> terms{};
  double greatest = -std::numeric_limits<double>::infinity(), left_out = 0.0;
  for (Index number = 0; number < LocalClasses::kCount; ++number) {
    const auto& sums = sums_[static_cast<std::size_t>(number)];
    double& term = terms[static_cast<std::size_t>(number)];
    term = -std::numeric_limits<double>::infinity();
    if (sums.count() == 0) continue;
    const double weight = LocalClasses::weight(number, dims_);
    const double log_sum = sums.log_sum_in_tail(place_of(features, number));
    if (std::isnan(log_sum)) {
      left_out += weight * static_cast<double>(sums.count());
    } else {
      term = log_sum + maths::log(weight);
      greatest = std::max(greatest, term);
    }
  }
  if (!std::isfinite(greatest)) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0.0;
  for (const double term : terms) {
    if (std::isfinite(term)) sum += maths::exp(term - greatest);
  }
  const double log_sum = maths::log(sum) + greatest;
  const bool enough = left_out == 0.0 || maths::log(left_out / kLeftOut) + kOutOfReach <= log_sum;
  return enough ? log_sum : std::numeric_limits<double>::quiet_NaN();
}

std::string PanelClassSums::description() const {
  const auto [across, up] = sums_.front().panels();
  const auto [fewest_across, fewest_up] = sums_.back().panels();
  return fmt::format("panels, {} x {} to {} x {}", fewest_across, fewest_up, across, up);
}

void PanelClassSums::save(StateWriter& out) const {
  for (const auto& sums : sums_) sums.save(out);
}

void PanelClassSums::load(StateReader& in, BatchView /*contents*/, const ClassOfSlot& classes) {
  for (Index number = 0; number < LocalClasses::kCount; ++number) {
    auto& sums = sums_[static_cast<std::size_t>(number)];
    sums.load(in);
    const auto members = std::count(classes.begin(), classes.end(), number);
    if (sums.count() != members) {
      throw Error(ErrorKind::corrupt, "saved state: features on the panels of a width",
                  std::to_string(sums.count()), fmt::format("{}, as in the buffer", members));
    }
  }
}

}  // namespace rarefy
