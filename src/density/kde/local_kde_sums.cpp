#include "density/kde/local_kde_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/maths.hpp"
#include "density/kde/exact_sum.hpp"
#include "rarefy/core/error.hpp"

namespace rarefy {

LocalKdeSums::LocalKdeSums(std::unique_ptr<KdeSums> pilot, std::unique_ptr<ClassSums> classes,
                           KernelCoordinates coordinates, FeatureBuffer& buffer)
    : pilot_(std::move(pilot)),
      sums_(std::move(classes)),
      coordinates_(std::move(coordinates)),
      buffer_(buffer),
      held_(0, static_cast<Index>(coordinates_.scale.size())) {
  seen_ = buffer_.contents().rows();
  if (seen_ == 0) return;
  Workers alone(1);
  begin_change();
  fit(alone);
  end_change(seen_, alone);
}

void LocalKdeSums::add(BatchView features, Workers& workers) {
  pilot_->add(features, workers);
  seen_ += features.rows();
  const auto changed = pilot_->changed();
  changed_.assign(changed.begin(), changed.end());
  std::sort(changed_.begin(), changed_.end());
  changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
  begin_change();
  if (seen_ >= next_fit_ && buffer_.contents().rows() > 0) {
    fit(workers);
  } else {
    classify(workers);
  }
  end_change(features.rows(), workers);
}

// Fits are as rare as those of KernelDensity::follow_data.
void LocalKdeSums::fit(Workers& workers) {
  next_fit_ = seen_ + seen_ / 2 + 1;
  const auto contents = buffer_.contents();
  ask_pilot(contents, workers);
  mean_ = 0.0;
  for (const double value : log_pilot_) mean_ += value / static_cast<double>(contents.rows());
  for (Index slot = 0; slot < contents.rows(); ++slot) {
    put(slot, LocalClasses::of(log_pilot_[static_cast<std::size_t>(slot)] - mean_));
  }
}

// What came with the last batch.
void LocalKdeSums::classify(Workers& workers) {
  came_.resize(0, held_.cols());
  for (const Index slot : changed_) came_.append(buffer_.contents().row(slot));
  ask_pilot(came_, workers);
  for (std::size_t i = 0; i < changed_.size(); ++i) {
    put(changed_[i], LocalClasses::of(log_pilot_[i] - mean_));
  }
}

// ln p of the pilot density, but for what all share. A feature's own kernel counts, so that it is
// never 0.
void LocalKdeSums::ask_pilot(BatchView features, Workers& workers) {
  log_pilot_.resize(static_cast<std::size_t>(features.rows()));
  pilot_->prepare(features.rows(), workers.threads());
  const double log_count = maths::log(static_cast<double>(pilot_->count()));
  workers.for_pieces(features.rows(), kQueriesAPiece, [&](Index first, Index count) {
    const auto out = std::span(log_pilot_)
                         .subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
    pilot_->log_sums(features.rows(first, count), first, out);
    for (double& value : out) value -= log_count;
  });
}

// Slots are filled in their order.
void LocalKdeSums::put(Index slot, Index number) {
  const auto now = buffer_.contents().row(slot);
  const auto s = static_cast<std::size_t>(slot);
  if (slot < held_.rows()) {
    const auto before = held_.row(slot);
    if (classes_[s] == number && std::equal(now.begin(), now.end(), before.begin())) return;
    exchanges_[static_cast<std::size_t>(classes_[s])].went.append(before);
    std::copy(now.begin(), now.end(), before.begin());
    classes_[s] = number;
  } else {
    held_.append(now);
    classes_.push_back(number);
  }
  exchanges_[static_cast<std::size_t>(number)].came.append(now);
}

void LocalKdeSums::begin_change() {
  held_.reserve(buffer_.capacity());
  classes_.reserve(static_cast<std::size_t>(buffer_.capacity()));
  for (auto& exchange : exchanges_) exchange.begin(held_.cols());
}

void LocalKdeSums::end_change(Index queries, Workers& workers) {
  sums_->change({.of_class = exchanges_, .contents = held_, .classes = classes_}, queries, workers);
}

void LocalKdeSums::log_sums(BatchView features, Index first, std::span<double> out) {
  sums_->log_sums(features, first, out);
  for (Index i = 0; i < features.rows(); ++i) {
    double& sum = out[static_cast<std::size_t>(i)];
    if (std::isnan(sum)) {
      sum = exact_local_log_sum(held_, classes_, coordinates_.scale, features.row(i));
    }
  }
}

std::string LocalKdeSums::description() const {
  return fmt::format("{}, kernels of {} widths", sums_->description(), LocalClasses::kCount);
}

std::vector<double> LocalKdeSums::multiples() const {
  std::vector<double> multiples;
  for (const auto number : classes_) multiples.push_back(LocalClasses::multiple(number));
  return multiples;
}

void LocalKdeSums::save(StateWriter& out) const {
  pilot_->save(out);
  out.integer("kde.local.seen", seen_);
  out.integer("kde.local.next_fit", next_fit_);
  out.real("kde.local.mean", mean_);
  out.integers("kde.local.classes", classes_);
  sums_->save(out);
}

void LocalKdeSums::load(StateReader& in) {
  constexpr std::int64_t kMost = std::int64_t{1} << 61;
  pilot_->load(in);
  seen_ = in.integer("kde.local.seen", 0, kMost);
  next_fit_ = in.integer("kde.local.next_fit", 0, 2 * kMost);
  mean_ = in.finite("kde.local.mean");
  const auto contents = buffer_.contents();
  classes_.assign(static_cast<std::size_t>(contents.rows()), 0);
  in.integers("kde.local.classes", classes_);
  for (const auto number : classes_) {
    if (number < 0 || number >= LocalClasses::kCount) {
      throw Error(ErrorKind::corrupt, "saved state: the width of a kernel", std::to_string(number),
                  fmt::format("0 to {}", LocalClasses::kCount - 1));
    }
  }
  held_.resize(contents.rows(), held_.cols());
  std::copy(contents.values().begin(), contents.values().end(), held_.values().begin());
  sums_->load(in, held_, classes_);
}

}  // namespace rarefy
