#include "rarefy/restarts/step_probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "core/maths.hpp"
#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

constexpr Index kRowsOnRung = 5;  // at least; with 15 emitters of 36 it is 24
constexpr double kUnboundedUnit = 10.0;
// The spread of a decade has risen when it is so many times what it was in the decade below.
constexpr double kRise = 1.5;
// By which parts of the widest spread is judged whether spreads creep. In proportion to steps they
// would go from the first to the last in a factor of three, and come to twice that as they bend.
constexpr double kSome = 0.3;
constexpr double kHalf = 0.5;
constexpr double kNearlyAll = 0.9;
constexpr double kCreepingFromSome = 8.0;
// Where spreads hardly rise any more, chance decides where they are nearly all.
constexpr double kWidestRange = 10;

double unit_of(const Bounds& bounds) {
  if (!bounds.any()) return kUnboundedUnit;
  double width = 0;
  for (std::size_t d = 0; d < bounds.lower.size(); ++d) {
    width = std::max(width, bounds.upper[d] - bounds.lower[d]);
  }
  return width;
}

// The mean of the three widest: the greatest of many would be great by chance.
double widest_of(std::vector<double> spreads) {
  std::partial_sort(spreads.begin(), spreads.begin() + 3, spreads.end(), std::greater<>());
  return (spreads[0] + spreads[1] + spreads[2]) / 3;
}

double root_mean_square(std::vector<double>::const_iterator first,
                        std::vector<double>::const_iterator last) {
  const double squares = std::inner_product(first, last, first, 0.0);
  return std::sqrt(squares / static_cast<double>(last - first));
}

StepProbeOptions checked(StepProbeOptions options) {
  if (options.starts.rows() < 1 || options.candidates < options.starts.rows()) {
    throw Error(ErrorKind::parameter, "step probe: emitters and candidates",
                fmt::format("{} and {}", options.starts.rows(), options.candidates),
                "at least one emitter, and a candidate for each");
  }
  const auto [least, most, part] = options.choice;
  if (!(least > 0 && least <= most && most <= 1)) {
    throw Error(ErrorKind::parameter, "step probe: parts of the widest spread",
                fmt::format("{} and {}", least, most), "0 < least <= most <= 1");
  }
  if (const double creeping = options.creeping_spread; !(creeping > 0 && creeping <= kNearlyAll)) {
    throw Error(ErrorKind::parameter, "step probe: part of a widest spread that creeps",
                fmt::format("{}", creeping), fmt::format("above 0 and at most {}", kNearlyAll));
  }
  if (!(part > 0) || !std::isfinite(part)) {
    throw Error(ErrorKind::parameter, "step probe: part of the step sizes", fmt::format("{}", part),
                "a number > 0");
  }
  return options;
}

}  // namespace

double StepRange::draw(RandomStream& random) const {
  const double low = maths::log(least);
  return maths::exp(low + random.uniform() * (maths::log(most) - low));
}

double StepRange::middle() const { return std::sqrt(least) * std::sqrt(most); }

StepProbe::StepProbe(StepProbeOptions options)
    : options_(checked(std::move(options))),
      unit_(unit_of(options_.bounds)),
      highest_(options_.bounds.any() ? kTop + 1 : kRungs),
      turns_(static_cast<std::size_t>(options_.starts.rows())),
      ladders_{{kBottom, kTop + 1}},
      from_(kBottom),
      to_(kTop + 1),
      tried_(kRungs),
      count_(kRungs),
      mean_(kRungs, options_.space.dim()),
      squares_(kRungs, options_.space.dim()) {
  learn();
}

bool StepProbe::probes(Index emitter) const {
  return !turns_[static_cast<std::size_t>(emitter)].done;
}

double StepProbe::step_of(std::int64_t rung) const {
  const auto decades = static_cast<double>(rung - kTop) / static_cast<double>(kRungsInDecade);
  return unit_ * maths::power(10.0, decades);
}

// Rows take turns on the rungs, those of all emitters and iterations together.
std::int64_t StepProbe::rung_of(Index emitter, std::uint64_t iteration, Index row) const {
  const auto& turn = turns_[static_cast<std::size_t>(emitter)];
  const auto& ladder = ladders_[static_cast<std::size_t>(turn.ladder)];
  const auto rungs = static_cast<std::uint64_t>(ladder.to - ladder.from);
  const auto candidates = static_cast<std::uint64_t>(options_.candidates);
  const auto number = (iteration % rungs) * (candidates % rungs) + static_cast<std::uint64_t>(row);
  return ladder.from + static_cast<std::int64_t>(number % rungs);
}

double StepProbe::told_on(const Ladder& ladder) const {
  return std::accumulate(tried_.begin() + ladder.from, tried_.begin() + ladder.to, 0.0);
}

// Some rows for every rung of the last ladder.
bool StepProbe::enough_told() const {
  const auto& last = ladders_.back();
  const auto wanted = static_cast<double>((last.to - last.from) * kRowsOnRung);
  return told_on(last) - told_before_ >= wanted;
}

void StepProbe::open(Ladder ladder) {
  closer_ = ladder.from >= from_ && ladder.to <= to_;
  told_before_ = told_on(ladder);
  ladders_.push_back(ladder);
  from_ = std::min(from_, ladder.from);
  to_ = std::max(to_, ladder.to);
}

// From half of where the range begins, by spread, to where it ends.
StepProbe::Ladder StepProbe::rungs_in_question() const {
  const auto all = spreads();
  const double widest = widest_of(all);
  const double low = where(all, 0.5 * kHalf * widest);
  const double high = range_known().most / options_.choice.part;
  Ladder found = {from_, from_ + 1};
  for (std::int64_t rung = from_; rung < to_; ++rung) {
    if (step_of(rung) <= low) found.from = rung;
    if (step_of(rung) <= high) found.to = rung + 1;
  }
  found.to = std::max(found.to, found.from + 1);
  return found;
}

void StepProbe::ask(Index emitter, std::uint64_t iteration, Index first_row, BatchSpan out) {
  const StreamKey key = {.seed = options_.seed,
                         .purpose = Purpose::probing,
                         .index = static_cast<std::uint32_t>(emitter),
                         .iteration = iteration};
  const auto centre = start(emitter);
  fill_normals(key, out.values());
  for (Index i = 0; i < out.rows(); ++i) {
    const double step = step_of(rung_of(emitter, iteration, first_row + i));
    const auto row = out.row(i);
    const auto place = [&] {
      for (std::size_t d = 0; d < row.size(); ++d) row[d] = centre[d] + step * row[d];
    };
    place();
    if (!options_.bounds.any()) continue;
    keep_inside(options_.bounds, key, i, row, [&](const StreamKey& again) {
      fill_normals(again, row);
      place();
    });
  }
}

void StepProbe::tell(Index emitter, std::uint64_t iteration, Index first_row, Index not_its_own,
                     BatchView features, std::span<const std::uint8_t> usable) {
  for (Index i = not_its_own; i < features.rows(); ++i) {
    const std::int64_t rung = rung_of(emitter, iteration, first_row + i);
    const auto at = static_cast<std::size_t>(rung);
    tried_[at] += 1;
    if (!usable.empty() && usable[static_cast<std::size_t>(i)] == 0) continue;
    count_[at] += 1;
    for (Index d = 0; d < features.cols(); ++d) {
      const auto dim = static_cast<std::size_t>(d);
      const double inside =
          std::clamp(features(i, d), options_.space.lower[dim], options_.space.upper[dim]);
      const double value = inside / options_.space.width(d);
      const double apart = value - mean_(rung, d);
      mean_(rung, d) += apart / count_[at];
      squares_(rung, d) += apart * (value - mean_(rung, d));
    }
  }
}

void StepProbe::too_large(Index emitter, std::uint64_t iteration, Index first_row,
                          std::span<std::uint8_t> out) const {
  // As long as little is known, what is large for a simulator of values near 1.
  const bool known = enough_told() || closer_;
  const double most = known ? range().most / options_.choice.part : unit_ / 10;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto row = first_row + static_cast<Index>(i);
    out[i] = step_of(rung_of(emitter, iteration, row)) > most ? 1 : 0;
  }
}

bool StepProbe::concludes(Index emitter) {
  Turn& turn = turns_[static_cast<std::size_t>(emitter)];
  if (turn.done) return false;
  if (enough_told()) {
    switch (verdict()) {
      case Verdict::known: turn.done = true; return true;
      case Verdict::look_above: open({to_, to_ + kMore}); break;
      case Verdict::look_below: open({from_ - kMore, from_}); break;
      case Verdict::look_closer: open(rungs_in_question()); break;
    }
  }
  turn.ladder = static_cast<std::int64_t>(ladders_.size()) - 1;
  return false;
}

// Of each rung; 0 where nothing is known. The logarithms are smoothed over neighbours, with weights
// 1, 2, 1: a few rows on a rung do not tell much, and more neighbours would blur the bend.
std::vector<double> StepProbe::spreads() const {
  std::vector<double> raw(kRungs, 0.0), smooth(kRungs, 0.0);
  const auto features = static_cast<double>(options_.space.dim());
  for (std::int64_t rung = from_; rung < to_; ++rung) {
    const auto at = static_cast<std::size_t>(rung);
    if (count_[at] < 2 || 2 * count_[at] < tried_[at]) continue;
    double sum = 0;
    for (Index d = 0; d < options_.space.dim(); ++d) sum += squares_(rung, d);
    raw[at] = std::sqrt(sum / (features * (count_[at] - 1)));
  }
  for (std::int64_t rung = from_; rung < to_; ++rung) {
    double sum = 0, weights = 0;
    if (!(raw[static_cast<std::size_t>(rung)] > 0)) continue;
    for (std::int64_t other = std::max(from_, rung - 1); other < std::min(to_, rung + 2); ++other) {
      const double spread = raw[static_cast<std::size_t>(other)];
      const double weight = other == rung ? 2.0 : 1.0;
      if (!(spread > 0)) continue;
      sum += weight * maths::log(spread);
      weights += weight;
    }
    smooth[static_cast<std::size_t>(rung)] = maths::exp(sum / weights);
  }
  return smooth;
}

StepProbe::Verdict StepProbe::verdict() const {
  if (closer_) return Verdict::known;
  const auto all = spreads();
  const auto at = [&](std::int64_t rung) { return all.begin() + rung; };
  const double widest = widest_of(all);
  // Decades, not rungs: of a few rows, one that is far out makes a rung the widest by chance.
  const double below = root_mean_square(at(to_ - 2 * kRungsInDecade), at(to_ - kRungsInDecade));
  const double top = root_mean_square(at(to_ - kRungsInDecade), at(to_));
  if (to_ < highest_ && (widest == 0 || top > kRise * below)) return Verdict::look_above;
  if (from_ > 0 && *at(from_) >= options_.choice.least_spread * widest && widest > 0) {
    return Verdict::look_below;
  }
  return creeps(all, widest) ? Verdict::look_closer : Verdict::known;
}

// What was looked at more closely because it crept is not judged anew.
bool StepProbe::creeps(std::span<const double> spreads, double widest) const {
  if (!(widest > 0)) return false;
  const double all = where(spreads, kNearlyAll * widest);
  return closer_ || all > kCreeping * where(spreads, kHalf * widest) ||
         all > kCreepingFromSome * where(spreads, kSome * widest);
}

// The least step with that spread, between rungs by a straight line through logarithms.
double StepProbe::where(std::span<const double> spreads, double wanted) const {
  std::int64_t last = -1;  // the last rung below of which something is known
  for (std::int64_t rung = from_; rung < to_; ++rung) {
    const double here = spreads[static_cast<std::size_t>(rung)];
    if (!(here > 0)) continue;
    if (here < wanted) {
      last = rung;
      continue;
    }
    if (last < 0) return step_of(rung);
    const double before = maths::log(spreads[static_cast<std::size_t>(last)]);
    const double part = (maths::log(wanted) - before) / (maths::log(here) - before);
    const double low = maths::log(step_of(last));
    return maths::exp(low + part * (maths::log(step_of(rung)) - low));
  }
  return step_of(to_ - 1);
}

StepRange StepProbe::range_known() const {
  const auto all = spreads();
  const double widest = widest_of(all);
  // No step of any size changes anything: one is as good as another.
  const auto [least_spread, most_spread, part] = options_.choice;
  if (!(widest > 0)) return {part * unit_ / 10, part * unit_ / 10};
  const bool creeping = creeps(all, widest);
  const double least = where(all, (creeping ? options_.creeping_spread : least_spread) * widest);
  const double most = where(all, (creeping ? kNearlyAll : most_spread) * widest);
  return {part * least, part * std::min(most, kWidestRange * least)};
}

void StepProbe::identify(StateOptions& options) const {
  options.integer("step_probe.candidates", options_.candidates);
  options.real("step_probe.unit", unit_);
  options.real("step_probe.least_spread", options_.choice.least_spread);
  options.real("step_probe.most_spread", options_.choice.most_spread);
  options.real("step_probe.creeping_spread", options_.creeping_spread);
  options.real("step_probe.part", options_.choice.part);
  options.reals("step_probe.starts", options_.starts.view().values());
}

void StepProbe::save(StateWriter& out) const {
  std::vector<std::int64_t> turns, ladders;
  for (const Turn& turn : turns_) {
    turns.insert(turns.end(), {turn.ladder, turn.done ? 1 : 0});
  }
  for (const Ladder& ladder : ladders_) ladders.insert(ladders.end(), {ladder.from, ladder.to});
  out.integer("step_probe.ladders", static_cast<std::int64_t>(ladders_.size()));
  out.integers("step_probe.rungs", ladders);
  out.integers("step_probe.turns", turns);
  out.real("step_probe.told_before", told_before_);
  out.reals("step_probe.tried", tried_);
  out.reals("step_probe.count", count_);
  out.reals("step_probe.mean", mean_.values());
  out.reals("step_probe.squares", squares_.values());
}

void StepProbe::load(StateReader& in) {
  const auto corrupt = [](std::string_view what) {
    return Error(ErrorKind::corrupt, fmt::format("saved state: {}", what));
  };
  const auto count = in.integer("step_probe.ladders", 1, 1 + kBelow + kAbove + 1);
  std::vector<std::int64_t> rungs(static_cast<std::size_t>(2 * count)), turns(2 * turns_.size());
  in.integers("step_probe.rungs", rungs);
  in.integers("step_probe.turns", turns);
  told_before_ = in.finite("step_probe.told_before");
  closer_ = false;
  ladders_.clear();
  from_ = kBottom;
  to_ = kTop + 1;
  for (std::size_t i = 0; i < rungs.size(); i += 2) {
    const Ladder ladder = {rungs[i], rungs[i + 1]};
    const bool first = i == 0 && ladder.from == kBottom && ladder.to == kTop + 1;
    const bool above = i > 0 && ladder.from == to_ && ladder.to == to_ + kMore;
    const bool below = i > 0 && ladder.to == from_ && ladder.from == from_ - kMore;
    const bool closer =
        i > 0 && ladder.from >= from_ && ladder.from < ladder.to && ladder.to <= to_;
    if (!(first || above || below || closer) || closer_ || ladder.from < 0 ||
        ladder.to > highest_) {
      throw corrupt("ladders of step sizes that do not fit together");
    }
    closer_ = closer;
    from_ = std::min(from_, ladder.from);
    to_ = std::max(to_, ladder.to);
    ladders_.push_back(ladder);
  }
  for (std::size_t e = 0; e < turns_.size(); ++e) {
    const Turn turn = {turns[2 * e], turns[2 * e + 1] == 1};
    if (turn.ladder < 0 || turn.ladder >= count || turns[2 * e + 1] < 0 || turns[2 * e + 1] > 1) {
      throw corrupt("an emitter that probes step sizes no ladder has");
    }
    turns_[e] = turn;
  }
  in.finite_reals("step_probe.tried", tried_);
  in.finite_reals("step_probe.count", count_);
  in.finite_reals("step_probe.mean", mean_.values());
  in.finite_reals("step_probe.squares", squares_.values());
  const auto squares = squares_.view().values();
  const bool sums = std::all_of(squares.begin(), squares.end(), [](double s) { return s >= 0; });
  for (std::size_t i = 0; i < count_.size(); ++i) {
    if (!(count_[i] >= 0 && count_[i] <= tried_[i]) || !sums) {
      throw corrupt("sums of probed step sizes that cannot be");
    }
  }
  if (!(told_before_ >= 0 && told_before_ <= told_on(ladders_.back()))) {
    throw corrupt("more rows told of probed step sizes before than in all");
  }
  learn();
}

}  // namespace rarefy
