#include "runs/journaled_evaluation.hpp"

#include <algorithm>

#include "rarefy/evaluators/stream_evaluator.hpp"
#include "runs/elapsed.hpp"

namespace rarefy {
namespace {

void copy_row(const Evaluation& from, Index i, const EvaluationSpan& out, Index row) {
  const auto features = from.features.row(i);
  std::copy(features.begin(), features.end(), out.features.row(row).begin());
  const auto at = static_cast<std::size_t>(row);
  out.objectives[at] = from.objectives[static_cast<std::size_t>(i)];
  if (!out.valid.empty()) out.valid[at] = from.valid[static_cast<std::size_t>(i)];
}

}  // namespace

void JournaledEvaluation::take_what_is_kept(BatchView solutions, const EvaluationSpan& out) {
  missing_.clear();
  for (Index row = 0; row < solutions.rows(); ++row) {
    const bool kept =
        journal_.keeps_any() && journal_.take(place_of(search_, row), solutions.row(row), out, row);
    if (!kept) missing_.push_back(row);
  }
}

bool JournaledEvaluation::evaluate(BatchView solutions, const EvaluationSpan& out, StopFlag stop) {
  take_what_is_kept(solutions, out);
  if (missing_.empty()) return true;
  done_.clear();
  failed_.clear();
  rows_ = solutions.rows();
  back_ = rows_ - static_cast<Index>(missing_.size());
  began_ = Clock::now();
  bool complete = true;
  // Who is cheap is not disturbed: only the first batch is listened to.
  const bool listens =
      journal_.is_open() || (journal_.waits_to_see() && (evaluated_ == 0 || is_expensive(0)));
  if (listens) {
    complete = evaluate_missing(solutions, out, stop);
  } else {
    evaluate_counting(solutions, out);
  }
  const double seconds = seconds_since(began_);
  const auto rows = static_cast<Index>(missing_.size());
  seconds_ += seconds;
  busy_ += seconds * static_cast<double>(std::min(evaluator_.capacity(), rows));
  evaluated_ += rows;
  if (complete && journal_.is_open()) note_failed_rows(solutions, out);
  return complete;
}

Awaited JournaledEvaluation::awaited() const {
  return {.done = back_, .rows = rows_, .seconds = seconds_since(began_)};
}

void JournaledEvaluation::evaluate_counting(BatchView solutions, const EvaluationSpan& out) {
  back_ = 0;
  if (dynamic_cast<StreamEvaluator*>(&evaluator_) == nullptr) {
    evaluator_.evaluate(solutions, out);
    return;
  }
  const auto count = [&](Index /*first*/, Index rows) { back_ += rows; };
  evaluator_.evaluate_telling(solutions, out, count, nullptr);
}

bool JournaledEvaluation::evaluate_missing(BatchView solutions, const EvaluationSpan& out,
                                           StopFlag stop) {
  const auto rows = static_cast<Index>(missing_.size());
  const auto done = [&](Index first, Index count) {
    back_ += count;
    done_.insert(done_.end(), missing_.begin() + first, missing_.begin() + first + count);
    if (!journal_.is_open() && is_expensive(static_cast<Index>(done_.size()))) journal_.open();
    if (journal_.is_open()) note_rows(solutions, out);
  };
  if (rows == solutions.rows()) return evaluator_.evaluate_telling(solutions, out, done, stop);

  Batch some(rows, solutions.cols());
  for (Index i = 0; i < rows; ++i) {
    const auto row = solutions.row(missing_[static_cast<std::size_t>(i)]);
    std::copy(row.begin(), row.end(), some.row(i).begin());
  }
  Evaluation results(rows, out.features.cols());
  return evaluator_.evaluate_telling(
      some, results.span(),
      [&](Index first, Index count) {
        for (Index i = first; i < first + count; ++i) {
          copy_row(results, i, out, missing_[static_cast<std::size_t>(i)]);
        }
        done(first, count);
      },
      stop);
}

bool JournaledEvaluation::is_expensive(Index done_now) const {
  double seconds = seconds_;
  double busy = busy_;
  if (done_now > 0) {
    const double now = seconds_since(began_);
    seconds += now;
    // Those still at work have nothing to show for their time yet.
    busy += now * static_cast<double>(std::min(evaluator_.capacity(), done_now));
  }
  const Index rows = evaluated_ + done_now;
  return is_worth_keeping(seconds, busy, rows);
}

void JournaledEvaluation::note_rows(BatchView solutions, const EvaluationSpan& out) {
  for (const auto row : done_) {
    if (!journal_.note(place_of(search_, row), solutions.row(row), out, row)) {
      failed_.push_back(row);
    }
  }
  done_.clear();
  journal_.write();
}

void JournaledEvaluation::note_failed_rows(BatchView solutions, const EvaluationSpan& out) {
  for (const auto row : failed_) {
    journal_.note_failed(place_of(search_, row), solutions.row(row), out, row);
  }
  journal_.write();
}

}  // namespace rarefy
