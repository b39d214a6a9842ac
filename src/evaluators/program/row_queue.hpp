// The rows of all jobs: which are waiting, which must be tried again.
#pragma once

#include <deque>
#include <list>
#include <span>
#include <vector>

#include "rarefy/evaluators/stream_evaluator.hpp"

namespace rarefy {

struct ProgramJob {
  Index number = 0;
  BatchView solutions;
  EvaluationSpan out;
  Index chunk = 1;  ///< so many rows are handed out together at most
  Index next = 0;   ///< the first that never was
  Index left = 0;   ///< not done yet
};

struct RowUnderWay {
  ProgramJob* job = nullptr;
  Index row = 0;
  Index failed = 0;  ///< attempts
  [[nodiscard]] std::span<const double> solution() const { return job->solutions.row(row); }
};

class RowQueue {
 public:
  void begin(const ProgramJob& job);
  [[nodiscard]] bool has(Index number) const;
  [[nodiscard]] bool nothing_left() const { return jobs_.empty(); }
  [[nodiscard]] bool nothing_waits() const { return again_.empty() && fresh_.empty(); }
  /// The rows to evaluate next. One of those that are tried again always goes alone, and before
  /// all others, unless `new_ones_first`. At most so many `together`.
  void take(std::vector<RowUnderWay>& rows, Index together, bool new_ones_first);
  /// These are to be tried again.
  void again(std::span<const RowUnderWay> rows);
  void done(const RowUnderWay& row);
  void clear();

 private:
  std::list<ProgramJob> jobs_;
  std::deque<ProgramJob*> fresh_;  // with rows that were never handed out
  std::deque<RowUnderWay> again_;
};

}  // namespace rarefy
