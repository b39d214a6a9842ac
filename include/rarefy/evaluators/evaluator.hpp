// Who evaluates the candidates: threads here, or whatever a program has.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "rarefy/core/batch.hpp"
#include "rarefy/core/stop.hpp"
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

/// Hears of rows that are done: so many, from the first on. From any thread, one at a time.
using RowsDone = std::function<void(Index first, Index count)>;

class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// Fills row i of `out` for row i of `solutions`. All of `valid` is 1 before.
  virtual void evaluate(BatchView solutions, const EvaluationSpan& out) = 0;

  /// The same for whoever keeps what is done: `done` hears of every row once, as soon as the
  /// evaluator knows of it, and at the latest at the end. One that can leave a batch
  /// unfinished does so when `*stop` is true: false then, and the rows not told of are not done.
  virtual bool evaluate_telling(BatchView solutions, const EvaluationSpan& out,
                                const RowsDone& done, StopFlag stop);

  /// How many rows can be under way at a time: with fewer at hand, somebody is idle.
  [[nodiscard]] virtual Index capacity() const { return 1; }

  /// How long processors have worked for it so far, in seconds, the calling thread and the threads
  /// of a team that others use as well left out. Not a number where it is not known: somewhere
  /// else, say.
  [[nodiscard]] virtual double processor_seconds() const {
    return std::numeric_limits<double>::quiet_NaN();
  }

  /// Who evaluates, in words for the user, where that is not this process alone.
  [[nodiscard]] virtual std::string description() const { return {}; }
};

/// Shares the rows of a batch out over the threads of a team.
class ThreadsEvaluator : public Evaluator {
 public:
  /// Both must outlive the evaluator.
  ThreadsEvaluator(const Domain& domain, Workers& workers) : domain_(domain), workers_(workers) {}
  void evaluate(BatchView solutions, const EvaluationSpan& out) override;
  /// In the smallest pieces: where rows are worth keeping, handing them out costs nothing.
  bool evaluate_telling(BatchView solutions, const EvaluationSpan& out, const RowsDone& done,
                        StopFlag stop) override;
  [[nodiscard]] Index capacity() const override { return workers_.threads(); }
  [[nodiscard]] double processor_seconds() const override { return 0; }

 private:
  void evaluate_piece(BatchView solutions, const EvaluationSpan& out, Index first,
                      Index count) const;
  const Domain& domain_;
  Workers& workers_;
};

}  // namespace rarefy
