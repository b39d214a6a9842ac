#include "density/kde/panel_kde_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "density/kde/exact_sum.hpp"
#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

// One feature makes a plane that is flat.
constexpr double kFlat = 0.0;
// Features may be as far away as they like; their squares must not overflow.
constexpr double kFarOut = 1e150;

}  // namespace

PanelKdeSums::Box::Box(const FeatureSpace& space, std::span<const double> bandwidths)
    : width(space.width(0) / bandwidths[0]),
      height(space.dim() > 1 ? space.width(1) / bandwidths[1] : kFlat) {}

PanelKdeSums::PanelKdeSums(Box box, KernelCoordinates coordinates, FeatureBuffer& buffer)
    : coordinates_(std::move(coordinates)), buffer_(buffer), sums_(box.width, box.height) {
  Workers alone(1);
  const BatchView features = buffer_.contents();
  for (Index i = 0; i < features.rows(); ++i) came_.push_back(plane_point(features.row(i)));
  sums_.change(came_, went_, alone);
}

PlanePoint PanelKdeSums::place_of(std::span<const double> features,
                                  const KernelCoordinates& coordinates) {
  const auto place = [&](std::size_t d) {
    return std::clamp((features[d] - coordinates.centre[d]) / coordinates.bandwidths[d], -kFarOut,
                      kFarOut);
  };
  return {place(0), features.size() > 1 ? place(1) : 0.0};
}

void PanelKdeSums::add(BatchView features, Workers& workers) {
  changed_.clear();
  buffer_.add(features, changed_, &exchange_);
  came_.clear();
  went_.clear();
  for (Index i = 0; i < exchange_.came.rows(); ++i)
    came_.push_back(plane_point(exchange_.came.row(i)));
  for (Index i = 0; i < exchange_.went.rows(); ++i)
    went_.push_back(plane_point(exchange_.went.row(i)));
  sums_.change(came_, went_, workers);
  // As many queries as this time will come before the next batch does.
  sums_.settle(features.rows(), workers);
}

void PanelKdeSums::prepare(Index queries, Index /*threads*/) {
  const auto rows = static_cast<std::size_t>(queries);
  if (queries_.size() < rows) queries_.resize(rows);
}

void PanelKdeSums::log_sums(BatchView features, Index first, std::span<double> out) {
  PlanePoint* queries = queries_.data() + first;
  for (Index i = 0; i < features.rows(); ++i) queries[i] = plane_point(features.row(i));
  sums_.log_sums(queries, features.rows(), out.data());
  for (Index i = 0; i < features.rows(); ++i) {
    double& sum = out[static_cast<std::size_t>(i)];
    if (std::isnan(sum)) {
      const bool all_there = buffer_.contents().rows() == buffer_.count();
      sum = all_there ? exact_log_sum(Kernel::gaussian, buffer_.contents(), coordinates_.scale,
                                      features.row(i))
                      : sums_.log_sum_of_crowds(queries[i]);
    }
  }
}

std::string PanelKdeSums::description() const {
  const auto [across, up] = sums_.panels();
  return fmt::format("panels, {} x {}", across, up);
}

void PanelKdeSums::save(StateWriter& out) const { sums_.save(out); }

void PanelKdeSums::load(StateReader& in) {
  sums_.load(in);
  if (sums_.count() != buffer_.count()) {
    throw Error(ErrorKind::corrupt, "saved state: features on the panels",
                std::to_string(sums_.count()),
                fmt::format("{}, as in the buffer", buffer_.count()));
  }
}

}  // namespace rarefy
