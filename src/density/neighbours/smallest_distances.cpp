#include "density/neighbours/smallest_distances.hpp"

#include <algorithm>
#include <limits>

#include "kernels/distances.hpp"

namespace rarefy {
namespace {

constexpr Index kLeastSpare =
    64;  // room beyond k: without it, a small k would be sifted all the time

}  // namespace

void SmallestDistances::begin(Index k) {
  k_ = k;
  count_ = 0;
  limit_ = std::numeric_limits<double>::infinity();
  full_ = k + std::max(k, kLeastSpare);
  const auto size =
      static_cast<std::size_t>(full_ + kernels::kPointsPerBlock + kernels::vector_padding());
  if (values_.size() < size) values_.resize(size);
}

void SmallestDistances::show(Index count) {
  count_ += count;
  // A few too many on the way cost less than finding the k-th exactly.
  if (count_ >= full_ || (count_ >= k_ && limit_ == std::numeric_limits<double>::infinity()))
    sift(k_ + k_ / 8);
}

void SmallestDistances::sift(Index most) {
  limit_ = kernels::keep_smallest(values_.data(), count_, k_, std::min(most, count_), &count_);
}

std::span<double> SmallestDistances::finish() {
  if (count_ > k_) sift(k_);
  return {values_.data(), static_cast<std::size_t>(count_)};
}

}  // namespace rarefy
