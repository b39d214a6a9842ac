#include "evaluators/mpi/desk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "evaluators/mpi/pause.hpp"
#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

constexpr std::size_t kFailuresKept = 1000;

Index all_faults(const ProgramCounts& counts) {
  return std::accumulate(counts.faults.begin(), counts.faults.end(), Index{0});
}

}  // namespace

MpiEvaluator::Desk::Desk(MpiSession::Mail& mail, const MpiGreeting& greeting)
    : mail_(mail),
      solution_dim_(greeting.solution_dim),
      feature_dim_(greeting.feature_dim),
      ranks_(static_cast<std::size_t>(mail.size() - 1)),
      sizes_(greeting.solution_dim) {
  if (mail.rank() != 0 || ranks_.empty()) {
    throw Error(ErrorKind::state, "evaluation by MPI",
                fmt::format("rank {} of {}", mail.rank(), mail.size()), "rank 0 of two or more");
  }
  greet(greeting);
}

MpiEvaluator::Desk::~Desk() {
  try {
    if (!jobs_.empty()) abandon();
  } catch (...) {  // NOLINT(bugprone-empty-catch): without memory; what comes is not listened to
  }
}

void MpiEvaluator::Desk::greet(const MpiGreeting& greeting) {
  epoch_ = mail_.new_epoch();
  mail_.send_to_others(LetterWriter(LetterKind::greet, epoch_)
                           .count(greeting.solution_dim)
                           .count(greeting.feature_dim)
                           .text(greeting.text)
                           .take());
  const auto ready = [](const Rank& rank) { return rank.places > 0; };
  for (Pause pause; !std::ranges::all_of(ranks_, ready);) {
    if (read_letters()) pause.reset();
    if (trouble_) std::rethrow_exception(trouble_);
    mail_.sweep();
    pause.rest();
  }
  for (const auto& rank : ranks_) places_ += rank.places;
}

std::string MpiEvaluator::Desk::description() const {
  const auto ranks = static_cast<Index>(ranks_.size());
  return fmt::format("{} MPI rank{}{}, beside the one that searches", ranks, ranks == 1 ? "" : "s",
                     places_ == ranks ? "" : fmt::format(", {} rows at a time", places_));
}

void MpiEvaluator::Desk::check_room(BatchView solutions, const EvaluationSpan& out) const {
  const auto rows = solutions.rows();
  if (solutions.cols() != solution_dim_) {
    throw Error(ErrorKind::data, "solutions", fmt::format("{} columns", solutions.cols()),
                fmt::format("{}", solution_dim_));
  }
  const auto size = static_cast<std::size_t>(rows);
  if (out.features.rows() != rows || out.features.cols() != feature_dim_ ||
      out.objectives.size() != size || (!out.valid.empty() && out.valid.size() != size)) {
    throw Error(ErrorKind::data, "room for an evaluation",
                fmt::format("{} x {} features, {} objectives, {} flags", out.features.rows(),
                            out.features.cols(), out.objectives.size(), out.valid.size()),
                fmt::format("{} x {}, {}, and 0 or {}", rows, feature_dim_, rows, rows));
  }
}

void MpiEvaluator::Desk::begin(Index number, BatchView solutions, const EvaluationSpan& out) {
  if (std::ranges::any_of(jobs_, [&](const Job& job) { return job.number == number; })) {
    throw Error(ErrorKind::state, "number of a job", fmt::format("{}, which is under way", number),
                "another");
  }
  check_room(solutions, out);
  const auto rows = solutions.rows();
  if (rows == 0) return;
  jobs_.push_back({.number = number, .solutions = solutions, .out = out, .left = rows});
  waiting_ += rows;
  hand_out();
}

std::span<const RowDone> MpiEvaluator::Desk::wait(StopFlag stop,
                                                  const std::function<void()>& waiting) {
  Pause pause;
  for (;;) {
    const bool any = read_letters();
    hand_out();
    mail_.sweep();
    if (!ready_.empty() || trouble_ || jobs_.empty() || stop_asked(stop)) break;
    if (any) {
      pause.reset();
    } else {
      waiting();
    }
    pause.rest();
  }
  // What is done is named before anything else is said.
  if (ready_.empty() && trouble_) std::rethrow_exception(trouble_);
  done_.clear();
  std::swap(done_, ready_);
  return done_;
}

void MpiEvaluator::Desk::abandon() {
  const bool any = !jobs_.empty() || trouble_ != nullptr;
  jobs_.clear();
  chunks_.clear();
  ready_.clear();
  waiting_ = 0;
  trouble_ = nullptr;
  for (auto& rank : ranks_) {
    rank.rows = rank.chunks = 0;
    rank.hopeless = false;
  }
  if (!any) return;
  epoch_ = mail_.new_epoch();
  mail_.send_to_others(LetterWriter(LetterKind::abandon, epoch_).take());
  mail_.sweep();
}

// ---- handing out --------------------------------------------------------------------------------

void MpiEvaluator::Desk::hand_out() {
  while (waiting_ > 0 && !trouble_) {
    // Whoever has least is next.
    Index chosen = -1, rows = 0;
    double least = 0;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      const auto& rank = ranks_[i];
      const double load = static_cast<double>(rank.rows) / static_cast<double>(rank.places);
      if (rank.hopeless || (chosen >= 0 && load >= least)) continue;
      const auto more = sizes_.next(rank.places, rank.rows, rank.chunks, waiting_, places_);
      if (more == 0) continue;
      chosen = static_cast<Index>(i) + 1;
      rows = more;
      least = load;
    }
    if (chosen < 0) return;
    send_chunk(chosen, rows);
  }
}

void MpiEvaluator::Desk::send_chunk(Index to, Index rows) {
  const auto job = std::ranges::find_if(
      jobs_, [](const Job& each) { return each.next < each.solutions.rows(); });
  rows = std::min(rows, job->solutions.rows() - job->next);
  const auto ticket = ++last_chunk_;
  mail_.send(to, LetterWriter(LetterKind::evaluate, epoch_)
                     .count(ticket)
                     .count(rows)
                     .values(job->solutions.rows(job->next, rows).values())
                     .take());
  chunks_.emplace(ticket, Chunk{.rank = to, .job = job, .first = job->next, .left = rows});
  job->next += rows;
  waiting_ -= rows;
  auto& rank = ranks_[static_cast<std::size_t>(to - 1)];
  rank.rows += rows;
  ++rank.chunks;
}

// ---- what the others say ------------------------------------------------------------------------

bool MpiEvaluator::Desk::read_letters() {
  bool any = false;
  while (const auto received = mail_.receive()) {
    read(received->from, LetterReader(received->letter));
    any = true;
  }
  return any;
}

void MpiEvaluator::Desk::read(Index from, LetterReader letter) {
  if (letter.epoch() != epoch_) return;  // of what was abandoned
  auto& rank = ranks_[static_cast<std::size_t>(from - 1)];
  switch (letter.kind()) {
    case LetterKind::ready: rank.places = letter.count(); break;
    case LetterKind::rows: read_rows(rank, letter); break;
    case LetterKind::hopeless: read_hopeless(rank, letter); break;
    case LetterKind::error:
      if (!trouble_) trouble_ = letter.exception();
      break;
    default: break;
  }
}

void MpiEvaluator::Desk::read_rows(Rank& from, LetterReader& letter) {
  note_counts(from, letter.counts());
  const double seconds = letter.number();
  const auto rows = letter.count();
  for (Index i = 0; i < rows; ++i) read_row(letter);
  sizes_.learn(rows, seconds);
  for (auto left = letter.count(); left > 0; --left) read_failure(letter);
  // Not before their failures are known by the numbers of their jobs.
  std::erase_if(chunks_, [](const auto& each) { return each.second.left == 0; });
  std::erase_if(jobs_, [](const Job& job) { return job.left == 0; });
}

void MpiEvaluator::Desk::read_row(LetterReader& letter) {
  auto& chunk = chunks_.at(letter.count());
  auto& job = *chunk.job;
  const auto row = chunk.first + letter.count();
  const auto at = static_cast<std::size_t>(row);
  const bool valid = letter.number() != 0;
  job.out.objectives[at] = letter.number();
  std::ranges::copy(letter.values(feature_dim_), job.out.features.row(row).begin());
  if (!job.out.valid.empty()) {
    job.out.valid[at] = valid ? 1 : 0;
  } else if (!valid) {
    trouble_ = std::make_exception_ptr(
        Error(ErrorKind::data, fmt::format("row {} could not be evaluated", row)));
  }
  ready_.push_back({.job = job.number, .row = row});
  --job.left;
  auto& rank = ranks_[static_cast<std::size_t>(chunk.rank - 1)];
  --rank.rows;
  if (--chunk.left == 0) --rank.chunks;
}

void MpiEvaluator::Desk::read_failure(LetterReader& letter) {
  const auto& chunk = chunks_.at(letter.count());
  ProgramFailure failure;
  failure.job = chunk.job->number;
  failure.row = chunk.first + letter.count();
  failure.fault = static_cast<ProgramFault>(letter.count());
  failure.message = letter.text();
  failure.error_output = letter.text();
  if (failures_.size() == kFailuresKept) failures_.pop_front();
  failures_.push_back(std::move(failure));
}

void MpiEvaluator::Desk::note_counts(Rank& from, const ProgramCounts& counts) {
  const bool worked = counts_.rows_done > 0;
  const auto change = [&](Index ProgramCounts::*count) {
    counts_.*count += counts.*count - from.counts.*count;
  };
  change(&ProgramCounts::rows_done);
  change(&ProgramCounts::rows_failed);
  change(&ProgramCounts::rows_retried);
  change(&ProgramCounts::workers_started);
  for (std::size_t i = 0; i < kProgramFaults; ++i) {
    counts_.faults[i] += counts.faults[i] - from.counts.faults[i];
  }
  from.counts = counts;
  if (worked || counts_.rows_done == 0) return;
  // No rank need doubt any more that the program can work at all.
  mail_.send_to_others(LetterWriter(LetterKind::works, epoch_).take());
  for (auto& rank : ranks_) rank.hopeless = false;
}

// A rank alone cannot know that the program never works: others may have had more luck. It is
// taken for granted where as many attempts have failed as would without MPI, or all ranks say so.
void MpiEvaluator::Desk::read_hopeless(Rank& from, LetterReader& letter) {
  note_counts(from, letter.counts());
  if (counts_.rows_done > 0) return;  // it has been told, or is being told
  from.hopeless = true;
  Index attempts = 0;
  bool only_timeouts = true, all = true;
  for (const auto& rank : ranks_) {
    all = all && rank.hopeless;
    const auto faults = all_faults(rank.counts);
    attempts += faults;
    only_timeouts = only_timeouts && rank.counts.count(ProgramFault::timeout) == faults;
  }
  const auto enough = only_timeouts ? std::max(Index{2}, places_) : std::max(Index{8}, 2 * places_);
  if ((all || attempts >= enough) && !trouble_) trouble_ = letter.exception();
}

}  // namespace rarefy
