#include "rarefy/emitters/evolution_strategy_emitter.hpp"

#include <utility>

namespace rarefy {

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

bool EvolutionStrategyEmitter::tell(const Feedback& feedback) {
  const Index parents = selection_ == Selection::filter ? feedback.accepted : batch() / 2;
  optimizer_->tell(feedback.solutions, feedback.order, parents);
  // Scores that say nothing are all equal, which must not be taken for a flat landscape.
  const auto scores = feedback.informed ? feedback.scores : std::span<const double>();
  return optimizer_->stop(scores, stop_tests_) != Stop::none;
}

}  // namespace rarefy
