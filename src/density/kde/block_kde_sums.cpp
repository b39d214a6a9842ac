#include "density/kde/block_kde_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "core/maths.hpp"
#include "density/kde/exact_sum.hpp"
#include "density/kde/neighbourhoods.hpp"
#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

constexpr Index kSize = kernels::PointBlocks::kSize;

// As in direct sums: below, single precision may not hold the terms.
constexpr double kSureAbove = 0x1p-60;

// Making blocks takes as long as so many terms of direct sums for each feature.
constexpr std::int64_t kTermsAFeature = 800;

Index blocks_for(Index features) { return (features + kSize - 1) / kSize; }

}  // namespace

BlockKdeSums::BlockKdeSums(KernelCoordinates coordinates, FeatureBuffer& buffer)
    : coordinates_(std::move(coordinates)),
      buffer_(buffer),
      dims_(static_cast<Index>(coordinates_.scale.size())),
      blocks_(dims_),
      fresh_(dims_),
      point_(coordinates_.scale.size()) {
  place_.resize(static_cast<std::size_t>(buffer_.contents().rows()));
  make_blocks();
}

// Relative to the centre of feature space first, in double precision, so that single precision
// has only the box to cover.
void BlockKdeSums::coordinates_of(std::span<const double> features, float* out) const {
  for (std::size_t d = 0; d < features.size(); ++d) {
    out[d] = static_cast<float>((features[d] - coordinates_.centre[d]) * coordinates_.scale[d]);
  }
}

void BlockKdeSums::put_into_blocks(Index slot, Index at) {
  coordinates_of(buffer_.contents().row(slot), point_.data());
  blocks_.set(at, point_);
  place_[static_cast<std::size_t>(slot)] = at;
}

void BlockKdeSums::put_into_fresh(Index slot, Index at) {
  if (at >= fresh_.count()) fresh_.resize(at + 1);
  coordinates_of(buffer_.contents().row(slot), point_.data());
  for (Index d = 0; d < dims_; ++d) fresh_.set(at, d, point_[static_cast<std::size_t>(d)]);
  place_[static_cast<std::size_t>(slot)] = fresh_place(at);
}

void BlockKdeSums::take_over(Index slot) {
  if (slot >= count()) {  // slots are filled one after the other
    place_.push_back(0);
    put_into_fresh(slot, fresh_.count());
    return;
  }
  const Index place = place_[static_cast<std::size_t>(slot)];
  if (place < 0) return put_into_fresh(slot, fresh_place(place));
  blocks_.clear(place);
  // Boxes always fit what is in the blocks, so that they need not be saved.
  blocks_.fit(place / kSize);
  put_into_fresh(slot, fresh_.count());
}

void BlockKdeSums::make_blocks() {
  const Index features = count();
  points_.resize(static_cast<std::size_t>(features * dims_));
  order_.resize(static_cast<std::size_t>(features));
  std::iota(order_.begin(), order_.end(), Index{0});
  for (Index slot = 0; slot < features; ++slot) {
    coordinates_of(buffer_.contents().row(slot), points_.data() + slot * dims_);
  }
  arrange_neighbourhoods(points_, dims_, kSize, order_);
  blocks_.reset(blocks_for(features));
  for (Index at = 0; at < features; ++at) put_into_blocks(order_[static_cast<std::size_t>(at)], at);
  for (Index block = 0; block < blocks_.count(); ++block) blocks_.fit(block);
  fresh_.resize(0);
  spent_ = 0;
}

void BlockKdeSums::add(BatchView features, Workers& /*workers*/) {
  if (const Index most = buffer_.capacity(); most > 0) {
    const auto size = static_cast<std::size_t>(most);
    blocks_.reserve(blocks_for(most));
    fresh_.reserve(most);
    for (auto* numbers : {&place_, &changed_, &order_}) numbers->reserve(size);
    points_.reserve(size * static_cast<std::size_t>(dims_));
  }
  changed_.clear();
  buffer_.add(features, changed_);
  for (const Index slot : changed_) take_over(slot);
  // As many queries as this time will come before the next batch does. Once fresh features have
  // cost as much as new blocks, there are new blocks.
  spent_ += fresh_.count() * features.rows();
  if (spent_ >= kTermsAFeature * count()) make_blocks();
}

void BlockKdeSums::prepare(Index queries, Index /*threads*/) {
  const auto rows = static_cast<std::size_t>(queries);
  if (sums_.size() < rows) {
    sums_.resize(rows);
    queries_.resize(rows * static_cast<std::size_t>(dims_));
  }
  const auto pieces = static_cast<std::size_t>((queries + kQueriesAPiece - 1) / kQueriesAPiece);
  if (scratch_.size() < pieces) scratch_.resize(pieces);
  for (std::size_t i = 0; i < pieces; ++i) scratch_[i].make_room(blocks_);
}

void BlockKdeSums::log_sums(BatchView features, Index first, std::span<double> out) {
  float* const queries = queries_.data() + first * dims_;
  double* const sums = sums_.data() + first;
  for (Index i = 0; i < features.rows(); ++i) {
    coordinates_of(features.row(i), queries + i * dims_);
  }
  kernels::gaussian_sums(fresh_, queries, features.rows(), sums);
  kernels::gaussian_block_sums(blocks_, queries, features.rows(), kTolerance,
                               scratch_[static_cast<std::size_t>(first / kQueriesAPiece)], sums);
  for (Index i = 0; i < features.rows(); ++i) {
    out[static_cast<std::size_t>(i)] = sums[i] >= kSureAbove
                                           ? maths::log(sums[i])
                                           : exact_log_sum(Kernel::gaussian, buffer_.contents(),
                                                           coordinates_.scale, features.row(i));
  }
}

std::string BlockKdeSums::description() const { return fmt::format("blocks of {}", kSize); }

// When the blocks were made decides in which order terms are added up.
void BlockKdeSums::save(StateWriter& out) const {
  out.integer("blocks.count", blocks_.count());
  out.integer("blocks.spent", spent_);
  out.real("blocks.longest", static_cast<double>(blocks_.longest()));
  out.integers("blocks.places", place_);
}

void BlockKdeSums::load(StateReader& in) {
  const Index features = buffer_.contents().rows();
  const Index blocks = in.integer("blocks.count", 0, blocks_for(features));
  const std::int64_t spent = in.integer("blocks.spent", 0, kTermsAFeature * features);
  const auto longest = static_cast<float>(in.real("blocks.longest"));
  std::vector<Index> places(static_cast<std::size_t>(features));
  in.integers("blocks.places", places);
  // Each place of the blocks holds one feature at most, and the fresh ones have no gap.
  std::vector<Index> slot_at(static_cast<std::size_t>(blocks * kSize), -1);
  std::vector<Index> fresh(places.size(), -1);
  Index fresh_count = 0;
  for (Index slot = 0; slot < features; ++slot) {
    const Index place = places[static_cast<std::size_t>(slot)];
    auto& holders = place < 0 ? fresh : slot_at;
    const Index at = place < 0 ? fresh_place(place) : place;
    if (at < 0 || at >= static_cast<Index>(holders.size()) ||
        holders[static_cast<std::size_t>(at)] >= 0) {
      throw Error(ErrorKind::corrupt, "saved state: place of a feature in the blocks",
                  std::to_string(place), "one that no other feature has");
    }
    holders[static_cast<std::size_t>(at)] = slot;
    if (place < 0) ++fresh_count;
  }
  fresh.resize(static_cast<std::size_t>(fresh_count));
  if (std::find(fresh.begin(), fresh.end(), -1) != fresh.end()) {
    throw Error(ErrorKind::corrupt, "saved state: features that are not in the blocks have gaps");
  }
  place_ = std::move(places);
  blocks_.reset(blocks);
  for (Index at = 0; at < blocks * kSize; ++at) {
    const Index slot = slot_at[static_cast<std::size_t>(at)];
    if (slot >= 0) put_into_blocks(slot, at);
  }
  for (Index block = 0; block < blocks; ++block) blocks_.fit(block);
  blocks_.note_length(longest);
  fresh_.resize(0);
  for (Index at = 0; at < fresh_count; ++at) {
    put_into_fresh(fresh[static_cast<std::size_t>(at)], at);
  }
  spent_ = spent;
}

}  // namespace rarefy
