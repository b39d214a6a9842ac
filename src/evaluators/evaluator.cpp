#include "rarefy/evaluators/evaluator.hpp"

#include <algorithm>
#include <mutex>

namespace rarefy {

bool Evaluator::evaluate_telling(BatchView solutions, const EvaluationSpan& out,
                                 const RowsDone& done, StopFlag /*stop*/) {
  evaluate(solutions, out);
  if (solutions.rows() > 0) done(0, solutions.rows());
  return true;
}

void ThreadsEvaluator::evaluate(BatchView solutions, const EvaluationSpan& out) {
  // Several pieces a thread, because rows may take unlike times; but not too small, because
  // some domains treat rows of a piece together (the maze, a robot a lane).
  const Index piece =
      std::max(domain_.rows_together(), solutions.rows() / (4 * workers_.threads()));
  workers_.for_pieces(solutions.rows(), piece, [&](Index first, Index count) {
    evaluate_piece(solutions, out, first, count);
  });
}

bool ThreadsEvaluator::evaluate_telling(BatchView solutions, const EvaluationSpan& out,
                                        const RowsDone& done, StopFlag /*stop*/) {
  std::mutex one_at_a_time;
  const Index piece = std::max<Index>(1, domain_.rows_together());
  workers_.for_pieces(solutions.rows(), piece, [&](Index first, Index count) {
    evaluate_piece(solutions, out, first, count);
    const std::lock_guard lock(one_at_a_time);
    done(first, count);
  });
  return true;
}

void ThreadsEvaluator::evaluate_piece(BatchView solutions, const EvaluationSpan& out, Index first,
                                      Index count) const {
  domain_.evaluate(
      solutions.rows(first, count), out.features.rows(first, count),
      out.objectives.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)));
}

}  // namespace rarefy
