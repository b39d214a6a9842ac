#include "runs/asynchronous_loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "rarefy/core/error.hpp"
#include "rarefy/runs/drive.hpp"
#include "runs/elapsed.hpp"
#include "runs/observed.hpp"

namespace rarefy {
namespace {

[[noreturn]] void refuse(std::int64_t number, const Turn& turn, std::string_view why) {
  throw Error(ErrorKind::data,
              fmt::format("order: turn {} is of emitter {}, {}: it is the order of another run",
                          number, turn.emitter, why));
}

// As many as can be counted, where nobody means to reach the end.
std::int64_t evaluations_in(std::int64_t iterations, Index candidates) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  return iterations > kMost / candidates ? kMost : iterations * candidates;
}

}  // namespace

AsynchronousLoop::AsynchronousLoop(Search& search, StreamEvaluator& evaluator, Turns& turns,
                                   EvaluationJournal* journal, std::int64_t iterations)
    : search_(search),
      evaluator_(evaluator),
      turns_(turns),
      journal_(journal),
      budget_(evaluations_in(iterations, search.candidates())),
      jobs_(static_cast<std::size_t>(search.emitters())) {}

// The evaluator must not write into jobs that are gone.
AsynchronousLoop::~AsynchronousLoop() { evaluator_.abandon(); }

DriveEnd AsynchronousLoop::go(std::span<Observer* const> observers, StopFlag stop) {
  if (search_.evaluations() >= budget_) return DriveEnd::finished;
  begin_what_is_asked();
  while (search_.evaluations() < budget_ || under_way_ > 0) {
    if (stop_asked(stop)) return DriveEnd::stopped;
    const auto turn = next_turn(stop);
    if (!turn) return DriveEnd::stopped;
    const auto iteration = search_.iteration();
    take(*turn);
    if (search_.iteration() == iteration) continue;
    if (somebody_stops(search_, observers) && search_.evaluations() < budget_) {
      return DriveEnd::stopped;
    }
  }
  return DriveEnd::finished;
}

// Of a search that was stopped, or that somebody else has asked.
void AsynchronousLoop::begin_what_is_asked() {
  for (Index e = 0; e < search_.emitters(); ++e) {
    if (search_.awaits(e)) begin(e);
  }
}

CandidatePlace AsynchronousLoop::place(Index emitter, Index row) const {
  return {search_.generation(emitter), search_.rows_of(emitter).first + row};
}

void AsynchronousLoop::begin(Index emitter) {
  const auto solutions = search_.ask_emitter(emitter);
  auto& job = jobs_[static_cast<std::size_t>(emitter)].emplace(solutions.rows(), solutions.cols(),
                                                               search_.feature_dim());
  std::copy(solutions.values().begin(), solutions.values().end(), job.solutions.data());
  job.noted.resize(static_cast<std::size_t>(solutions.rows()));
  under_way_ += solutions.rows();
  for (Index row = 0; row < solutions.rows(); ++row) {
    const bool known = journal_ != nullptr && journal_->keeps_any() &&
                       journal_->take(place(emitter, row), solutions.row(row), job.out.span(), row);
    if (known) {
      job.noted[static_cast<std::size_t>(row)] = 1;
    } else {
      job.missing.push_back(row);
    }
  }
  job.left = static_cast<Index>(job.missing.size());
  if (job.left == 0) {
    ready_.push_back(emitter);
    return;
  }
  job.missing_solutions.resize(0, solutions.cols());
  job.missing_solutions.reserve(job.left);
  for (const auto row : job.missing) job.missing_solutions.append(job.solutions.view().row(row));
  job.missing_out.emplace(job.left, search_.feature_dim());
  evaluator_.begin(emitter, job.missing_solutions, job.missing_out->span());
}

// Whether one more emitter may ask. (Telling leaves the sum as it is.)
bool AsynchronousLoop::may_ask() const { return search_.evaluations() + under_way_ < budget_; }

std::optional<Index> AsynchronousLoop::idle_emitter() const {
  if (under_way_ == search_.candidates() || !may_ask()) return std::nullopt;
  for (Index e = 0; e < search_.emitters(); ++e) {
    if (!jobs_[static_cast<std::size_t>(e)]) return e;
  }
  return std::nullopt;
}

// As it can be taken now: where fewer evaluations are planned than there were when the order was
// written down, nobody asks any more in the end, and turns of those who have not are left out.
std::optional<Turn> AsynchronousLoop::prescribed_turn() {
  while (auto turn = turns_.prescribed()) {
    if (turn->emitter < 0 || turn->emitter >= search_.emitters()) {
      refuse(turns_.taken(), *turn, fmt::format("and there are {}", search_.emitters()));
    }
    const bool awaited = jobs_[static_cast<std::size_t>(turn->emitter)].has_value();
    if (turn->kind == TurnKind::asked) {
      if (awaited) refuse(turns_.taken(), *turn, "which was asked already");
      if (may_ask()) return turn;
    } else if (awaited) {
      if (!may_ask()) turn->kind = TurnKind::told;
      return turn;
    } else if (may_ask()) {
      refuse(turns_.taken(), *turn, "which was not asked");
    }
    turns_.skip();
  }
  return std::nullopt;
}

// None: it was stopped.
std::optional<Turn> AsynchronousLoop::next_turn(StopFlag stop) {
  if (const auto turn = prescribed_turn()) {
    if (turn->kind == TurnKind::asked) return turn;
    const auto& job = jobs_[static_cast<std::size_t>(turn->emitter)];
    while (job->left > 0) {
      if (!wait_for_rows(stop)) return std::nullopt;
    }
    return turn;
  }
  if (const auto idle = idle_emitter()) return Turn{*idle, TurnKind::asked};
  while (ready_.empty()) {
    if (!wait_for_rows(stop)) return std::nullopt;
  }
  return Turn{ready_.front(), may_ask() ? TurnKind::told_and_asked : TurnKind::told};
}

// False: it was stopped.
bool AsynchronousLoop::wait_for_rows(StopFlag stop) {
  const auto before = std::chrono::steady_clock::now();
  const auto rows = evaluator_.wait(stop);
  if (rows.empty()) {
    if (stop_asked(stop)) return false;
    throw Error(ErrorKind::state, "evaluator: it has nothing under way, and rows are not done");
  }
  for (const auto& row : rows) row_done(row);
  judge_the_journal(seconds_since(before), static_cast<Index>(rows.size()));
  if (journal_ != nullptr) journal_->write();
  return !stop_asked(stop);
}

void AsynchronousLoop::row_done(const RowDone& done) {
  auto& job = *jobs_[static_cast<std::size_t>(done.job)];
  const Index row = job.missing[static_cast<std::size_t>(done.row)];
  const auto features = job.missing_out->features.row(done.row);
  const auto at = static_cast<std::size_t>(row);
  std::copy(features.begin(), features.end(), job.out.features.row(row).begin());
  job.out.objectives[at] = job.missing_out->objectives[static_cast<std::size_t>(done.row)];
  job.out.valid[at] = job.missing_out->valid[static_cast<std::size_t>(done.row)];
  job.missing[static_cast<std::size_t>(done.row)] = -1 - row;  // done
  if (--job.left == 0) ready_.push_back(done.job);
  if (journal_ != nullptr && journal_->is_open()) note(done.job, job, row);
}

void AsynchronousLoop::note(Index emitter, Job& job, Index row) {
  auto& noted = job.noted[static_cast<std::size_t>(row)];
  if (noted != 0) return;
  const auto solution = job.solutions.view().row(row);
  noted = journal_->note(place(emitter, row), solution, job.out.span(), row) ? 1 : 0;
}

void AsynchronousLoop::judge_the_journal(double seconds_waited, Index rows) {
  waited_ += seconds_waited;
  busy_ += seconds_waited *
           static_cast<double>(std::min<std::int64_t>(evaluator_.capacity(), under_way_));
  evaluated_ += rows;
  if (journal_ == nullptr || !journal_->waits_to_see()) return;
  if (!is_worth_keeping(waited_, busy_, evaluated_)) return;
  journal_->open();
  for (Index e = 0; e < search_.emitters(); ++e) {
    auto& job = jobs_[static_cast<std::size_t>(e)];
    if (!job) continue;
    for (const auto row : job->missing) {
      if (row < 0) note(e, *job, -1 - row);
    }
  }
}

void AsynchronousLoop::take(const Turn& turn) {
  const auto emitter = turn.emitter;
  if (turn.kind != TurnKind::asked) {
    auto& job = jobs_[static_cast<std::size_t>(emitter)];
    if (journal_ != nullptr && journal_->is_open()) {
      for (Index row = 0; row < job->solutions.rows(); ++row) {
        if (job->noted[static_cast<std::size_t>(row)] != 0) continue;
        journal_->note_failed(place(emitter, row), job->solutions.view().row(row), job->out.span(),
                              row);
      }
      journal_->write();
    }
    turns_.note(turn);  // before anything follows from it
    search_.tell_emitter(emitter, job->out.features, job->out.objectives, job->out.valid);
    turns_.count();
    under_way_ -= job->solutions.rows();
    std::erase(ready_, emitter);
    job.reset();
  } else {
    turns_.note(turn);
    turns_.count();
  }
  if (turn.kind != TurnKind::told) begin(emitter);
}

DriveEnd drive_asynchronously(Search& search, StreamEvaluator& evaluator, std::int64_t iterations,
                              std::span<Observer* const> observers, StopFlag stop) {
  Turns turns;
  return observed(search, observers, [&] {
    AsynchronousLoop loop(search, evaluator, turns, nullptr, iterations);
    return loop.go(observers, stop);
  });
}

}  // namespace rarefy
