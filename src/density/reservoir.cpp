#include "rarefy/density/reservoir.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/large_pages.hpp"
#include "core/maths.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/random.hpp"

namespace rarefy {
namespace {

// The slots of a large reservoir are all over memory; while the next ones are drawn there is
// time to fetch what is in them.
void prefetch([[maybe_unused]] const double* address) {
#if defined(__GNUC__)
  __builtin_prefetch(address);
#endif
}

}  // namespace

Reservoir::Reservoir(const ReservoirOptions& options) : options_(options) {
  if (options.feature_dim < 1) {
    throw Error(ErrorKind::parameter, "reservoir: feature dimension",
                std::to_string(options.feature_dim), "at least 1");
  }
  if (options.capacity < 0) {
    throw Error(ErrorKind::parameter, "buffer", std::to_string(options.capacity),
                "a number of features, or 0 for no limit");
  }
  rows_.resize(0, options.feature_dim);
  if (options.capacity > 0) {
    draw_skip();
    next_ += options.capacity;  // the first `capacity` items are taken as they come
  }
}

// Li 1994, Algorithm L:  W *= U^(1/k);  skip floor(ln U' / ln(1 - W)) items and take the next.
void Reservoir::draw_skip() {
  RandomStream random({.seed = options_.seed,
                       .purpose = Purpose::reservoir,
                       .index = 0,
                       .iteration = static_cast<std::uint64_t>(draws_++)});
  const auto k = static_cast<double>(options_.capacity);
  w_ *= maths::exp(maths::log(random.uniform_open()) / k);
  const double skip = std::floor(maths::log(random.uniform_open()) / maths::log1p(-w_));
  constexpr double kForever = 0x1p62;  // W so small that no further item is taken
  const auto bounded = static_cast<std::int64_t>(skip < kForever ? skip : kForever);
  next_ = std::min(next_, std::numeric_limits<std::int64_t>::max() - bounded) + bounded;
  slot_ = static_cast<Index>(random.below(static_cast<std::uint64_t>(options_.capacity)));
}

// Memory for so many rows, when there are some to put into it.
void Reservoir::make_room(Index rows) {
  if (rows <= room_) return;
  rows_.reserve(rows);
  prefer_large_pages(rows_.data(),
                     sizeof(double) * static_cast<std::size_t>(rows * options_.feature_dim));
  room_ = rows;
}

void Reservoir::add(BatchView features, std::vector<Index>& changed, Exchange* exchange) {
  const Index count = features.rows();
  if (exchange != nullptr) exchange->begin(options_.feature_dim);
  make_room(options_.capacity);
  Index first = 0;
  while (first < count && (options_.capacity == 0 || rows_.rows() < options_.capacity)) {
    changed.push_back(rows_.rows());
    if (exchange != nullptr) exchange->came.append(features.row(first));
    rows_.append(features.row(first++));
  }
  if (options_.capacity > 0) {
    replacements_.clear();
    replacements_.reserve(static_cast<std::size_t>(count));
    while (next_ < seen_ + count) {
      replacements_.push_back({static_cast<Index>(next_ - seen_), slot_});
      prefetch(rows_.row(slot_).data());
      ++next_;
      draw_skip();
    }
    for (const auto& [item, slot] : replacements_) {
      const auto row = features.row(item);
      if (exchange != nullptr) {
        exchange->came.append(row);
        exchange->went.append(rows_.view().row(slot));
      }
      std::copy(row.begin(), row.end(), rows_.row(slot).begin());
      changed.push_back(slot);
    }
  }
  seen_ += count;
}

void Reservoir::identify(StateOptions& options) const {
  options.integer("reservoir.feature_dim", options_.feature_dim);
  options.integer("reservoir.capacity", options_.capacity);
  options.word("reservoir.seed", options_.seed);
}

void Reservoir::save(StateWriter& out) const {
  out.integer("reservoir.seen", seen_);
  out.integer("reservoir.next", next_);
  out.integer("reservoir.draws", draws_);
  out.real("reservoir.w", w_);
  out.integer("reservoir.slot", slot_);
  out.reals("reservoir.rows", rows_.values());
}

void Reservoir::load(StateReader& in) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  seen_ = in.integer("reservoir.seen", 0, std::int64_t{1} << 62);
  next_ = in.integer("reservoir.next", 0, kMost);
  draws_ = in.integer("reservoir.draws", 0, std::int64_t{1} << 62);
  w_ = in.finite("reservoir.w");
  slot_ = static_cast<Index>(
      in.integer("reservoir.slot", 0, std::max<std::int64_t>(options_.capacity - 1, 0)));
  // How many rows there must be follows from what was seen; nothing is replaced before all
  // slots are filled.
  const auto held =
      options_.capacity == 0 ? seen_ : std::min<std::int64_t>(seen_, options_.capacity);
  if (options_.capacity > 0 &&
      (next_ < std::max<std::int64_t>(seen_, options_.capacity) || !(w_ >= 0 && w_ <= 1))) {
    throw Error(ErrorKind::corrupt, "saved state: the reservoir's counters contradict each other");
  }
  const auto width = options_.feature_dim;
  if (held > kMost / width) {
    throw Error(ErrorKind::corrupt, "saved state: items seen by the reservoir",
                std::to_string(held), "as many as could be held");
  }
  const auto values = in.reals_up_to("reservoir.rows", static_cast<std::size_t>(held * width));
  if (static_cast<std::int64_t>(values.size()) != held * width ||
      !std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); })) {
    throw Error(ErrorKind::corrupt, "saved state: the reservoir's rows",
                std::to_string(values.size()) + " values",
                std::to_string(held * width) + " finite ones");
  }
  make_room(static_cast<Index>(held));
  rows_.resize(static_cast<Index>(held), width);
  std::copy(values.begin(), values.end(), rows_.data());
}

}  // namespace rarefy
