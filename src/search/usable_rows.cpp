#include "search/usable_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

constexpr std::string_view kExpected =
    "a finite number (a row that could not be evaluated can be marked; NaN can be declared to mean "
    "that)";

bool has_nan(std::span<const double> features, double objective) {
  return std::isnan(objective) ||
         std::any_of(features.begin(), features.end(), [](double v) { return std::isnan(v); });
}

bool is_finite(std::span<const double> features, double objective) {
  return std::isfinite(objective) &&
         std::all_of(features.begin(), features.end(), [](double v) { return std::isfinite(v); });
}

void require_finite(Index row, std::span<const double> features, double objective) {
  for (std::size_t d = 0; d < features.size(); ++d) {
    if (!std::isfinite(features[d])) {
      throw Error(ErrorKind::data, fmt::format("features: row {}, feature {}", row, d),
                  fmt::format("{}", features[d]), kExpected);
    }
  }
  if (!std::isfinite(objective)) {
    throw Error(ErrorKind::data, fmt::format("objectives: row {}", row),
                fmt::format("{}", objective), kExpected);
  }
}

}  // namespace

void UsableRows::find(BatchView features, std::span<const double> objectives,
                      std::span<const std::uint8_t> valid, MeansFailed means_failed) {
  count_ = 0;
  usable_.resize(static_cast<std::size_t>(features.rows()), 1);
  for (Index i = 0; i < features.rows(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const bool failed = (!valid.empty() && valid[at] == 0) ||
                        (means_failed.nan && has_nan(features.row(i), objectives[at])) ||
                        (means_failed.not_finite && !is_finite(features.row(i), objectives[at]));
    if (!failed) require_finite(i, features.row(i), objectives[at]);
    usable_[at] = failed ? 0 : 1;
    count_ += failed ? 0 : 1;
  }
}

Index UsableRows::before(Index row) const {
  if (all()) return row;
  return std::count(usable_.begin(), usable_.begin() + row, std::uint8_t{1});
}

void UsableRows::gather_rows(BatchView from, Batch& to) const {
  to.resize(0, from.cols());
  to.reserve(from.rows());
  for (Index i = 0; i < from.rows(); ++i) {
    if ((*this)[i]) to.append(from.row(i));
  }
}

Evaluated UsableRows::gather(BatchView features, std::span<const double> objectives) {
  if (all()) return {.features = features, .objectives = objectives};
  gather_rows(features, features_);
  objectives_.clear();
  objectives_.reserve(usable_.size());
  for (std::size_t i = 0; i < usable_.size(); ++i) {
    if (usable_[i] != 0) objectives_.push_back(objectives[i]);
  }
  return {.features = features_, .objectives = objectives_};
}

BatchView UsableRows::gather_solutions(BatchView solutions) {
  if (all()) return solutions;
  gather_rows(solutions, solutions_);
  return solutions_;
}

}  // namespace rarefy
