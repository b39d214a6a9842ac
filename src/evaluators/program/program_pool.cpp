#include "evaluators/program/program_pool.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>

#include "evaluators/program/command_line.hpp"
#include "evaluators/program/session.hpp"

namespace rarefy {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTimeToEnd(500);
constexpr std::size_t kFailuresKept = 1000;
constexpr std::chrono::seconds kStartsRefused(5);

// Another worker is started at once where one has ended, but not again and again.
milliseconds pause_after(int faults_in_turn) {
  constexpr int kDoublings = 7;
  if (faults_in_turn <= 1) return milliseconds(0);
  return milliseconds(1 << std::min(faults_in_turn - 2, kDoublings));
}

std::string with_errors(std::string message, const std::string& errors) {
  if (!errors.empty()) message += "; the end of its standard error:\n" + errors;
  return message;
}

std::string system_text(int error) { return std::generic_category().message(error); }

}  // namespace

ProgramEvaluator::Pool::Pool(ProgramOptions options)
    : options_(std::move(options)),
      name_(name_of_command(options_)),
      words_(words_to_execute(options_)),
      answers_(static_cast<std::size_t>(options_.feature_dim + (options_.with_objective ? 1 : 0))),
      owner_(::getpid()),
      values_(answers_) {
  if (options_.workers == 0) {
    options_.workers = static_cast<Index>(std::max(1U, std::thread::hardware_concurrency()));
  }
  if (options_.longest_answer == 0)
    options_.longest_answer = (std::size_t{1} << 16) + 64 * answers_;
  for (Index i = 0; i < options_.workers; ++i) workers_.emplace_back();
}

ProgramEvaluator::Pool::~Pool() {
  if (owner_ != ::getpid()) return;
  try {
    end_all();
  } catch (...) {  // NOLINT(bugprone-empty-catch): without memory; the keeper ends them
  }
}

void ProgramEvaluator::Pool::end_all() {
  abandon();
  // Who is idle may want to put things in order.
  for (auto& worker : workers_) worker.process.close_input();
  const auto until = Clock::now() + kTimeToEnd;
  for (auto& worker : workers_) {
    while (worker.process.running() && !worker.process.ending() && Clock::now() < until) {
      auto polled = worker.process.polled();
      ::poll(polled.data(), polled.size(), worker.process.ends_silently() ? 2 : 20);
      worker.process.attend(polled.data());
      worker.process.forget_answer();
    }
  }
  kill_sessions(groups());
  for (auto& worker : workers_) retire(worker);
  for (const auto child : dying_) reap_child(child);
}

void ProgramEvaluator::Pool::begin(Index job, BatchView solutions, const EvaluationSpan& out) {
  const auto rows = solutions.rows();
  if (queue_.has(job)) {
    throw Error(ErrorKind::state, "number of a job", fmt::format("{}, which is under way", job),
                "another");
  }
  if (solutions.cols() != options_.solution_dim) {
    throw Error(ErrorKind::data, "solutions", fmt::format("{} columns", solutions.cols()),
                fmt::format("{}", options_.solution_dim));
  }
  const auto size = static_cast<std::size_t>(rows);
  if (out.features.rows() != rows || out.features.cols() != options_.feature_dim ||
      out.objectives.size() != size || (!out.valid.empty() && out.valid.size() != size)) {
    throw Error(ErrorKind::data, "room for an evaluation",
                fmt::format("{} x {} features, {} objectives, {} flags", out.features.rows(),
                            out.features.cols(), out.objectives.size(), out.valid.size()),
                fmt::format("{} x {}, {}, and 0 or {}", rows, options_.feature_dim, rows, rows));
  }
  Index chunk = 1;
  if (options_.protocol == ProgramProtocol::npy) {
    constexpr Index kValuesOfChunk = Index{1} << 19;
    const Index most =
        std::min(options_.longest_chunk, std::max(Index{1}, kValuesOfChunk / solutions.cols()));
    chunk = std::clamp(rows / (4 * workers()), Index{1}, most);
  }
  queue_.begin({.number = job, .solutions = solutions, .out = out, .chunk = chunk, .left = rows});
  hand_out();
}

std::span<const RowDone> ProgramEvaluator::Pool::wait(StopFlag stop,
                                                      const std::function<void()>& waiting) {
  if (fatal_) throw Error(*fatal_);
  while (ready_.empty() && !queue_.nothing_left() && !stop_asked(stop)) {
    hand_out();
    if (!fatal_) attend(milliseconds_to_wait());
    if (fatal_) throw Error(*fatal_);
    if (ready_.empty()) waiting();
  }
  done_.clear();
  std::swap(done_, ready_);
  hand_out();  // so that nobody is idle while the caller is not
  return done_;
}

void ProgramEvaluator::Pool::abandon() {
  std::vector<pid_t> busy;
  for (const auto& worker : workers_) {
    if (!worker.rows.empty()) busy.push_back(worker.process.id());
  }
  kill_sessions(busy);
  for (auto& worker : workers_) {
    if (!worker.rows.empty()) retire(worker);
  }
  queue_.clear();
  ready_.clear();
  fatal_.reset();
  attempts_failed_ = 0;
  only_timeouts_ = true;
}

// ---- handing out --------------------------------------------------------------------------------

void ProgramEvaluator::Pool::hand_out() {
  if (fatal_ || queue_.nothing_waits()) return;
  for (auto& worker : workers_) {
    if (!worker.rows.empty() || !worker.process.running()) continue;
    if (queue_.nothing_waits()) return;
    if (worker.process.can_be_asked()) {
      ask(worker);
    } else {
      examine_idle(worker);
    }
  }
  const auto now = Clock::now();
  for (auto& worker : workers_) {
    if (queue_.nothing_waits() || fatal_ || now < no_start_before_) return;
    if (worker.rows.empty() && !worker.process.running() && worker.not_before <= now) ask(worker);
  }
}

void ProgramEvaluator::Pool::ask(Worker& worker) {
  queue_.take(worker.rows, chunk_, !ever_worked_);
  if (!worker.process.running() && !start(worker)) return;
  worker.asked_at = Clock::now();
  worker.deadline = worker.closing_until = Time::max();
  if (options_.timeout > 0) {
    worker.seconds = options_.timeout * static_cast<double>(worker.rows.size()) +
                     (worker.asked_before ? 0 : options_.start_time);
    constexpr double kForever = 1e8;  // three years
    worker.deadline =
        Clock::now() +
        milliseconds(static_cast<std::int64_t>(1000 * std::min(worker.seconds, kForever)));
  }
  worker.asked_before = true;
  if (options_.protocol != ProgramProtocol::once) {
    fill_question(worker);
    worker.process.ask(worker.process.question());
  }
}

void ProgramEvaluator::Pool::fill_question(Worker& worker) const {
  auto& text = worker.process.question();
  text.clear();
  if (options_.protocol == ProgramProtocol::npy) {
    append_npy_header(text, static_cast<Index>(worker.rows.size()), options_.solution_dim);
    for (const auto& row : worker.rows) {
      const auto bytes = std::as_bytes(row.solution());
      text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
  } else {
    append_line(text, worker.rows.front().solution());
  }
}

bool ProgramEvaluator::Pool::start(Worker& worker) {
  WorkerProcess::Start started;
  if (!keeper_.keep(groups())) {
    started = {.error = errno, .out_of_resources = true};
  } else {
    SpawnRequest request{.arguments = words_, .folder = options_.folder.string()};
    const bool once = options_.protocol == ProgramProtocol::once;
    if (once) {
      for (const auto value : worker.rows.front().solution()) {
        append_number(request.arguments.emplace_back(), value);
      }
    }
    using Input = WorkerProcess::Input;
    started = worker.process.start(std::move(request), once ? Input::nothing : Input::pipe,
                                   options_.protocol == ProgramProtocol::npy, keeper_);
  }
  worker.asked_before = false;
  if (started.error == 0) {
    starts_refused_since_ = Time::max();
    ++counts_.workers_started;
    return true;
  }
  if (started.out_of_resources) {
    put_off(worker, started.error);
    return false;
  }
  fault(
      worker,
      {ProgramFault::start,
       started.entered_folder ? fmt::format("cannot be started: {}", system_text(started.error))
                              : fmt::format("cannot be started in folder {}: {}",
                                            options_.folder.string(), system_text(started.error))},
      true);
  return false;
}

std::vector<pid_t> ProgramEvaluator::Pool::groups() const {
  std::vector<pid_t> groups;
  for (const auto& worker : workers_) {
    if (worker.process.running()) groups.push_back(worker.process.id());
  }
  return groups;
}

// Processes or descriptors have run out. Those that run go on; without any, that cannot last.
void ProgramEvaluator::Pool::put_off(Worker& worker, int error) {
  const auto now = Clock::now();
  no_start_before_ = now + milliseconds(kTick);
  starts_refused_since_ = std::min(starts_refused_since_, now);
  queue_.again(worker.rows);
  worker.rows.clear();
  if (groups().empty() && now - starts_refused_since_ > kStartsRefused) {
    fatal_ = Error(ErrorKind::io,
                   fmt::format("{}: the system starts no process: {}", name_, system_text(error)));
  }
}

// ---- outcomes -----------------------------------------------------------------------------------

// Large enough that asking costs little, small enough that all workers are done at the same time:
// a chunk takes a few milliseconds, or is a single row.
void ProgramEvaluator::Pool::adapt_chunks(const Worker& worker) {
  constexpr double kSeconds = 0.005;
  const std::chrono::duration<double> took = Clock::now() - worker.asked_at;
  const auto rows = static_cast<double>(worker.rows.size());
  const double fitting = std::clamp(rows * kSeconds / std::max(took.count(), 1e-9), 1.0,
                                    static_cast<double>(options_.longest_chunk));
  chunk_ = std::min(2 * chunk_, static_cast<Index>(fitting));
}

void ProgramEvaluator::Pool::accept(Worker& worker, const Look& look) {
  worker.faults_in_turn = 0;
  adapt_chunks(worker);
  const auto rows = std::exchange(worker.rows, {});
  if (options_.protocol == ProgramProtocol::npy) {
    const char* next = worker.process.answer().data() + look.values_at;
    for (const auto& row : rows) {
      std::memcpy(values_.data(), next, answers_ * sizeof(double));
      next += answers_ * sizeof(double);
      // So a program says which rows it cannot evaluate: to ask again would not help.
      if (const auto complaint = check_finite(values_)) {
        ++counts_.faults[static_cast<std::size_t>(complaint->fault)];
        fail_row(row, *complaint, worker.process.error_output());
      } else {
        accept_row(row, values_);
      }
    }
  } else {
    accept_row(rows.front(), values_);
  }
  worker.process.forget_answer();
  if (options_.protocol == ProgramProtocol::once) retire(worker);
}

void ProgramEvaluator::Pool::accept_row(const RowUnderWay& row, std::span<const double> values) {
  ever_worked_ = true;
  const auto& out = row.job->out;
  const auto features = values.first(static_cast<std::size_t>(options_.feature_dim));
  std::ranges::copy(features, out.features.row(row.row).begin());
  out.objectives[static_cast<std::size_t>(row.row)] = options_.with_objective ? values.back() : 1.0;
  ready_.push_back({.job = row.job->number, .row = row.row});
  ++counts_.rows_done;
  queue_.done(row);
}

void ProgramEvaluator::Pool::fail_row(const RowUnderWay& row, const Complaint& complaint,
                                      std::string errors) {
  const auto& out = row.job->out;
  const auto number = row.job->number;
  if (out.valid.empty()) {
    fatal_ =
        Error(ErrorKind::data,
              with_errors(fmt::format("row {}: {} {}", row.row, name_, complaint.message), errors));
  } else {
    out.valid[static_cast<std::size_t>(row.row)] = 0;
  }
  if (failures_.size() == kFailuresKept) failures_.pop_front();
  failures_.push_back({.job = number,
                       .row = row.row,
                       .fault = complaint.fault,
                       .message = complaint.message,
                       .error_output = std::move(errors)});
  ready_.push_back({.job = number, .row = row.row});
  ++counts_.rows_failed;
  queue_.done(row);
}

void ProgramEvaluator::Pool::fault(Worker& worker, const Complaint& complaint, bool was_not_found) {
  ++counts_.faults[static_cast<std::size_t>(complaint.fault)];
  std::string errors;
  if (worker.process.running()) {
    worker.process.read_errors();
    errors = worker.process.error_output();
  }
  auto rows = std::exchange(worker.rows, {});
  kill_and_retire(worker);
  ++worker.faults_in_turn;
  worker.not_before = Clock::now() + pause_after(worker.faults_in_turn);
  if (!ever_worked_) judge_program(complaint, errors, was_not_found);

  // Which of several rows was to blame shows when each is tried alone.
  if (rows.size() == 1 && ++rows.front().failed > options_.retries) {
    fail_row(rows.front(), complaint, std::move(errors));
  } else {
    counts_.rows_retried += static_cast<Index>(rows.size());
    queue_.again(rows);
  }
}

void ProgramEvaluator::Pool::judge_program(const Complaint& complaint, const std::string& errors,
                                           bool was_not_found) {
  ++attempts_failed_;
  only_timeouts_ = only_timeouts_ && complaint.fault == ProgramFault::timeout;
  if (was_not_found) {
    fatal_ = Error(ErrorKind::parameter,
                   with_errors(fmt::format("{} {}", name_, complaint.message), errors));
    return;
  }
  const auto enough =
      only_timeouts_ ? std::max(Index{2}, workers()) : std::max(Index{8}, 2 * workers());
  if (attempts_failed_ < enough) return;
  // A program that keeps its answers in a buffer is the likeliest to say nothing at all.
  const auto* const hint = only_timeouts_ && options_.protocol == ProgramProtocol::lines
                               ? " (does it flush every answer, and read line by line?)"
                               : "";
  fatal_ =
      Error(ErrorKind::data,
            with_errors(fmt::format("{} has not worked once in {} attempts; in the last it {}{}",
                                    name_, attempts_failed_, complaint.message, hint),
                        errors));
}

void ProgramEvaluator::Pool::retire(Worker& worker) {
  worker.rows.clear();
  worker.process.end(keeper_, dying_);
  reap();
}

void ProgramEvaluator::Pool::kill_and_retire(Worker& worker) {
  if (const pid_t leader = worker.process.id(); leader > 0) kill_sessions({&leader, 1});
  retire(worker);
}

void ProgramEvaluator::Pool::reap() {
  std::erase_if(dying_, [](pid_t child) { return ::waitpid(child, nullptr, WNOHANG) != 0; });
}

}  // namespace rarefy
