#include "rarefy/evaluators/stream_evaluator.hpp"

namespace rarefy {

void StreamEvaluator::evaluate(BatchView solutions, const EvaluationSpan& out) {
  try {
    begin(0, solutions, out);
    for (Index left = solutions.rows(); left > 0;) left -= static_cast<Index>(wait().size());
  } catch (...) {
    abandon();  // `out` may be gone after this
    throw;
  }
}

}  // namespace rarefy
