#include "density/kde/direct_kde_sums.hpp"

#include <algorithm>
#include <utility>

#include "core/maths.hpp"
#include "density/kde/exact_sum.hpp"

namespace rarefy {
namespace {

// A sum this small of a kernel of bounded support may be a few terms at the edge of their
// reach, where single precision is relatively poor.
constexpr double kEdge = 1.0;

}  // namespace

DirectKdeSums::DirectKdeSums(Kernel kernel, KernelCoordinates coordinates, FeatureBuffer& buffer)
    : kernel_(kernel),
      coordinates_(std::move(coordinates)),
      buffer_(buffer),
      points_(static_cast<Index>(coordinates_.scale.size())) {
  for (Index slot = 0; slot < buffer_.contents().rows(); ++slot) take_over(slot);
}

// Taken relative to the centre of feature space first, in double precision, so
// that single precision has only the box to cover.
float DirectKdeSums::coordinate(double feature, Index d) const {
  const auto i = static_cast<std::size_t>(d);
  return static_cast<float>((feature - coordinates_.centre[i]) * coordinates_.scale[i]);
}

void DirectKdeSums::take_over(Index slot) {
  const auto row = buffer_.contents().row(slot);
  if (slot >= points_.count()) points_.resize(slot + 1);
  for (Index d = 0; d < points_.dims(); ++d) {
    points_.set(slot, d, coordinate(row[static_cast<std::size_t>(d)], d));
  }
}

// From the buffer, where the features of a slot stand together, some slots at a time: while those
// are copied, memory fetches the next.
void DirectKdeSums::copy_points(std::span<const std::int32_t> slots,
                                kernels::PointColumns& out) const {
  constexpr std::size_t kSome = 64, kLine = 64 / sizeof(double);
  const BatchView features = buffer_.contents();
  const auto width = static_cast<std::size_t>(features.cols());
  for (std::size_t first = 0; first < slots.size(); first += kSome) {
    const auto some = slots.subspan(first, std::min(kSome, slots.size() - first));
    const auto next = slots.subspan(first + some.size());
    for (const auto slot : next.first(std::min(kSome, next.size()))) {
      const double* const row = features.row(slot).data();
      for (std::size_t d = 0; d < width; d += kLine) __builtin_prefetch(row + d);
    }
    for (Index d = 0; d < out.dims(); ++d) {
      const double* const column = features.values().data() + d;
      float* const to = out.column(d) + first;
      for (std::size_t i = 0; i < some.size(); ++i) {
        to[i] = coordinate(column[static_cast<std::size_t>(some[i]) * width], d);
      }
    }
  }
}

void DirectKdeSums::add(BatchView features, Workers& /*workers*/) {
  if (buffer_.capacity() > 0) {  // once there is something to keep, room for all of it
    points_.reserve(buffer_.capacity());
    changed_.reserve(static_cast<std::size_t>(buffer_.capacity()));
  }
  changed_.clear();
  buffer_.add(features, changed_);
  for (const Index slot : changed_) take_over(slot);
}

void DirectKdeSums::prepare(Index queries, Index /*threads*/) {
  const auto rows = static_cast<std::size_t>(queries);
  if (sums_.size() < rows) {
    sums_.resize(rows);
    queries_.resize(rows * static_cast<std::size_t>(points_.dims()));
  }
}

void DirectKdeSums::place_queries(BatchView features, Index first) {
  float* const places = queries(first);
  const Index dims = features.cols();
  for (Index i = 0; i < features.rows(); ++i) {
    for (Index d = 0; d < dims; ++d) places[i * dims + d] = coordinate(features(i, d), d);
  }
}

void DirectKdeSums::sum(const float* queries, Index count, double* sums) const {
  switch (kernel_) {
    case Kernel::gaussian: kernels::gaussian_sums(points_, queries, count, sums); break;
    case Kernel::triangular: kernels::triangular_sums(points_, queries, count, sums); break;
    case Kernel::epanechnikov: kernels::epanechnikov_sums(points_, queries, count, sums); break;
  }
}

void DirectKdeSums::take_logarithms(BatchView features, Index first, std::span<double> out) const {
  const double* const sums = sums_.data() + first;
  for (Index i = 0; i < features.rows(); ++i) {
    const bool sure = sums[i] >= (kernel_ == Kernel::gaussian ? kFarTail : kEdge);
    out[static_cast<std::size_t>(i)] =
        sure ? maths::log(sums[i])
             : exact_log_sum(kernel_, buffer_.contents(), coordinates_.scale, features.row(i));
  }
}

void DirectKdeSums::log_sums(BatchView features, Index first, std::span<double> out) {
  place_queries(features, first);
  sum(queries(first), features.rows(), sums(first));
  take_logarithms(features, first, out);
}

std::string DirectKdeSums::description() const { return "direct sums"; }

// The buffer is all there is.
void DirectKdeSums::save(StateWriter& /*out*/) const {}

void DirectKdeSums::load(StateReader& /*in*/) {
  points_.resize(0);
  for (Index slot = 0; slot < buffer_.contents().rows(); ++slot) take_over(slot);
}

}  // namespace rarefy
