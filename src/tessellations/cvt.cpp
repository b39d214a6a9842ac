#include "rarefy/tessellations/cvt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/nearest.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/fingerprint.hpp"
#include "rarefy/core/random.hpp"

namespace rarefy {
namespace {

Batch uniform_samples(const FeatureSpace& space, Index count, RandomStream& random) {
  Batch samples(count, space.dim());
  for (Index i = 0; i < count; ++i) {
    for (Index d = 0; d < space.dim(); ++d) {
      const auto at = static_cast<std::size_t>(d);
      samples(i, d) = space.lower[at] + random.uniform() * space.width(d);
    }
  }
  return samples;
}

double centre(const FeatureSpace& space, Index d) {
  const auto at = static_cast<std::size_t>(d);
  return 0.5 * (space.lower[at] + space.upper[at]);
}

// The rows that assign() copies at once lie on the stack.
constexpr Index kMostFeatures = 512;

void check_space(const FeatureSpace& space) {
  space.check();
  if (space.dim() > kMostFeatures) {
    throw Error(ErrorKind::parameter, "CVT: features", fmt::format("{}", space.dim()),
                fmt::format("at most {}", kMostFeatures));
  }
}

double mean_variance(const FeatureSpace& space) {
  double sum = 0.0;
  for (Index d = 0; d < space.dim(); ++d) sum += space.width(d) * space.width(d) / 12.0;
  return sum / static_cast<double>(space.dim());
}

}  // namespace

Cvt::Cvt(FeatureSpace space, Batch centroids)
    : space_(std::move(space)), centroids_(std::move(centroids)) {
  check_space(space_);
  if (centroids_.cols() != space_.dim() || centroids_.rows() < 1) {
    throw Error(ErrorKind::data, "centroids",
                fmt::format("{} x {}", centroids_.rows(), centroids_.cols()),
                fmt::format("at least one row of {} features", space_.dim()));
  }
  for (Index i = 0; i < centroids_.rows(); ++i) {
    for (const double value : centroids_.row(i)) {
      if (!std::isfinite(value)) {
        throw Error(ErrorKind::data, fmt::format("centroids: row {}", i), fmt::format("{}", value),
                    "finite numbers");
      }
    }
  }
  prepare();
}

Cvt::Cvt(FeatureSpace space, const CvtOptions& options, Workers& workers, StopFlag stop)
    : space_(std::move(space)) {
  check_space(space_);
  if (options.cells < 1 || options.samples < options.cells || options.iterations < 1) {
    throw Error(ErrorKind::parameter, "CVT",
                fmt::format("{} cells, {} samples, {} iterations", options.cells, options.samples,
                            options.iterations),
                "at least 1 cell, no fewer samples than cells, and at least 1 iteration");
  }
  RandomStream random({.seed = options.seed, .purpose = Purpose::centroids});
  const Batch samples = uniform_samples(space_, options.samples, random);
  const Index dims = space_.dim();

  // Lloyd's algorithm. Samples are independent, so the first ones are a random start.
  centroids_.resize(options.cells, dims);
  std::copy_n(samples.data(), options.cells * dims, centroids_.data());
  std::vector<Index> nearest(static_cast<std::size_t>(options.samples));
  std::vector<Index> members(static_cast<std::size_t>(options.cells));
  Batch sums(options.cells, dims);
  const double small = options.tolerance * mean_variance(space_);
  for (Index iteration = 0; iteration < options.iterations; ++iteration) {
    prepare();
    assign_unless_stopped(samples, nearest, workers, stop);
    std::fill(members.begin(), members.end(), Index{0});
    std::fill(sums.values().begin(), sums.values().end(), 0.0);
    for (Index i = 0; i < samples.rows(); ++i) {
      const Index cell = nearest[static_cast<std::size_t>(i)];
      ++members[static_cast<std::size_t>(cell)];
      for (Index d = 0; d < dims; ++d) sums(cell, d) += samples(i, d);
    }
    double shift = 0.0;
    for (Index cell = 0; cell < options.cells; ++cell) {
      const auto count = members[static_cast<std::size_t>(cell)];
      if (count == 0) continue;  // nothing to move it by: it stays where it is
      for (Index d = 0; d < dims; ++d) {
        const double mean = sums(cell, d) / static_cast<double>(count);
        shift += (mean - centroids_(cell, d)) * (mean - centroids_(cell, d));
        centroids_(cell, d) = mean;
      }
    }
    if (shift <= small) break;
  }
  prepare();
}

void Cvt::prepare() {
  const Index dims = space_.dim();
  Batch centred(centroids_.rows(), dims);
  for (Index i = 0; i < centroids_.rows(); ++i) {
    for (Index d = 0; d < dims; ++d) centred(i, d) = centroids_(i, d) - centre(space_, d);
  }
  table_ = std::make_shared<kernels::PointTable>(centred.data(), centred.rows(), dims);
}

// With a million cells, one iteration takes minutes.
void Cvt::assign_unless_stopped(BatchView samples, std::span<Index> cells, Workers& workers,
                                StopFlag stop) const {
  constexpr Index kPiece = 64;
  workers.for_pieces(samples.rows(), kPiece, [&](Index first, Index count) {
    heed(stop, "the cells were made");
    assign(samples.rows(first, count),
           cells.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)));
  });
}

void Cvt::assign(BatchView features, std::span<Index> cells) const {
  const Index dims = space_.dim();
  constexpr Index kRows = 32;
  std::array<double, kMostFeatures>
      centred{};  // rows at a time, relative to the middle of the space
  const Index rows_at_once = std::min(kRows, kMostFeatures / dims);
  for (Index first = 0; first < features.rows(); first += rows_at_once) {
    const Index count = std::min(rows_at_once, features.rows() - first);
    for (Index i = 0; i < count; ++i) {
      for (Index d = 0; d < dims; ++d) {
        centred[static_cast<std::size_t>(i * dims + d)] =
            features(first + i, d) - centre(space_, d);
      }
    }
    kernels::nearest_points(*table_, centred.data(), count, cells.data() + first);
  }
}

void Cvt::cell_centre(Index cell, std::span<double> out) const {
  const auto centroid = centroids_.row(cell);
  std::copy(centroid.begin(), centroid.end(), out.begin());
}

std::uint64_t Cvt::fingerprint() const {
  return Fingerprint().add(space_).add(centroids_.view().values()).value();
}

std::vector<NamedArray> Cvt::arrays() const { return {{"centroids", centroids_}}; }

}  // namespace rarefy
