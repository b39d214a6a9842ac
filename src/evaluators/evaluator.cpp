#include "rarefy/evaluators/evaluator.hpp"

namespace rarefy {

void ThreadsEvaluator::evaluate(BatchView solutions, BatchSpan features,
                                std::span<double> objectives) {
  constexpr Index kPiece = 32;
  workers_.for_pieces(solutions.rows(), kPiece, [&](Index first, Index count) {
    domain_.evaluate(
        solutions.rows(first, count), features.rows(first, count),
        objectives.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)));
  });
}

}  // namespace rarefy
