#include "rarefy/restarts/common_shape.hpp"

#include <fmt/format.h>

#include <cmath>

#include "rarefy/core/error.hpp"

namespace rarefy {

CommonShape::CommonShape(double rate, Index size)
    : rate_(rate), size_(static_cast<std::size_t>(size)) {
  if (!(rate > 0 && rate <= 1)) {
    throw Error(ErrorKind::parameter, "shape-rate", fmt::format("{}", rate),
                "above 0 and at most 1");
  }
  if (size < 1) {
    throw Error(ErrorKind::parameter, "common shape: numbers in a shape", fmt::format("{}", size),
                "at least 1");
  }
}

void CommonShape::learn(const StepShape& shape) {
  if (shape.values.empty()) return;
  if (shape.values.size() != size_) {
    throw Error(ErrorKind::data, "common shape: numbers in a shape",
                fmt::format("{}", shape.values.size()), fmt::format("{}", size_));
  }
  const double scale = 1 / shape.mean_variance;
  if (!(scale > 0) || !std::isfinite(scale)) return;
  if (values_.empty()) {
    values_.assign(shape.values.begin(), shape.values.end());
    for (double& value : values_) value *= scale;
    return;
  }
  for (std::size_t i = 0; i < size_; ++i) {
    values_[i] += rate_ * (scale * shape.values[i] - values_[i]);
  }
}

void CommonShape::identify(StateOptions& options) const {
  options.real("common_shape.rate", rate_);
}

void CommonShape::save(StateWriter& out) const { out.reals("common_shape.values", values_); }

void CommonShape::load(StateReader& in) {
  values_ = in.reals_up_to("common_shape.values", size_);
  bool good = values_.empty() || values_.size() == size_;
  for (const double value : values_) good = good && std::isfinite(value);
  if (!good) {
    throw Error(ErrorKind::corrupt, "saved state: field 'common_shape.values'",
                fmt::format("{} values", values_.size()),
                fmt::format("none or {}, all finite", size_));
  }
}

}  // namespace rarefy
