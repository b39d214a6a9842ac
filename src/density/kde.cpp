#include "rarefy/density/kde.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "kernels/kernel_sums.hpp"
#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

constexpr std::array kKernels = {
    std::pair{Kernel::gaussian, std::string_view("gaussian")},
    std::pair{Kernel::triangular, std::string_view("triangular")},
    std::pair{Kernel::epanechnikov, std::string_view("epanechnikov")},
};

// ln c of the class comment.
double log_kernel_constant(Kernel kernel, Index dims) {
  const auto m = static_cast<double>(dims);
  if (kernel == Kernel::gaussian) return 0.5 * m * std::log(2.0 * std::numbers::pi);
  // Surface of the unit sphere: 2 pi^(m/2) / Gamma(m/2).
  const double log_surface =
      std::log(2.0) + 0.5 * m * std::log(std::numbers::pi) - std::lgamma(0.5 * m);
  if (kernel == Kernel::triangular) return log_surface - std::log(m * (m + 1.0));
  return log_surface + std::log(2.0 / (m * (m + 2.0)));
}

// Rows scored by one task: enough to be worth handing out, few enough to share.
constexpr Index kQueriesAPiece = 36;

// Below 2^-60 of its peak a single-precision Gaussian sum starts to lose terms.
constexpr double kFarTail = 60.0;
// A sum this small of a kernel of bounded support may be a few terms at the edge of their
// reach, where single precision is relatively poor.
constexpr double kEdge = 1.0;
constexpr double kFarthest = 1e300;  // squared distances that are still told apart by squares

// The distance between two features, without squares that overflow; at most the largest double.
double distance(std::span<const double> a, std::span<const double> b) {
  double longest = 0.0;
  for (std::size_t d = 0; d < a.size(); ++d) {
    longest = std::max(longest, std::abs(0.5 * a[d] - 0.5 * b[d]));
  }
  if (longest == 0.0) return 0.0;
  double sum = 0.0;
  for (std::size_t d = 0; d < a.size(); ++d) {
    const double part = (0.5 * a[d] - 0.5 * b[d]) / longest;
    sum += part * part;
  }
  return std::min(longest * std::sqrt(sum), 0.5 * std::numeric_limits<double>::max()) * 2.0;
}

}  // namespace

std::string_view name_of(Kernel kernel) {
  for (const auto& [known, name] : kKernels) {
    if (known == kernel) return name;
  }
  return "unknown";
}

Kernel kernel_named(std::string_view name) {
  for (const auto& [kernel, known] : kKernels) {
    if (known == name) return kernel;
  }
  throw Error(ErrorKind::parameter, "kernel", fmt::format("'{}'", name),
              "gaussian, triangular or epanechnikov");
}

struct KernelDensity::Scratch {
  explicit Scratch(Index dims) : points(dims) {}
  kernels::PointColumns points;  // the buffer's contents in kernel coordinates
  std::vector<float> queries;    // one row a candidate
  std::vector<kernels::KernelSum> sums;
};

KernelDensity::KernelDensity(KdeOptions options, std::unique_ptr<FeatureBuffer> buffer)
    : options_(std::move(options)), buffer_(std::move(buffer)) {
  bandwidths_ = options_.bandwidth.resolve(options_.space, buffer_->capacity());
  const Index dims = options_.space.dim();
  // Kernel coordinates: 2^-(d^2) is the Gaussian exp(-u^2 / 2) when d^2 = u^2 log2(e) / 2.
  const double unit =
      options_.kernel == Kernel::gaussian ? std::sqrt(0.5 * std::numbers::log2e) : 1.0;
  log_constant_ = log_kernel_constant(options_.kernel, dims);
  for (Index d = 0; d < dims; ++d) {
    const auto i = static_cast<std::size_t>(d);
    centre_.push_back(0.5 * (options_.space.lower[i] + options_.space.upper[i]));
    scale_.push_back(unit / bandwidths_[i]);
    log_constant_ += std::log(bandwidths_[i]);
  }
  scratch_ = std::make_unique<Scratch>(dims);
  if (buffer_->capacity() > 0) {
    scratch_->points.reserve(buffer_->capacity());
    changed_.reserve(static_cast<std::size_t>(buffer_->capacity()));
  }
  for (Index slot = 0; slot < buffer_->contents().rows(); ++slot) take_over(slot);
}

KernelDensity::~KernelDensity() = default;

bool KernelDensity::informed() const { return buffer_->contents().rows() > 0; }

// Taken relative to the centre of feature space first, in double precision, so
// that single precision has only the box to cover.
float KernelDensity::coordinate(double feature, Index d) const {
  const auto i = static_cast<std::size_t>(d);
  return static_cast<float>((feature - centre_[i]) * scale_[i]);
}

void KernelDensity::take_over(Index slot) {
  auto& points = scratch_->points;
  const auto row = buffer_->contents().row(slot);
  if (slot >= points.count()) points.resize(slot + 1);
  for (Index d = 0; d < points.dims(); ++d) {
    points.set(slot, d, coordinate(row[static_cast<std::size_t>(d)], d));
  }
}

void KernelDensity::observe(BatchView features, std::span<const double> /*objectives*/,
                            Workers& /*workers*/) {
  changed_.clear();
  buffer_->add(features, changed_);
  for (const Index slot : changed_) take_over(slot);
}

void KernelDensity::score(BatchView features, std::span<const double> /*objectives*/,
                          std::span<double> scores, Workers& workers) {
  log_density(features, scores, workers);
}

void KernelDensity::log_density(BatchView features, std::span<double> out, Workers& workers) {
  if (!informed()) {  // no samples, no differences
    std::fill(out.begin(), out.end(), 0.0);
    return;
  }
  const auto rows = static_cast<std::size_t>(features.rows());
  if (scratch_->sums.size() < rows) {
    scratch_->sums.resize(rows);
    scratch_->queries.resize(rows * static_cast<std::size_t>(features.cols()));
  }
  workers.for_pieces(features.rows(), kQueriesAPiece, [&](Index first, Index count) {
    score_piece(features.rows(first, count),
                out.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)),
                first);
  });
}

void KernelDensity::score_piece(BatchView features, std::span<double> scores, Index first) {
  const auto& points = scratch_->points;
  const Index dims = features.cols();
  float* queries = scratch_->queries.data() + first * dims;
  kernels::KernelSum* sums = scratch_->sums.data() + first;
  for (Index i = 0; i < features.rows(); ++i) {
    for (Index d = 0; d < dims; ++d) queries[i * dims + d] = coordinate(features(i, d), d);
  }
  switch (options_.kernel) {
    case Kernel::gaussian: kernels::gaussian_sums(points, queries, features.rows(), sums); break;
    case Kernel::triangular:
      kernels::triangular_sums(points, queries, features.rows(), sums);
      break;
    case Kernel::epanechnikov:
      kernels::epanechnikov_sums(points, queries, features.rows(), sums);
      break;
  }
  const double log_rest = std::log(static_cast<double>(points.count())) + log_constant_;
  for (Index i = 0; i < features.rows(); ++i) {
    const bool sure =
        options_.kernel == Kernel::gaussian ? sums[i].nearest <= kFarTail : sums[i].sum >= kEdge;
    const double log_sum = sure ? std::log(sums[i].sum) : exact_log_sum(features.row(i));
    const bool nothing = options_.kernel != Kernel::gaussian && log_sum <= kNoDensity;
    scores[static_cast<std::size_t>(i)] = nothing ? log_sum : log_sum - log_rest;
  }
}

// The logarithm of the sum in double precision, for where single precision does not do: rare,
// and where the search looks first, so it is worth its time. Below kNoDensity: no sample is in
// reach, and how far the nearest is.
double KernelDensity::exact_log_sum(std::span<const double> query) const {
  const auto rows = buffer_->contents();
  const auto squared = [&](Index i) {
    double sum = 0.0;
    for (Index d = 0; d < rows.cols(); ++d) {
      const auto at = static_cast<std::size_t>(d);
      const double difference = (query[at] - rows(i, d)) * scale_[at];
      sum += difference * difference;
    }
    return sum;
  };
  double nearest = std::numeric_limits<double>::max();
  for (Index i = 0; i < rows.rows(); ++i) nearest = std::min(nearest, squared(i));
  double sum = 0.0;
  for (Index i = 0; i < rows.rows(); ++i) {
    const double d2 = squared(i);
    switch (options_.kernel) {
      case Kernel::gaussian:  // log-sum-exp: relative to the largest term
        if (d2 - nearest < 100.0) sum += std::exp2(nearest - d2);
        break;
      case Kernel::triangular: sum += std::max(0.0, 1.0 - std::sqrt(d2)); break;
      case Kernel::epanechnikov: sum += std::max(0.0, 1.0 - d2); break;
    }
  }
  // So far out that even squares overflow: finite and in order all the same.
  if (!(nearest < kFarthest)) {
    double least = std::numeric_limits<double>::max();
    for (Index i = 0; i < rows.rows(); ++i) least = std::min(least, distance(query, rows.row(i)));
    return -kFarthest * (1.0 + std::log10(least) / 400.0);
  }
  if (options_.kernel == Kernel::gaussian) return std::log(sum) - std::numbers::ln2 * nearest;
  return sum > 0.0 ? std::log(sum) : kNoDensity - std::sqrt(nearest);
}

void KernelDensity::save(StateWriter& out) const { buffer_->save(out); }

void KernelDensity::load(StateReader& in) {
  buffer_->load(in);
  scratch_->points.resize(0);
  for (Index slot = 0; slot < buffer_->contents().rows(); ++slot) take_over(slot);
}

}  // namespace rarefy
