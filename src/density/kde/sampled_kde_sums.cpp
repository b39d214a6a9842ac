#include "density/kde/sampled_kde_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "core/at.hpp"
#include "core/maths.hpp"
#include "rarefy/core/text.hpp"

namespace rarefy {
namespace {

constexpr double kBreadth = 0.5;                         // of a lure; the kernel's is 1
constexpr double kSteepest = kBreadth / (1 - kBreadth);  // g of the class comment
constexpr Index kFew = 4;                                // candidates that are not parted any more
constexpr Index kRoom = 2 * SampledKdeSums::kSample;
// How large a lure is on the whole is estimated from one stretch of features of so many.
constexpr Index kEvery = 8;
// Lures far from all features, whose terms single precision may not hold, choose nothing.
constexpr double kLeast = 0x1p-40;
// A group is not tried where, for many of it, a feature may be 2^kWide times as heavy as expected.
constexpr double kWide = 12;

bool many(Index some, Index all) { return 4 * some > all; }

// Marks differ from group to group, so that no feature is passed over for ever.
std::uint32_t offset_of(const float* place, Index dims) {
  std::uint32_t hash = 2166136261U;  // FNV-1a, by words
  for (Index d = 0; d < dims; ++d) {
    hash = (hash ^ std::bit_cast<std::uint32_t>(place[d])) * 16777619U;
  }
  return hash * 2654435769U;
}

// Groups that a batch is parted into may come to so many.
constexpr Index kMostGroups = kernels::kMostLures * SampledKdeSums::kGroup;

}  // namespace

double SampledKdeSums::scratch_bytes(Index dims, Index queries) {
  const auto room = static_cast<double>(kRoom + 2 * kernels::kStretch);
  const double choices = kernels::kMostLures * (sizeof(std::int32_t) + sizeof(float));
  const double points = static_cast<double>(1 + dims) * sizeof(float);
  const Index tasks = (queries + kGroup - 1) / kGroup;  // at most
  return static_cast<double>(tasks) * room * (choices + points);
}

SampledKdeSums::SampledKdeSums(KernelCoordinates coordinates, FeatureBuffer& buffer)
    : DirectKdeSums(Kernel::gaussian, std::move(coordinates), buffer) {}

SampledKdeSums::Scratch SampledKdeSums::make_scratch() const {
  const Index dims = points().dims();
  const std::size_t room = at(kRoom + kernels::kStretch);
  constexpr std::size_t kLures = kernels::kMostLures;
  Scratch scratch;
  scratch.waiting.reserve(at(kMostGroups));
  scratch.tried.reserve(kLures);
  scratch.places.resize(kLures * at(dims));
  scratch.chosen.resize(kLures * room);
  scratch.chances.resize(kLures * room);
  scratch.choices.resize(kLures);
  for (std::size_t l = 0; l < kLures; ++l) {
    scratch.choices[l] = {.points = scratch.chosen.data() + l * room,
                          .chances = scratch.chances.data() + l * room,
                          .most = kRoom};
  }
  scratch.weights.resize(room);
  scratch.variances.resize(at(kGroup));
  scratch.points = kernels::PointColumns(dims);
  scratch.points.reserve(kRoom);
  return scratch;
}

void SampledKdeSums::prepare(Index queries, Index threads) {
  DirectKdeSums::prepare(queries, threads);
  // Every thread has something to do, and then as many groups as can look at the features together.
  const Index groups = (queries + kGroup - 1) / kGroup;
  groups_a_task_ = std::clamp<Index>((groups + threads - 1) / threads, 1, kernels::kMostLures);
  const std::size_t tasks = at((groups + groups_a_task_ - 1) / groups_a_task_);
  if (count() < kWorth) return;
  while (scratch_.size() < tasks) scratch_.push_back(make_scratch());
}

void SampledKdeSums::log_scores(BatchView features, Index first, std::span<double> out) {
  if (count() < kWorth) return log_sums(features, first, out);
  place_queries(features, first);
  Scratch& scratch = scratch_[at(first / queries_a_task())];
  const Group all = {queries(first), sums(first), features.rows()};
  // The last are tried first; which are tried together makes no difference.
  for (Index row = 0; row < all.count; row += kGroup) {
    scratch.waiting.push_back(part(all, row, std::min(kGroup, all.count - row)));
  }
  while (!scratch.waiting.empty()) try_some(scratch);
  take_logarithms(features, first, out);
}

SampledKdeSums::Group SampledKdeSums::part(const Group& group, Index first, Index count) const {
  return {group.queries + first * points().dims(), group.sums + first, count};
}

// As many of those that wait as there are lures.
void SampledKdeSums::try_some(Scratch& scratch) const {
  scratch.tried.clear();
  while (!scratch.waiting.empty() && scratch.tried.size() < scratch.choices.size()) {
    const Group group = scratch.waiting.back();
    scratch.waiting.pop_back();
    float* const place = scratch.places.data() + scratch.tried.size() * at(points().dims());
    find_place(group, place);
    if (near_each_other(group, place)) {
      scratch.tried.push_back(group);
    } else {
      part_or_sum(group, scratch);
    }
  }
  choose(scratch);
  for (std::size_t l = 0; l < scratch.tried.size(); ++l) {
    const float* const place = scratch.places.data() + l * at(points().dims());
    if (!sum_chosen(scratch.tried[l], place, scratch.choices[l], scratch)) {
      part_or_sum(scratch.tried[l], scratch);
    }
  }
}

void SampledKdeSums::part_or_sum(const Group& group, Scratch& scratch) const {
  if (group.count <= kFew) return sum(group.queries, group.count, group.sums);
  const Index half = group.count / 2;
  scratch.waiting.push_back(part(group, 0, half));
  scratch.waiting.push_back(part(group, half, group.count - half));
}

void SampledKdeSums::find_place(const Group& group, float* place) const {
  const Index dims = points().dims();
  for (Index d = 0; d < dims; ++d) {
    double total = 0;
    for (Index i = 0; i < group.count; ++i) {
      total += static_cast<double>(group.queries[i * dims + d]);
    }
    place[d] = static_cast<float>(total / static_cast<double>(group.count));
  }
}

// g e^2 of the class comment.
double SampledKdeSums::exponent(const float* query, const float* place) const {
  double squared = 0;
  for (Index d = 0; d < points().dims(); ++d) {
    const double apart = static_cast<double>(query[d]) - static_cast<double>(place[d]);
    squared += apart * apart;
  }
  return kSteepest * squared;
}

bool SampledKdeSums::near_each_other(const Group& group, const float* place) const {
  if (group.count <= kFew) return false;
  Index wide = 0;
  for (Index i = 0; i < group.count; ++i) {
    if (!(exponent(group.queries + i * points().dims(), place) <= kWide)) ++wide;
  }
  return !many(wide, group.count);
}

void SampledKdeSums::choose(Scratch& scratch) const {
  const kernels::Lures lures = {.places = scratch.places.data(),
                                .count = static_cast<std::ptrdiff_t>(scratch.tried.size()),
                                .breadth = static_cast<float>(kBreadth)};
  const auto wanted = static_cast<double>(kSample);
  std::array<float, kernels::kMostLures> most{};
  std::array<double, kernels::kMostLures> totals{}, limited{};
  most.fill(1.0F);
  kernels::sums_of_lured(points(), lures, kEvery, most.data(), totals.data());
  for (std::size_t l = 0; l < totals.size(); ++l) {
    most[l] = totals[l] >= kLeast ? static_cast<float>(totals[l] / wanted) : 1.0F;
  }
  // With chances of at most 1 fewer would come than that, so the rate goes up by what they leave:
  // from wanted / total to wanted / (sum of terms, of at most total / wanted each).
  kernels::sums_of_lured(points(), lures, kEvery, most.data(), limited.data());
  for (std::size_t l = 0; l < scratch.tried.size(); ++l) {
    kernels::Chosen& choice = scratch.choices[l];
    choice.rate = totals[l] >= kLeast ? static_cast<float>(wanted / limited[l]) : 0.0F;
    choice.offset =
        offset_of(lures.places + static_cast<Index>(l) * points().dims(), points().dims());
  }
  kernels::choose_lured(points(), lures, scratch.choices.data());
}

// The points of a choice, with their weights.
void SampledKdeSums::gather(const kernels::Chosen& choice, Scratch& scratch) const {
  const auto by_chance = static_cast<double>(choice.count - choice.sure);
  const double correction = by_chance > 0 ? choice.expected / by_chance : 1.0;
  scratch.points.resize(choice.count);
  copy_points({choice.points, at(choice.count)}, scratch.points);
  for (Index i = 0; i < choice.count; ++i) {
    const float chance = choice.chances[i];
    scratch.weights[at(i)] =
        chance < 1 ? static_cast<float>(correction / static_cast<double>(chance)) : 1.0F;
  }
  std::fill_n(scratch.weights.begin() + choice.count, kernels::kStretch, 0.0F);
}

// False where many of the sums cannot be had from these points; the few others are summed over all.
bool SampledKdeSums::sum_chosen(const Group& group, const float* place,
                                const kernels::Chosen& choice, Scratch& scratch) const {
  if (choice.count == 0 || choice.count > choice.most) return false;
  gather(choice, scratch);
  kernels::weighted_gaussian_sums(scratch.points, scratch.weights.data(), group.queries,
                                  group.count, group.sums, scratch.variances.data());
  const auto good = [&](Index i) {
    const double sum = group.sums[i];
    const double heaviest = maths::exp2(exponent(group.queries + i * points().dims(), place)) /
                            static_cast<double>(choice.rate);
    return sum >= kFarTail && heaviest <= kHeaviest * sum &&
           scratch.variances[at(i)] <= kError * kError * sum * sum;
  };
  Index bad = 0;
  for (Index i = 0; i < group.count; ++i) bad += good(i) ? 0 : 1;
  if (many(bad, group.count)) return false;
  for (Index i = 0; bad > 0 && i < group.count; ++i) {
    if (good(i)) continue;
    const Group alone = part(group, i, 1);
    sum(alone.queries, 1, alone.sums);
  }
  return true;
}

std::string SampledKdeSums::description() const {
  return fmt::format("samples of {} of the buffer", with_commas(kSample));
}

}  // namespace rarefy
