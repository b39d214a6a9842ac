#include "rarefy/emitters/evolution_strategy_emitter.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace rarefy {
namespace {

// What the ranking went by, as far as its range is concerned: none where that says nothing. For
// part of a batch, the best and the worst, written to `ends`.
std::span<const double> compared_scores(const Feedback& feedback, std::array<double, 2>& ends) {
  // Scores that say nothing are all equal, which must not be taken for a flat landscape.
  if (!feedback.informed || feedback.ranked < 2) return {};
  const bool none_outside = feedback.outside == 0;
  if (none_outside && feedback.ranked == static_cast<Index>(feedback.order.size())) {
    return feedback.scores;
  }
  // Being inside or outside is a difference in itself; among those outside, distances rank.
  if (!none_outside && feedback.outside < feedback.ranked) return {};
  const auto values = none_outside ? feedback.scores : feedback.distances;
  const auto value_at = [&](Index place) {
    const Index row = feedback.order[static_cast<std::size_t>(place)];
    return values[static_cast<std::size_t>(row)];
  };
  ends = {value_at(0), value_at(feedback.ranked - 1)};
  return ends;
}

}  // namespace

EvolutionStrategyEmitter::EvolutionStrategyEmitter(std::unique_ptr<EvolutionStrategy> optimizer,
                                                   std::uint64_t seed, std::uint32_t index,
                                                   const StopTests& stop_tests, Selection selection)
    : optimizer_(std::move(optimizer)),
      seed_(seed),
      index_(index),
      stop_tests_(stop_tests),
      selection_(selection) {}

void EvolutionStrategyEmitter::ask(const Archive& /*archive*/, std::uint64_t iteration,
                                   BatchSpan out) {
  optimizer_->ask(
      {.seed = seed_, .purpose = Purpose::sampling, .index = index_, .iteration = iteration}, out);
}

// Rows 2i and 2i + 1 mirror each other. Returns how many pairs have a row that is ranked.
Index EvolutionStrategyEmitter::put_better_of_pairs_first(const Feedback& feedback) {
  const auto rows = feedback.order.size();
  pairs_first_.clear();
  pairs_first_.reserve(rows);
  pair_seen_.assign((rows + 1) / 2, 0);
  for (Index place = 0; place < feedback.ranked; ++place) {
    const Index row = feedback.order[static_cast<std::size_t>(place)];
    auto& seen = pair_seen_[static_cast<std::size_t>(row / 2)];
    if (seen == 0) pairs_first_.push_back(row);
    seen = 1;
  }
  const auto pairs = static_cast<Index>(pairs_first_.size());
  pairs_first_.resize(rows);  // of the others no more is known than that they are no parents
  return pairs;
}

bool EvolutionStrategyEmitter::tell(const Feedback& feedback) {
  if (selection_ == Selection::paired) {
    const Index pairs = put_better_of_pairs_first(feedback);
    optimizer_->tell(feedback.solutions, pairs_first_, std::min(batch() / 2, pairs));
  } else {
    const Index parents = selection_ == Selection::filter ? feedback.accepted
                                                          : std::min(batch() / 2, feedback.ranked);
    optimizer_->tell(feedback.solutions, feedback.order, parents);
  }
  std::array<double, 2> ends{};
  return optimizer_->stop(compared_scores(feedback, ends), stop_tests_) != Stop::none;
}

void EvolutionStrategyEmitter::identify(StateOptions& options) const {
  options.word("emitter.seed", seed_);
  options.integer("emitter.index", index_);
  options.text("emitter.selection", name_of(selection_));
  options.real("emitter.stop_condition", stop_tests_.condition);
  options.real("emitter.stop_step_size", stop_tests_.step_size);
  options.real("emitter.stop_largest", stop_tests_.largest);
  options.real("emitter.stop_flat", stop_tests_.flat);
  optimizer_->identify(options);
}

}  // namespace rarefy
