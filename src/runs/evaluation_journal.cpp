#include "runs/evaluation_journal.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "rarefy/storage/checkpoint.hpp"

namespace rarefy {
namespace {

std::uint64_t checksum_of_solution(std::span<const double> solution) {
  return checksum(std::as_bytes(solution));
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

}  // namespace

std::int64_t oldest_generation(const Search& search) {
  std::int64_t oldest = search.generation(0);
  for (Index e = 1; e < search.emitters(); ++e) oldest = std::min(oldest, search.generation(e));
  return oldest;
}

bool is_awaited(const Search& search, const JournalRecord& record) {
  return record.row < search.candidates() &&
         record.iteration >= place_of(search, record.row).generation;
}

bool is_worth_keeping(double seconds, double busy, Index evaluations) {
  constexpr double kExpensive = 1e-3;  // seconds
  // A moment in which the machine was busy with something else does not make a domain expensive.
  constexpr double kWorthJudging = 0.25;  // seconds
  return seconds >= kWorthJudging && busy >= kExpensive * static_cast<double>(evaluations);
}

EvaluationJournal::EvaluationJournal(const Search& search, FilePlace file,
                                     const JournalOwner& owner, const Config& config)
    : search_(search),
      file_(std::move(file)),
      owner_(owner),
      keep_(config.output.journal),
      nan_fails_(config.nan_fails) {
  if (keep_ == KeepJournal::on || (keep_ == KeepJournal::automatic && file_.exists())) open();
}

void EvaluationJournal::open() {
  journal_ = std::make_unique<Journal>(
      file_, owner_, oldest_generation(search_), [&](const JournalRecord& record) {
        kept_.insert_or_assign(
            {record.iteration, record.row, record.solution},
            Outcome{record.valid, record.objective,
                    std::vector<double>(record.features.begin(), record.features.end())});
      });
}

bool EvaluationJournal::take(const CandidatePlace& place, std::span<const double> solution,
                             const EvaluationSpan& out, Index i) {
  const auto found = kept_.find({place.generation, place.row, checksum_of_solution(solution)});
  if (found == kept_.end()) return false;
  const auto& outcome = found->second;
  std::copy(outcome.features.begin(), outcome.features.end(), out.features.row(i).begin());
  out.objectives[static_cast<std::size_t>(i)] = outcome.objective;
  if (!out.valid.empty()) out.valid[static_cast<std::size_t>(i)] = outcome.valid ? 1 : 0;
  kept_.erase(found);
  ++taken_;
  return true;
}

bool EvaluationJournal::note(const CandidatePlace& place, std::span<const double> solution,
                             const EvaluationSpan& out, Index i) {
  if (kind_of(out, i, nan_fails_) != RowKind::usable) return false;
  add(place, solution, out, i);
  return true;
}

void EvaluationJournal::note_failed(const CandidatePlace& place, std::span<const double> solution,
                                    const EvaluationSpan& out, Index i) {
  if (kind_of(out, i, nan_fails_) == RowKind::failed) add(place, solution, out, i);
}

void EvaluationJournal::add(const CandidatePlace& place, std::span<const double> solution,
                            const EvaluationSpan& out, Index i) {
  const auto at = static_cast<std::size_t>(i);
  journal_->add({.iteration = place.generation,
                 .row = place.row,
                 .solution = checksum_of_solution(solution),
                 .valid = out.valid.empty() || out.valid[at] != 0,
                 .objective = out.objectives[at],
                 .features = out.features.row(i)});
}

void EvaluationJournal::write() {
  if (journal_ != nullptr) journal_->write();
}

void EvaluationJournal::saved() {
  const auto oldest = oldest_generation(search_);
  kept_.erase(kept_.begin(), kept_.lower_bound({oldest, 0, 0}));
  if (journal_ == nullptr) return;
  journal_->drop_before(oldest);
  if (journal_->size() == 0) return;
  journal_->keep_only([&](const JournalRecord& record) { return is_awaited(search_, record); });
}

void EvaluationJournal::close() {
  if (journal_ == nullptr) return;
  if (journal_->size() == 0) {
    journal_->remove();
  } else {
    journal_->sync();
  }
  journal_.reset();
}

}  // namespace rarefy
