// What all emitters of a search have learned of the shape of steps.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "rarefy/core/batch.hpp"
#include "rarefy/core/state.hpp"
#include "rarefy/core/state_options.hpp"
#include "rarefy/emitters/step_shape.hpp"

namespace rarefy {

/// The shape of steps that an emitter begins with when it starts anew, in place of a sphere.
///
/// A covariance matrix of n (n + 1) / 2 numbers takes CMA-ES some n^2 / 10 generations to learn,
/// and an emitter that restarts where it stagnates lives for a fraction of that. Which directions
/// change features at all is mostly the same everywhere, though. So what emitters have learned
/// outlives them: at each restart the common shape moves by `rate` towards that of the emitter
/// which ends, and the emitter starts anew with what it has become.
///
/// Shapes are averaged and passed on with a mean variance of 1: how large steps are, others say.
class CommonShape {
 public:
  /// `rate` is above 0 and at most 1, where each emitter goes on with its own. `size` is
  /// Emitter::shape_size() of all of them.
  CommonShape(double rate, Index size);

  /// An emitter ends. One that has nothing to tell changes nothing, nor does a shape whose scale is
  /// no number any more.
  void learn(const StepShape& shape);
  /// Empty as long as nothing was learned.
  [[nodiscard]] std::span<const double> values() const { return values_; }

  void identify(StateOptions& options) const;
  void save(StateWriter& out) const;
  void load(StateReader& in);

 private:
  double rate_;
  std::size_t size_;
  std::vector<double> values_;  // as many as that, or none
};

}  // namespace rarefy
