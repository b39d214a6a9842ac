#include "rarefy/density/kde.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "core/maths.hpp"
#include "density/kde/block_kde_sums.hpp"
#include "density/kde/direct_class_sums.hpp"
#include "density/kde/direct_kde_sums.hpp"
#include "density/kde/fine_counts.hpp"
#include "density/kde/local_kde_sums.hpp"
#include "density/kde/panel_class_sums.hpp"
#include "density/kde/panel_kde_sums.hpp"
#include "density/kde/sampled_kde_sums.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/density/endless_buffer.hpp"

namespace rarefy {
namespace {

// From here on panels beat direct sums over a buffer; see docs/performance.md.
constexpr Index kWorthPanels = 2'000;

// The same for blocks; never beyond so many features, where hardly any block is far away from
// anything.
bool worth_blocks(Index dims, Index capacity) {
  constexpr Index kFew = 4, kMost = 6;
  constexpr Index kWorthWithFew = 10'000, kWorthWithMost = 50'000;
  if (dims > kMost) return false;
  return capacity == 0 || capacity >= (dims <= kFew ? kWorthWithFew : kWorthWithMost);
}

// The same for samples, which are faster than blocks from there on and than direct sums long
// before.
constexpr Index kWorthSamples = 50'000;

// What Scott's rule takes for the number of samples where there is no limit to it.
Index samples_for_bandwidth(Index capacity) {
  return capacity > 0 ? capacity : EndlessBuffer::kSample;
}

// ln c of the class comment.
double log_kernel_constant(Kernel kernel, Index dims) {
  const auto m = static_cast<double>(dims);
  if (kernel == Kernel::gaussian) return 0.5 * m * maths::log(2.0 * std::numbers::pi);
  // Surface of the unit sphere: 2 pi^(m/2) / Gamma(m/2).
  const double log_surface =
      maths::log(2.0) + 0.5 * m * maths::log(std::numbers::pi) - maths::log_gamma_of_half(dims);
  if (kernel == Kernel::triangular) return log_surface - maths::log(m * (m + 1.0));
  return log_surface + maths::log(2.0 / (m * (m + 2.0)));
}

// Where each kernel has a width of its own.
void check_local(const KdeOptions& options, Index capacity) {
  const auto refuse = [](const std::string& given, std::string_view expected) {
    return Error(ErrorKind::parameter, "bandwidth", "local, with " + given, expected);
  };
  if (options.kernel != Kernel::gaussian) {
    throw refuse(fmt::format("a {} kernel", name_of(options.kernel)), "a gaussian kernel");
  }
  if (options.method == KdeMethod::blocks || options.method == KdeMethod::sampled) {
    throw refuse(fmt::format("kde {}", name_of(options.method)), "direct, panels or auto");
  }
  if (capacity == 0) throw refuse("an unlimited buffer", "a limited one");
}

bool panels_fit(const KdeOptions& options, const PanelKdeSums::Box& box) {
  return options.bandwidth.is_local() ? PanelClassSums::fits(box)
                                      : PanelSums::fits(box.width, box.height);
}

// What `options.method` comes to with these bandwidths.
KdeMethod method_with(const KdeOptions& options, Index capacity, std::span<const double> h) {
  const bool local = options.bandwidth.is_local();
  if (local) check_local(options, capacity);
  if (options.method == KdeMethod::direct) return KdeMethod::direct;
  const auto refuse = [&](const std::string& given, std::string_view expected) {
    return Error(ErrorKind::parameter, "kde",
                 fmt::format("{}, with {}", name_of(options.method), given), expected);
  };
  if (options.kernel != Kernel::gaussian) {
    if (options.method == KdeMethod::automatic) return KdeMethod::direct;
    throw refuse(fmt::format("a {} kernel", name_of(options.kernel)), "a gaussian kernel");
  }
  if (options.method == KdeMethod::blocks) return KdeMethod::blocks;
  if (options.method == KdeMethod::sampled) return KdeMethod::sampled;

  const bool insist = options.method == KdeMethod::panels;
  const auto without_panels = [&](const std::string& given, std::string_view expected) {
    if (insist) throw refuse(given, expected);
    const bool blocks = !local && worth_blocks(options.space.dim(), capacity);
    return blocks ? KdeMethod::blocks : KdeMethod::direct;
  };
  if (options.space.dim() > 2) {
    return without_panels(fmt::format("{} features", options.space.dim()), "1 or 2 features");
  }
  if (capacity == 0 && options.bandwidth.follows_data()) {
    return without_panels("an unlimited buffer and a bandwidth that follows the data",
                          "a limited buffer, of which new panels can be made");
  }
  const PanelKdeSums::Box box(options.space, h);
  if (!panels_fit(options, box)) {
    return without_panels(
        fmt::format("a feature space of {:.4g} x {:.4g} bandwidths", box.width, box.height),
        fmt::format("one of at most {} squares of {} bandwidths", PanelSums::kMostPanels,
                    PanelField::kWidestSide));
  }
  const bool small = capacity > 0 && capacity < kWorthPanels;
  return small && !insist ? KdeMethod::direct : KdeMethod::panels;
}

// The same where panels, though they were asked for, may have become too many.
KdeMethod method_after_fit(KdeOptions options, Index capacity, std::span<const double> h) {
  if (options.method == KdeMethod::panels) options.method = KdeMethod::automatic;
  return method_with(options, capacity, h);
}

}  // namespace

KdeMethod KernelDensity::method_for(const KdeOptions& options, Index capacity) {
  return method_with(options, capacity,
                     options.bandwidth.resolve(options.space, samples_for_bandwidth(capacity)));
}

KdeMethod KernelDensity::method_to_rank(const KdeOptions& options, Index capacity) {
  const auto method = method_for(options, capacity);
  const bool large = capacity == 0 || capacity >= kWorthSamples;
  const bool free = options.method == KdeMethod::automatic && method != KdeMethod::panels &&
                    options.kernel == Kernel::gaussian && !options.bandwidth.is_local();
  return large && free ? KdeMethod::sampled : method;
}

KernelDensity::KernelDensity(KdeOptions options, std::unique_ptr<FeatureBuffer> buffer)
    : options_(std::move(options)), buffer_(std::move(buffer)) {
  if (!(options_.detail >= 0) || !std::isfinite(options_.detail)) {
    throw Error(ErrorKind::parameter, "detail", fmt::format("{}", options_.detail),
                "a number >= 0");
  }
  const Index capacity = buffer_->capacity();
  method_ = method_for(options_, capacity);
  use_bandwidths(options_.bandwidth.resolve(options_.space, samples_for_bandwidth(capacity)));
  if (options_.detail > 0 && options_.space.dim() <= FineCounts::kMostDims) {
    auto deviations = bandwidths_;
    for (double& deviation : deviations) deviation *= kDetailScale;
    fine_ = std::make_unique<FineCounts>(options_.space, deviations);
  }
}

// Sums over what is in the buffer, with kernels of that width.
void KernelDensity::use_bandwidths(std::vector<double> bandwidths) {
  bandwidths_ = std::move(bandwidths);
  log_constant_ = log_kernel_constant(options_.kernel, options_.space.dim());
  for (const double h : bandwidths_) log_constant_ += maths::log(h);
  KernelCoordinates coordinates(options_, bandwidths_);
  const auto local_coordinates = coordinates;
  switch (method_) {
    case KdeMethod::panels:
      sums_ = std::make_unique<PanelKdeSums>(PanelKdeSums::Box(options_.space, bandwidths_),
                                             std::move(coordinates), *buffer_);
      break;
    case KdeMethod::blocks:
      sums_ = std::make_unique<BlockKdeSums>(std::move(coordinates), *buffer_);
      break;
    case KdeMethod::sampled:
      sums_ = std::make_unique<SampledKdeSums>(std::move(coordinates), *buffer_);
      break;
    case KdeMethod::direct:
    case KdeMethod::automatic:  // which method_for does not return
      sums_ = std::make_unique<DirectKdeSums>(options_.kernel, std::move(coordinates), *buffer_);
      break;
  }
  if (options_.bandwidth.is_local()) use_multiples(local_coordinates);
}

// The sums that there are become those of the pilot density.
void KernelDensity::use_multiples(const KernelCoordinates& coordinates) {
  std::unique_ptr<ClassSums> classes;
  if (method_ == KdeMethod::panels) {
    classes = std::make_unique<PanelClassSums>(PanelKdeSums::Box(options_.space, bandwidths_),
                                               coordinates);
  } else {
    classes = std::make_unique<DirectClassSums>(coordinates, buffer_->capacity());
  }
  sums_ =
      std::make_unique<LocalKdeSums>(std::move(sums_), std::move(classes), coordinates, *buffer_);
}

std::vector<double> KernelDensity::multiples() const { return sums_->multiples(); }

// Fits take long, so there are ever fewer of them: in all as many as the logarithm of what was
// seen.
void KernelDensity::follow_data() {
  if (seen_ < next_fit_ || buffer_->contents().rows() == 0) return;
  next_fit_ = seen_ + seen_ / 2 + 1;
  auto bandwidths = options_.bandwidth.fit(options_.space, buffer_->contents());
  method_ = method_after_fit(options_, buffer_->capacity(), bandwidths);
  use_bandwidths(std::move(bandwidths));
}

KernelDensity::~KernelDensity() = default;

bool KernelDensity::informed() const { return buffer_->count() > 0; }

void KernelDensity::observe(const Evaluated& batch, Workers& workers) {
  sums_->add(batch.features, workers);
  if (fine_) fine_->add(batch.features);
  if (options_.bandwidth.follows_data()) {
    seen_ += batch.features.rows();
    follow_data();
  }
}

void KernelDensity::score(const Evaluated& batch, std::span<double> scores, Workers& workers) {
  refined_log_density(batch.features, scores, workers);
  if (options_.log_scores || !informed()) return;
  for (double& score : scores) score = maths::exp(score);
}

// Logarithms of the density, of what `sums` makes of each piece.
template <typename Sums>
void KernelDensity::fill(BatchView features, std::span<double> out, Workers& workers, Sums sums) {
  if (!informed()) {  // there are no samples yet: all score the same
    std::fill(out.begin(), out.end(), 0.0);
    return;
  }
  sums_->prepare(features.rows(), workers.threads());
  const double log_rest = maths::log(static_cast<double>(sums_->count())) + log_constant_;
  workers.for_pieces(features.rows(), sums_->queries_a_task(), [&](Index first, Index count) {
    const auto piece =
        out.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
    sums(features.rows(first, count), first, piece);
    for (double& value : piece) {
      const bool nothing = options_.kernel != Kernel::gaussian && value <= kNoDensity;
      if (!nothing) value -= log_rest;
    }
  });
}

void KernelDensity::refined_log_density(BatchView features, std::span<double> out,
                                        Workers& workers) {
  fill(features, out, workers, [&](BatchView rows, Index first, std::span<double> piece) {
    sums_->log_scores(rows, first, piece);
  });
  if (fine_ && informed()) add_detail(features, out);
}

void KernelDensity::log_density(BatchView features, std::span<double> out, Workers& workers) {
  fill(features, out, workers, [&](BatchView rows, Index first, std::span<double> piece) {
    sums_->log_sums(rows, first, piece);
  });
}

void KernelDensity::add_detail(BatchView features, std::span<double> scores) const {
  const auto capacity = static_cast<double>(samples_for_bandwidth(buffer_->capacity()));
  const double samples = std::min(capacity, fine_->total());
  const double log_volume = maths::log(fine_->volume());
  for (Index i = 0; i < features.rows(); ++i) {
    double& score = scores[static_cast<std::size_t>(i)];
    const double counted = samples * fine_->share(features.row(i));
    const double expected = samples * maths::exp(score + log_volume);
    score += options_.detail * maths::log((1 + counted) / (1 + expected));
  }
}

std::string KernelDensity::description() const { return sums_->description(); }

void KernelDensity::identify(StateOptions& options) const {
  options_.space.identify(options);
  options.text("kde.kernel", name_of(options_.kernel));
  const auto capacity = buffer_->capacity();
  // Those at the beginning, where they follow the data.
  options.reals("kde.bandwidths",
                options_.bandwidth.resolve(options_.space, samples_for_bandwidth(capacity)));
  if (options_.bandwidth.follows_data() || options_.bandwidth.is_local()) {
    options.text("kde.rule", options_.bandwidth.text());
  }
  options.text("kde.method", name_of(method_for(options_, capacity)));
  options.real("kde.detail", options_.detail);
  options.text("kde.scores", options_.log_scores ? "logarithms" : "densities");
  options.integer("kde.buffer", buffer_->capacity());
  buffer_->identify(options);
}

void KernelDensity::save(StateWriter& out) const {
  buffer_->save(out);
  if (options_.bandwidth.follows_data()) {
    out.integer("kde.seen", seen_);
    out.integer("kde.next_fit", next_fit_);
    out.reals("kde.bandwidths_now", bandwidths_);
  }
  sums_->save(out);
  if (fine_) fine_->save(out);
}

void KernelDensity::load(StateReader& in) {
  buffer_->load(in);
  if (options_.bandwidth.follows_data()) {
    constexpr std::int64_t kMost = std::int64_t{1} << 62;
    seen_ = in.integer("kde.seen", 0, kMost);
    next_fit_ = in.integer("kde.next_fit", 0, kMost);
    auto bandwidths = bandwidths_;
    in.finite_reals("kde.bandwidths_now", bandwidths);
    for (std::size_t d = 0; d < bandwidths.size(); ++d) {
      const double width = options_.space.width(static_cast<Index>(d));
      if (!(bandwidths[d] >= 1e-9 * width && bandwidths[d] <= 1e9 * width)) {
        throw Error(ErrorKind::corrupt, "saved state: bandwidth", fmt::format("{}", bandwidths[d]),
                    "a part of the width of feature space");
      }
    }
    method_ = next_fit_ > 0 ? method_after_fit(options_, buffer_->capacity(), bandwidths)
                            : method_for(options_, buffer_->capacity());
    use_bandwidths(std::move(bandwidths));
  }
  sums_->load(in);
  if (fine_) fine_->load(in);
}

}  // namespace rarefy
