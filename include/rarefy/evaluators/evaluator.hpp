// Who evaluates the candidates: threads here, or whatever a program has.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rarefy/core/batch.hpp"
#include "rarefy/core/workers.hpp"
#include "rarefy/domains/domain.hpp"

namespace rarefy {

/// Room for what solutions turn out to be, a row each, that somebody else owns.
struct EvaluationSpan {
  BatchSpan features;
  std::span<double> objectives;
  /// 0: could not be evaluated, the rest of the row says nothing. Without entries, none may fail.
  std::span<std::uint8_t> valid = {};
};

/// The same, with memory of its own.
struct Evaluation {
  Evaluation(Index rows, Index feature_dim)
      : features(rows, feature_dim),
        objectives(static_cast<std::size_t>(rows)),
        valid(static_cast<std::size_t>(rows), std::uint8_t{1}) {}
  [[nodiscard]] EvaluationSpan span() { return {features, objectives, valid}; }

  Batch features;
  std::vector<double> objectives;
  std::vector<std::uint8_t> valid;
};

class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// Fills row i of `out` for row i of `solutions`. All of `valid` is 1 before.
  virtual void evaluate(BatchView solutions, const EvaluationSpan& out) = 0;
};

/// Shares the rows of a batch out over the threads of a team.
class ThreadsEvaluator : public Evaluator {
 public:
  /// Both must outlive the evaluator.
  ThreadsEvaluator(const Domain& domain, Workers& workers) : domain_(domain), workers_(workers) {}
  void evaluate(BatchView solutions, const EvaluationSpan& out) override;

 private:
  const Domain& domain_;
  Workers& workers_;
};

}  // namespace rarefy
