// Where candidates come from.
//
// An emitter proposes solutions and learns from how they were ranked. It knows nothing of
// densities: a ranking is all it sees. Several emitters share one search.
#pragma once

#include <cstdint>
#include <span>

#include "rarefy/archives/archive.hpp"
#include "rarefy/core/batch.hpp"
#include "rarefy/core/state.hpp"
#include "rarefy/core/state_options.hpp"
#include "rarefy/emitters/step_shape.hpp"

namespace rarefy {

/// What an emitter, and whoever decides on its restart, is told about its own rows of a batch.
///
/// The first `ranked` entries of `order` are the rows to learn from. The rest are not the
/// emitter's own (SearchOptions::initial_solutions), or could not be evaluated: of the latter,
/// features, objectives and scores say nothing.
///
/// With Outside::last, the last `outside` of the rows to learn from lie outside of the feature
/// space, and their order is that of `distances`. Their scores are not comparable with those of
/// rows inside, and none of them counts as accepted.
struct Feedback {
  BatchView solutions;
  BatchView features;
  std::span<const double> objectives;
  std::span<const double> scores;     ///< lower is better
  std::span<const Index> order;       ///< rows, best first; ties in random order
  std::span<const Outcome> outcomes;  ///< what the archive made of each row
  Index ranked = 0;                   ///< rows to learn from, the first in `order`; maybe none
  Index accepted = 0;                 ///< of these, the first ones: worth having by their score
  Index outside = 0;                  ///< of these, the last ones: outside of the feature space
  std::span<const double> distances = {};  ///< from the box, in its widths; empty without `outside`
  bool informed = true;                    ///< false: the order is random, the scores say nothing
};

class Emitter {
 public:
  virtual ~Emitter() = default;

  [[nodiscard]] virtual Index batch() const = 0;
  [[nodiscard]] virtual Index dimension() const = 0;

  /// Fills `out` (batch x dimension). May read the archive; must draw its random numbers from
  /// streams of the given iteration only.
  virtual void ask(const Archive& archive, std::uint64_t iteration, BatchSpan out) = 0;

  /// Learns from a ranking. Returns true when it cannot usefully go on from here, for which it
  /// is no reason that nothing was ranked.
  virtual bool tell(const Feedback& feedback) = 0;

  /// Starts anew at a solution.
  virtual void restart(std::span<const double> solution) = 0;
  /// How large its steps are to be from the next restart() on, instead of what its options say. One
  /// that has no use for that need not listen.
  virtual void set_step(double /*step*/) {}

  /// How many numbers the shape of its steps is made of; 0: it has none to share.
  [[nodiscard]] virtual Index shape_size() const { return 0; }
  /// What it has learned of that shape.
  [[nodiscard]] virtual StepShape learned_shape() const { return {}; }
  /// The shape, of mean variance 1, that its next restart() begins with; once.
  virtual void begin_with(std::span<const double> /*shape*/) {}

  /// Names the options that a state must have been made with to be loaded.
  virtual void identify(StateOptions& /*options*/) const {}
  virtual void save(StateWriter& out) const = 0;
  virtual void load(StateReader& in) = 0;
};

}  // namespace rarefy
