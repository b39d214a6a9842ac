#include "density/kde/direct_class_sums.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/maths.hpp"

namespace rarefy {
namespace {

// As that of direct_kde_sums.cpp, of the highest peak.
constexpr double kSmallestOfPeak = 0x1p-60;

}  // namespace

DirectClassSums::DirectClassSums(KernelCoordinates coordinates, Index capacity)
    : coordinates_(std::move(coordinates)),
      dims_(static_cast<Index>(coordinates_.scale.size())),
      capacity_(capacity),
      points_(static_cast<std::size_t>(LocalClasses::kCount), kernels::PointColumns(dims_)) {}

float DirectClassSums::coordinate(double feature, std::size_t d, Index number) const {
  return static_cast<float>((feature - coordinates_.centre[d]) * coordinates_.scale[d] /
                            LocalClasses::multiple(number));
}

// All of it, since that takes less than a single query: so the order, and with it the last bit of
// a sum, depends on nothing but what is in the buffer.
void DirectClassSums::make(BatchView contents, const ClassOfSlot& classes) {
  std::array<Index, LocalClasses::kCount> counts{};
  for (const auto number : classes) ++counts[static_cast<std::size_t>(number)];
  for (std::size_t c = 0; c < points_.size(); ++c) {
    points_[c].resize(counts[c]);
    counts[c] = 0;
  }
  for (Index slot = 0; slot < contents.rows(); ++slot) {
    const auto number = static_cast<std::size_t>(classes[static_cast<std::size_t>(slot)]);
    const Index place = counts[number]++;
    for (Index d = 0; d < dims_; ++d) {
      points_[number].set(
          place, d,
          coordinate(contents(slot, d), static_cast<std::size_t>(d), static_cast<Index>(number)));
    }
  }
}

void DirectClassSums::change(const Change& change, Index /*queries*/, Workers& /*workers*/) {
  const bool nothing =
      std::all_of(change.of_class.begin(), change.of_class.end(),
                  [](const Exchange& of) { return of.came.rows() == 0 && of.went.rows() == 0; });
  if (nothing) return;
  for (auto& points : points_) points.reserve(capacity_);
  make(change.contents, change.classes);
}

void DirectClassSums::prepare(Index queries) {
  const auto rows = static_cast<std::size_t>(queries);
  if (sums_.size() < rows) {
    sums_.resize(rows);
    queries_.resize(rows * static_cast<std::size_t>(dims_));
  }
}

void DirectClassSums::log_sums(BatchView features, Index first, std::span<double> out) {
  float* queries = queries_.data() + first * dims_;
  double* sums = sums_.data() + first;
  std::fill(out.begin(), out.end(), 0.0);
  double peak = 0.0;
  for (Index number = 0; number < LocalClasses::kCount; ++number) {
    const auto& points = points_[static_cast<std::size_t>(number)];
    if (points.count() == 0) continue;
    for (Index i = 0; i < features.rows(); ++i) {
      for (Index d = 0; d < dims_; ++d) {
        queries[i * dims_ + d] = coordinate(features(i, d), static_cast<std::size_t>(d), number);
      }
    }
    kernels::gaussian_sums(points, queries, features.rows(), sums);
    const double weight = LocalClasses::weight(number, dims_);
    peak = std::max(peak, weight);
    for (Index i = 0; i < features.rows(); ++i)
      out[static_cast<std::size_t>(i)] += weight * sums[i];
  }
  for (double& value : out) {
    value = value >= kSmallestOfPeak * peak ? maths::log(value)
                                            : std::numeric_limits<double>::quiet_NaN();
  }
}

std::string DirectClassSums::description() const { return "direct sums"; }

// The buffer and its classes are all there is.
void DirectClassSums::save(StateWriter& /*out*/) const {}

void DirectClassSums::load(StateReader& /*in*/, BatchView contents, const ClassOfSlot& classes) {
  make(contents, classes);
}

}  // namespace rarefy
