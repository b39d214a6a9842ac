// An estimate of how crowded feature space is: what the search descends.
//
// This is the one thing in which the algorithms differ. A density takes in what
// was evaluated (`observe`) and gives candidates a score (`score`): the lower,
// the sparser, and the sooner it is ranked. A log-density, a negated novelty or
// a cell's threshold minus the objective all serve.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "rarefy/core/batch.hpp"
#include "rarefy/core/evaluated.hpp"
#include "rarefy/core/state.hpp"
#include "rarefy/core/workers.hpp"

namespace rarefy {

class Density {
 public:
  virtual ~Density() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual Index feature_dim() const = 0;

  /// Whether scores say anything yet. Until then they are all equal, candidates are ranked at
  /// random, and emitters must not take the scores for a flat landscape (Feedback::informed).
  [[nodiscard]] virtual bool informed() const = 0;

  /// scores[i] for row i of the batch; lower is sparser. Changes nothing but scratch memory.
  virtual void score(const Evaluated& batch, std::span<double> scores, Workers& workers) = 0;

  /// Candidates with a lower score are worth having: they count as accepted (see Feedback).
  /// A density that has no such line accepts all.
  [[nodiscard]] virtual double accepts_below() const {
    return std::numeric_limits<double>::infinity();
  }

  /// Takes in a whole batch. Where it was scored just before, under what is known now, the batch
  /// has its scores.
  virtual void observe(const Evaluated& batch, Workers& workers) = 0;
  /// The same for callers without a team.
  void observe(const Evaluated& batch) {
    Workers alone(1);
    observe(batch, alone);
  }

  /// How it is computed, in words for the user, where there is a choice.
  [[nodiscard]] virtual std::string description() const { return ""; }

  /// What went wrong and was survived, in words for the user; empty when all is well.
  [[nodiscard]] virtual std::string warning() const { return ""; }

  virtual void save(StateWriter& out) const = 0;
  virtual void load(StateReader& in) = 0;
};

}  // namespace rarefy
