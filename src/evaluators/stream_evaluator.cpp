#include "rarefy/evaluators/stream_evaluator.hpp"

namespace rarefy {

void StreamEvaluator::evaluate(BatchView solutions, const EvaluationSpan& out) {
  evaluate_telling(
      solutions, out, [](Index, Index) {}, nullptr);
}

bool StreamEvaluator::evaluate_telling(BatchView solutions, const EvaluationSpan& out,
                                       const RowsDone& done, StopFlag stop) {
  try {
    begin(0, solutions, out);
    for (Index left = solutions.rows(); left > 0;) {
      const auto rows = wait(stop);
      for (const auto& one : rows) done(one.row, 1);
      left -= static_cast<Index>(rows.size());
      if (left > 0 && stop_asked(stop)) {
        abandon();
        return false;
      }
    }
    return true;
  } catch (...) {
    abandon();  // `out` may be gone after this
    throw;
  }
}

}  // namespace rarefy
