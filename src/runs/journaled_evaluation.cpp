#include "runs/journaled_evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "rarefy/storage/checkpoint.hpp"

namespace rarefy {
namespace {

constexpr double kExpensive = 1e-3;  // seconds
// A moment in which the machine was busy with something else does not make a domain expensive.
constexpr double kWorthJudging = 0.25;  // seconds

double elapsed_since(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

std::uint64_t checksum_of_row(BatchView solutions, Index row) {
  return checksum(std::as_bytes(solutions.row(row)));
}

enum class RowKind { usable, failed, refused };  // as Search::tell takes them

RowKind kind_of(const EvaluationSpan& out, Index row, bool nan_fails) {
  const auto i = static_cast<std::size_t>(row);
  if (!out.valid.empty() && out.valid[i] == 0) return RowKind::failed;
  bool finite = std::isfinite(out.objectives[i]);
  bool nan = std::isnan(out.objectives[i]);
  for (const double value : out.features.row(row)) {
    finite = finite && std::isfinite(value);
    nan = nan || std::isnan(value);
  }
  if (finite) return RowKind::usable;
  return nan && nan_fails ? RowKind::failed : RowKind::refused;
}

void copy_row(const Evaluation& from, Index i, const EvaluationSpan& out, Index row) {
  const auto features = from.features.row(i);
  std::copy(features.begin(), features.end(), out.features.row(row).begin());
  const auto at = static_cast<std::size_t>(row);
  out.objectives[at] = from.objectives[static_cast<std::size_t>(i)];
  if (!out.valid.empty()) out.valid[at] = from.valid[static_cast<std::size_t>(i)];
}

}  // namespace

JournaledEvaluation::JournaledEvaluation(Evaluator& evaluator, const Search& search, FilePlace file,
                                         const JournalOwner& owner, const Config& config)
    : evaluator_(evaluator),
      search_(search),
      file_(std::move(file)),
      owner_(owner),
      keep_(config.output.journal),
      nan_fails_(config.nan_fails) {
  if (keep_ == KeepJournal::on || (keep_ == KeepJournal::automatic && file_.exists())) open();
}

void JournaledEvaluation::open() {
  journal_ = std::make_unique<Journal>(
      file_, owner_, search_.iteration(), [&](const JournalRecord& record) {
        kept_.insert_or_assign(
            {record.iteration, record.row, record.solution},
            Outcome{record.valid, record.objective,
                    std::vector<double>(record.features.begin(), record.features.end())});
      });
}

void JournaledEvaluation::take_what_is_kept(BatchView solutions, const EvaluationSpan& out) {
  const auto iteration = search_.iteration();
  kept_.erase(kept_.begin(), kept_.lower_bound({iteration, 0, 0}));
  missing_.clear();
  for (Index row = 0; row < solutions.rows(); ++row) {
    const auto found =
        kept_.empty() ? kept_.end() : kept_.find({iteration, row, checksum_of_row(solutions, row)});
    if (found == kept_.end()) {
      missing_.push_back(row);
      continue;
    }
    const auto& outcome = found->second;
    std::copy(outcome.features.begin(), outcome.features.end(), out.features.row(row).begin());
    out.objectives[static_cast<std::size_t>(row)] = outcome.objective;
    if (!out.valid.empty()) out.valid[static_cast<std::size_t>(row)] = outcome.valid ? 1 : 0;
    ++taken_;
  }
}

bool JournaledEvaluation::evaluate(BatchView solutions, const EvaluationSpan& out, StopFlag stop) {
  take_what_is_kept(solutions, out);
  if (missing_.empty()) return true;
  done_.clear();
  failed_.clear();
  began_ = Clock::now();
  bool complete = true;
  // Who is cheap is not disturbed: only the first batch is listened to.
  const bool listens = journal_ != nullptr ||
                       (keep_ == KeepJournal::automatic && (evaluated_ == 0 || is_expensive(0)));
  if (listens) {
    complete = evaluate_missing(solutions, out, stop);
  } else {
    evaluator_.evaluate(solutions, out);
  }
  const double seconds = elapsed_since(began_);
  const auto rows = static_cast<Index>(missing_.size());
  seconds_ += seconds;
  busy_ += seconds * static_cast<double>(std::min(evaluator_.capacity(), rows));
  evaluated_ += rows;
  if (complete && journal_ != nullptr) note_failed_rows(solutions, out);
  return complete;
}

bool JournaledEvaluation::evaluate_missing(BatchView solutions, const EvaluationSpan& out,
                                           StopFlag stop) {
  const auto rows = static_cast<Index>(missing_.size());
  const auto done = [&](Index first, Index count) {
    done_.insert(done_.end(), missing_.begin() + first, missing_.begin() + first + count);
    if (journal_ == nullptr && is_expensive(static_cast<Index>(done_.size()))) open();
    if (journal_ != nullptr) note_rows(solutions, out);
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
    const double now = elapsed_since(began_);
    seconds += now;
    // Those still at work have nothing to show for their time yet.
    busy += now * static_cast<double>(std::min(evaluator_.capacity(), done_now));
  }
  const auto rows = static_cast<double>(evaluated_ + done_now);
  return seconds >= kWorthJudging && busy >= kExpensive * rows;
}

void JournaledEvaluation::note_rows(BatchView solutions, const EvaluationSpan& out) {
  for (const auto row : done_) {
    if (kind_of(out, row, nan_fails_) == RowKind::usable) {
      add(solutions, out, row);
    } else {
      failed_.push_back(row);
    }
  }
  done_.clear();
  journal_->write();
}

// Not before all are done: where nothing works, the evaluator throws instead, and is tried again
// with the same rows once it has been mended. What the search is going to refuse is not noted at
// all, for the same reason.
void JournaledEvaluation::note_failed_rows(BatchView solutions, const EvaluationSpan& out) {
  for (const auto row : failed_) {
    if (kind_of(out, row, nan_fails_) == RowKind::failed) add(solutions, out, row);
  }
  journal_->write();
}

void JournaledEvaluation::add(BatchView solutions, const EvaluationSpan& out, Index row) {
  const auto i = static_cast<std::size_t>(row);
  journal_->add({.iteration = search_.iteration(),
                 .row = row,
                 .solution = checksum_of_row(solutions, row),
                 .valid = out.valid.empty() || out.valid[i] != 0,
                 .objective = out.objectives[i],
                 .features = out.features.row(row)});
}

void JournaledEvaluation::saved(std::int64_t iteration) {
  if (journal_ != nullptr) journal_->drop_before(iteration);
}

void JournaledEvaluation::close() {
  if (journal_ == nullptr) return;
  if (journal_->size() == 0) {
    journal_->remove();
  } else {
    journal_->sync();
  }
  journal_.reset();
}

}  // namespace rarefy
