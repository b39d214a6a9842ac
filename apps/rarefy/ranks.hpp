// The other ranks of a job under mpirun, which evaluate for this one. Made with MPI or without,
// by what was found when the command was built.
#pragma once

#include <memory>

#include "rarefy/core/batch.hpp"
#include "rarefy/evaluators/evaluator.hpp"
#include "rarefy/runs/run.hpp"
#include "seat.hpp"

namespace rarefy::command {

class Ranks {
 public:
  virtual ~Ranks() = default;
  /// Who evaluates what `run` searches: the others, each with so many threads (0: one). It must
  /// not outlive this object, whose end sends the others home.
  [[nodiscard]] virtual std::shared_ptr<Evaluator> evaluator(const Run& run, Index threads) = 0;
};

/// On rank 0. Null where there are no others.
[[nodiscard]] std::unique_ptr<Ranks> join_ranks(const Seat& seat);

/// On any other rank: evaluates until rank 0 is done. What goes wrong is rank 0's to tell.
[[nodiscard]] int serve_rank_0(const Seat& seat);

}  // namespace rarefy::command
