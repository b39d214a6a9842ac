#include "rarefy/density/kde.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <utility>

#include "density/exact_sum.hpp"
#include "density/panel_sums.hpp"
#include "kernels/kernel_sums.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/density/endless_buffer.hpp"

namespace rarefy {
namespace {

constexpr std::array kKernels = {
    std::pair{Kernel::gaussian, std::string_view("gaussian")},
    std::pair{Kernel::triangular, std::string_view("triangular")},
    std::pair{Kernel::epanechnikov, std::string_view("epanechnikov")},
};

constexpr std::array kMethods = {
    std::pair{KdeMethod::automatic, std::string_view("auto")},
    std::pair{KdeMethod::direct, std::string_view("direct")},
    std::pair{KdeMethod::panels, std::string_view("panels")},
};

// From here on panels beat direct sums over a buffer; see docs/performance.md.
constexpr Index kWorthPanels = 2'000;

// What Scott's rule takes for the number of samples where there is no limit to it.
Index samples_for_bandwidth(Index capacity) {
  return capacity > 0 ? capacity : EndlessBuffer::kSample;
}

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

// A sum below 2^-60 of a single Gaussian's peak may consist of terms that single precision cannot
// hold, and counts as 2^-126.
constexpr double kFarTail = 0x1p-60;
// A sum this small of a kernel of bounded support may be a few terms at the edge of their
// reach, where single precision is relatively poor.
constexpr double kEdge = 1.0;
// One feature makes a plane that is flat.
constexpr double kFlat = 0.0;
// Features may be as far away as they like; their squares must not overflow.
constexpr double kFarOut = 1e150;
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

std::string_view name_of(KdeMethod method) {
  for (const auto& [known, name] : kMethods) {
    if (known == method) return name;
  }
  return "unknown";
}

KdeMethod kde_method_named(std::string_view name) {
  for (const auto& [method, known] : kMethods) {
    if (known == name) return method;
  }
  throw Error(ErrorKind::parameter, "kde", fmt::format("'{}'", name), "auto, direct or panels");
}

KdeMethod KernelDensity::method_for(const KdeOptions& options, Index capacity) {
  if (options.method == KdeMethod::direct) return KdeMethod::direct;
  const bool insist = options.method == KdeMethod::panels;
  const auto without = [&](const std::string& given, std::string_view expected) {
    if (insist) throw Error(ErrorKind::parameter, "kde", "panels, with " + given, expected);
    return KdeMethod::direct;
  };
  if (options.kernel != Kernel::gaussian) {
    return without(fmt::format("a {} kernel", name_of(options.kernel)), "a gaussian kernel");
  }
  if (options.space.dim() > 2) {
    return without(fmt::format("{} features", options.space.dim()), "1 or 2 features");
  }
  const auto h = options.bandwidth.resolve(options.space, samples_for_bandwidth(capacity));
  const double width = options.space.width(0) / h[0];
  const double height = options.space.dim() > 1 ? options.space.width(1) / h[1] : kFlat;
  if (!PanelSums::fits(width, height)) {
    return without(fmt::format("a feature space of {:.4g} x {:.4g} bandwidths", width, height),
                   fmt::format("one of at most {} squares of {} bandwidths", PanelSums::kMostPanels,
                               PanelField::kWidestSide));
  }
  const bool small = capacity > 0 && capacity < kWorthPanels;
  return small && !insist ? KdeMethod::direct : KdeMethod::panels;
}

struct KernelDensity::Panels {
  Panels(double width, double height) : sums(width, height) {}
  PanelSums sums;
  std::vector<PlanePoint> queries;
  std::vector<PlanePoint> came, went;
  Exchange exchange;
};

struct KernelDensity::Scratch {
  explicit Scratch(Index dims) : points(dims) {}
  kernels::PointColumns points;  // the buffer's contents in kernel coordinates
  std::vector<float> queries;    // one row a candidate
  std::vector<double> sums;
};

KernelDensity::KernelDensity(KdeOptions options, std::unique_ptr<FeatureBuffer> buffer)
    : options_(std::move(options)), buffer_(std::move(buffer)) {
  bandwidths_ =
      options_.bandwidth.resolve(options_.space, samples_for_bandwidth(buffer_->capacity()));
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
  method_ = method_for(options_, buffer_->capacity());
  if (method_ == KdeMethod::panels) {
    const double height = dims > 1 ? options_.space.width(1) / bandwidths_[1] : kFlat;
    panels_ = std::make_unique<Panels>(options_.space.width(0) / bandwidths_[0], height);
    take_into_panels(buffer_->contents());
    return;
  }
  if (buffer_->capacity() > 0) {
    scratch_->points.reserve(buffer_->capacity());
    changed_.reserve(static_cast<std::size_t>(buffer_->capacity()));
  }
  for (Index slot = 0; slot < buffer_->contents().rows(); ++slot) take_over(slot);
}

KernelDensity::~KernelDensity() = default;

bool KernelDensity::informed() const { return buffer_->count() > 0; }

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

PlanePoint KernelDensity::plane_point(std::span<const double> features) const {
  const auto place = [&](std::size_t d) {
    return std::clamp((features[d] - centre_[d]) / bandwidths_[d], -kFarOut, kFarOut);
  };
  return {place(0), features.size() > 1 ? place(1) : 0.0};
}

void KernelDensity::take_into_panels(BatchView features) {
  Workers alone(1);
  panels_->came.clear();
  panels_->went.clear();
  for (Index i = 0; i < features.rows(); ++i) {
    panels_->came.push_back(plane_point(features.row(i)));
  }
  panels_->sums.change(panels_->came, panels_->went, alone);
}

void KernelDensity::observe(const Evaluated& batch, Workers& workers) {
  changed_.clear();
  if (panels_ == nullptr) {
    buffer_->add(batch.features, changed_);
    for (const Index slot : changed_) take_over(slot);
    return;
  }
  auto& [sums, queries, came, went, exchange] = *panels_;
  buffer_->add(batch.features, changed_, &exchange);
  came.clear();
  went.clear();
  for (Index i = 0; i < exchange.came.rows(); ++i)
    came.push_back(plane_point(exchange.came.row(i)));
  for (Index i = 0; i < exchange.went.rows(); ++i)
    went.push_back(plane_point(exchange.went.row(i)));
  sums.change(came, went, workers);
  // As many queries as this time will come before the next batch does.
  sums.settle(batch.features.rows(), workers);
}

void KernelDensity::score(const Evaluated& batch, std::span<double> scores, Workers& workers) {
  log_density(batch.features, scores, workers);
}

void KernelDensity::log_density(BatchView features, std::span<double> out, Workers& workers) {
  if (!informed()) {  // no samples, no differences
    std::fill(out.begin(), out.end(), 0.0);
    return;
  }
  const auto rows = static_cast<std::size_t>(features.rows());
  if (panels_ != nullptr) {
    if (panels_->queries.size() < rows) panels_->queries.resize(rows);
    workers.for_pieces(features.rows(), kQueriesAPiece, [&](Index first, Index count) {
      score_by_panels(features.rows(first, count),
                      out.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)),
                      first);
    });
    return;
  }
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
  double* sums = scratch_->sums.data() + first;
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
    const bool sure = sums[i] >= (options_.kernel == Kernel::gaussian ? kFarTail : kEdge);
    const double log_sum =
        sure ? std::log(sums[i])
             : exact_log_sum(options_.kernel, buffer_->contents(), scale_, features.row(i));
    const bool nothing = options_.kernel != Kernel::gaussian && log_sum <= kNoDensity;
    scores[static_cast<std::size_t>(i)] = nothing ? log_sum : log_sum - log_rest;
  }
}

void KernelDensity::score_by_panels(BatchView features, std::span<double> scores, Index first) {
  PlanePoint* queries = panels_->queries.data() + first;
  for (Index i = 0; i < features.rows(); ++i) queries[i] = plane_point(features.row(i));
  const auto& sums = panels_->sums;
  sums.log_sums(queries, features.rows(), scores.data());
  const double log_rest = std::log(static_cast<double>(sums.count())) + log_constant_;
  for (Index i = 0; i < features.rows(); ++i) {
    double& score = scores[static_cast<std::size_t>(i)];
    if (std::isnan(score)) {
      const bool all_there = buffer_->contents().rows() == buffer_->count();
      score = all_there
                  ? exact_log_sum(options_.kernel, buffer_->contents(), scale_, features.row(i))
                  : sums.log_sum_of_crowds(queries[i]);
    }
    score -= log_rest;
  }
}

std::string KernelDensity::how() const {
  if (panels_ == nullptr) return "direct sums";
  const auto [across, up] = panels_->sums.panels();
  return fmt::format("panels, {} x {}", across, up);
}

void KernelDensity::identify(StateOptions& options) const {
  options_.space.identify(options);
  options.text("kde.kernel", name_of(options_.kernel));
  options.reals("kde.bandwidths", bandwidths_);
  options.text("kde.method", name_of(method_));
  options.integer("kde.buffer", buffer_->capacity());
  buffer_->identify(options);
}

void KernelDensity::save(StateWriter& out) const {
  buffer_->save(out);
  if (panels_ != nullptr) panels_->sums.save(out);
}

void KernelDensity::load(StateReader& in) {
  buffer_->load(in);
  if (panels_ != nullptr) {
    panels_->sums.load(in);
    if (panels_->sums.count() != buffer_->count()) {
      throw Error(ErrorKind::corrupt, "saved state: features on the panels",
                  std::to_string(panels_->sums.count()),
                  fmt::format("{}, as in the buffer", buffer_->count()));
    }
    return;
  }
  scratch_->points.resize(0);
  for (Index slot = 0; slot < buffer_->contents().rows(); ++slot) take_over(slot);
}

}  // namespace rarefy
