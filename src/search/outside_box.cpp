#include "search/outside_box.hpp"

#include <algorithm>
#include <utility>

namespace rarefy {

OutsideBox::OutsideBox(FeatureSpace space, Outside treatment)
    : space_(std::move(space)), treatment_(treatment) {}

BatchView OutsideBox::show(BatchView features) {
  count_ = 0;
  for (Index i = 0; i < features.rows(); ++i) {
    if (!space_.contains(features.row(i))) ++count_;
  }
  if (count_ == 0 || treatment_ == Outside::as_is) return features;
  shown_.resize(features.rows(), features.cols());
  std::copy(features.values().begin(), features.values().end(), shown_.data());
  distances_.resize(static_cast<std::size_t>(features.rows()));
  for (Index i = 0; i < features.rows(); ++i) {
    space_.clamp(shown_.row(i));
    distances_[static_cast<std::size_t>(i)] = space_.distance(features.row(i));
  }
  return shown_;
}

}  // namespace rarefy
