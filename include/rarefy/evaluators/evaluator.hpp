// Who evaluates the candidates: threads here, later processes and clusters.
#pragma once

#include <span>

#include "rarefy/core/batch.hpp"
#include "rarefy/core/workers.hpp"
#include "rarefy/domains/domain.hpp"

namespace rarefy {

class Evaluator {
 public:
  virtual ~Evaluator() = default;
  virtual void evaluate(BatchView solutions, BatchSpan features, std::span<double> objectives) = 0;
};

/// Shares the rows of a batch out over the threads of a team.
class ThreadsEvaluator : public Evaluator {
 public:
  /// Both must outlive the evaluator.
  ThreadsEvaluator(const Domain& domain, Workers& workers) : domain_(domain), workers_(workers) {}
  void evaluate(BatchView solutions, BatchSpan features, std::span<double> objectives) override;

 private:
  const Domain& domain_;
  Workers& workers_;
};

}  // namespace rarefy
