#include "rarefy/evaluators/evaluator.hpp"

#include <algorithm>

namespace rarefy {

void ThreadsEvaluator::evaluate(BatchView solutions, const EvaluationSpan& out) {
  // Several pieces a thread, because rows may take unlike times; but not too small, because
  // some domains treat rows of a piece together (the maze, a robot a lane).
  const Index piece =
      std::max(domain_.rows_together(), solutions.rows() / (4 * workers_.threads()));
  workers_.for_pieces(solutions.rows(), piece, [&](Index first, Index count) {
    domain_.evaluate(
        solutions.rows(first, count), out.features.rows(first, count),
        out.objectives.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)));
  });
}

}  // namespace rarefy
