// An emitter whose candidates are the samples of an evolution strategy: CMA-ES or a relative.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "rarefy/emitters/emitter.hpp"
#include "rarefy/emitters/evolution_strategy.hpp"

namespace rarefy {

/// Which rows of a ranked batch are recombined.
///
/// Where samples are mirrored, `mu` may take both of a pair, which cancel in part, so that the step
/// size shrinks under a ranking that says nothing; `paired` has no such bias (Auger, Brockhoff and
/// Hansen, "Mirrored sampling in evolution strategies with weighted recombination", GECCO 2011).
enum class Selection {
  mu,      ///< the better half
  paired,  ///< of two mirrored samples the better one: at most half, and never both of a pair
  filter,  ///< those that were accepted, be it none or all (Feedback::accepted)
};

template <>
struct EnumNames<Selection> {
  static constexpr std::string_view thing = "selection";
  static constexpr std::pair<Selection, std::string_view> all[] = {
      {Selection::mu, "mu"}, {Selection::paired, "paired"}, {Selection::filter, "filter"}};
};

class EvolutionStrategyEmitter : public Emitter {
 public:
  /// `index` tells this emitter's random numbers from those of its siblings.
  EvolutionStrategyEmitter(std::unique_ptr<EvolutionStrategy> optimizer, std::uint64_t seed,
                           std::uint32_t index, const StopTests& stop_tests = {},
                           Selection selection = Selection::mu);

  [[nodiscard]] Index batch() const override { return optimizer_->batch(); }
  [[nodiscard]] Index dimension() const override { return optimizer_->dimension(); }
  void ask(const Archive& archive, std::uint64_t iteration, BatchSpan out) override;
  bool tell(const Feedback& feedback) override;
  void restart(std::span<const double> solution) override { optimizer_->reset(solution); }
  void set_step(double step) override { optimizer_->set_initial_step(step); }
  [[nodiscard]] Index shape_size() const override { return optimizer_->shape_size(); }
  [[nodiscard]] StepShape learned_shape() const override { return optimizer_->learned_shape(); }
  void begin_with(std::span<const double> shape) override { optimizer_->begin_with(shape); }
  void identify(StateOptions& options) const override;
  void save(StateWriter& out) const override { optimizer_->save(out); }
  void load(StateReader& in) override { optimizer_->load(in); }

  [[nodiscard]] const EvolutionStrategy& optimizer() const { return *optimizer_; }

 private:
  [[nodiscard]] Index put_better_of_pairs_first(const Feedback& feedback);

  std::unique_ptr<EvolutionStrategy> optimizer_;
  std::uint64_t seed_;
  std::uint32_t index_;
  StopTests stop_tests_;
  Selection selection_;
  std::vector<Index> pairs_first_;       // an order of rows
  std::vector<std::uint8_t> pair_seen_;  // scratch of it
};

}  // namespace rarefy
