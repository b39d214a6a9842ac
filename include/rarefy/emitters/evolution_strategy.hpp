// What the emitters of CMA-ES and its relatives have in common: a normal distribution that is
// sampled, and that adapts to a ranking of its samples.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "rarefy/core/batch.hpp"
#include "rarefy/core/names.hpp"
#include "rarefy/core/random.hpp"
#include "rarefy/core/state.hpp"
#include "rarefy/core/state_options.hpp"
#include "rarefy/emitters/step_shape.hpp"

namespace rarefy {

enum class Stop {
  none,
  condition,  ///< the covariance matrix has become too ill-conditioned, or not positive
  step_size,  ///< samples no longer differ, or the step has grown beyond all bounds
  flat,       ///< all candidates were ranked equal
};

template <>
struct EnumNames<Stop> {
  static constexpr std::string_view thing = "stop";
  static constexpr std::pair<Stop, std::string_view> all[] = {{Stop::none, "none"},
                                                              {Stop::condition, "condition"},
                                                              {Stop::step_size, "step size"},
                                                              {Stop::flat, "flat"}};
};

/// Thresholds of the stop tests.
struct StopTests {
  double condition = 1e14;
  double step_size = 1e-11;  ///< sigma times the largest axis
  double largest = 1e100;
  double flat = 1e-12;  ///< range of a generation's scores

  bool operator==(const StopTests&) const = default;
};

/// The strategies there are.
enum class Strategy {
  automatic,  ///< by the number of values in a solution: strategy_for()
  cma_es,
  sep_cma_es,
  lm_ma_es,
};

template <>
struct EnumNames<Strategy> {
  static constexpr std::string_view thing = "strategy";
  static constexpr std::pair<Strategy, std::string_view> all[] = {
      {Strategy::automatic, "auto"},
      {Strategy::cma_es, "cma-es"},
      {Strategy::sep_cma_es, "sep-cma-es"},
      {Strategy::lm_ma_es, "lm-ma-es"}};
};

/// Full matrices are learned too slowly to be worth their time from here on (docs/reproduction.md).
inline constexpr Index kManyValues = 500;

/// What `automatic` comes to.
[[nodiscard]] constexpr Strategy strategy_for(Strategy strategy, Index solution_dim) {
  if (strategy != Strategy::automatic) return strategy;
  return solution_dim < kManyValues ? Strategy::cma_es : Strategy::lm_ma_es;
}

class EvolutionStrategy {
 public:
  EvolutionStrategy() = default;
  virtual ~EvolutionStrategy() = default;
  EvolutionStrategy(const EvolutionStrategy&) = delete;
  EvolutionStrategy& operator=(const EvolutionStrategy&) = delete;

  [[nodiscard]] virtual Index dimension() const = 0;
  [[nodiscard]] virtual Index batch() const = 0;
  [[nodiscard]] virtual std::span<const double> mean() const = 0;
  [[nodiscard]] virtual double sigma() const = 0;
  [[nodiscard]] virtual std::int64_t generation() const = 0;

  /// Starts anew at `mean`, with the initial step size, and a sphere for a shape where no other was
  /// given for it.
  virtual void reset(std::span<const double> mean) = 0;
  /// The initial step size from now on, in place of that of the options. No part of a state:
  /// whoever sets it sets it before every reset().
  virtual void set_initial_step(double step) = 0;

  /// As those of Emitter. Of a strategy that cannot share the shape of its samples, nothing.
  [[nodiscard]] virtual Index shape_size() const { return 0; }
  [[nodiscard]] virtual StepShape learned_shape() const { return {}; }
  virtual void begin_with(std::span<const double> /*shape*/) {}
  /// The part of a sphere in every shape that a strategy begins with: it bounds how thin that is.
  static constexpr double kOfSphere = 1e-6;

  /// Fills `out` (batch x dimension) with samples; `key` names the random numbers.
  /// Its purpose must be Purpose::sampling; rows drawn again use Purpose::resampling.
  /// Any other number of rows, at least 1, is sampled as well. It changes no rate: these follow
  /// from batch() and the number of parents.
  virtual void ask(const StreamKey& key, BatchSpan out) = 0;

  /// Adapts to a ranking: order[0] is the best row of `solutions`, which ask() gave last, and the
  /// first `parents` of the order are recombined. Without any, the distribution stays as it is,
  /// but the generation counts.
  virtual void tell(BatchView solutions, std::span<const Index> order, Index parents) = 0;

  /// How many rows of the last ask() were still out of bounds after all attempts, and were forced
  /// inside.
  [[nodiscard]] Index forced() const { return forced_; }

  /// What speaks against going on; `scores` are the values that were ranked (may be empty).
  [[nodiscard]] virtual Stop stop(std::span<const double> scores, const StopTests& tests) const = 0;

  /// Names the options that a state must have been made with to be loaded.
  virtual void identify(StateOptions& /*options*/) const {}
  virtual void save(StateWriter& out) const = 0;
  virtual void load(StateReader& in) = 0;

 protected:
  /// The tests that all have: sigma times the longest axis, and the range of the scores.
  [[nodiscard]] static Stop stop_by(double longest_axis, std::span<const double> scores,
                                    const StopTests& tests);

  Index forced_ = 0;
};

}  // namespace rarefy
