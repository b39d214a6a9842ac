#include <rarefy/evaluators/mpi_evaluator.hpp>

// Alone, there is nobody to evaluate.
int main() {
  rarefy::MpiSession session;
  if (session.rank() != 0 || session.size() != 1) return 1;
  try {
    const rarefy::MpiEvaluator evaluator(session, {.solution_dim = 1, .feature_dim = 1});
  } catch (const rarefy::Error& error) {
    return error.kind() == rarefy::ErrorKind::state ? 0 : 2;
  }
  return 3;
}
