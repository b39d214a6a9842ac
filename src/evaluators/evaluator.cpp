#include "rarefy/evaluators/evaluator.hpp"

#include <algorithm>

namespace rarefy {

void ThreadsEvaluator::evaluate(BatchView solutions, BatchSpan features,
                                std::span<double> objectives) {
  // Several pieces a thread, because rows may take unlike times; but not too small, because
  // some domains treat rows of a piece together (the maze, a robot a lane).
  constexpr Index kLeast = 32;
  const Index piece = std::max(kLeast, solutions.rows() / (4 * workers_.threads()));
  workers_.for_pieces(solutions.rows(), piece, [&](Index first, Index count) {
    domain_.evaluate(
        solutions.rows(first, count), features.rows(first, count),
        objectives.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)));
  });
}

}  // namespace rarefy
