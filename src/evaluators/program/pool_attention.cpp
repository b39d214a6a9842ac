// What comes from the workers, and what it means.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "evaluators/program/program_pool.hpp"

namespace rarefy {
namespace {

using std::chrono::milliseconds;

// A process that has closed a stream is about to end, as a rule, and its status says more.
constexpr milliseconds kClosingTime(1000);

}  // namespace

int ProgramEvaluator::Pool::milliseconds_to_wait() const {
  const auto now = Clock::now();
  auto next = now + milliseconds(kTick);
  for (const auto& worker : workers_) {
    if (!worker.rows.empty()) {
      next = std::min({next, worker.deadline, worker.closing_until});
      if (worker.process.ends_silently()) next = std::min(next, now + milliseconds(2));
    } else if (!worker.process.running() && !queue_.nothing_waits()) {
      next = std::min(next, std::max(worker.not_before, no_start_before_));
    }
  }
  return static_cast<int>(
      std::max<std::int64_t>(0, std::chrono::ceil<milliseconds>(next - now).count()));
}

void ProgramEvaluator::Pool::attend(int milliseconds) {
  constexpr auto kStreams = WorkerProcess::kPolled;
  polled_.clear();
  for (const auto& worker : workers_) {
    if (!worker.process.running()) continue;
    const auto streams = worker.process.polled();
    polled_.insert(polled_.end(), streams.begin(), streams.end());
  }
  polled_.push_back({.fd = keeper_.socket(), .events = POLLRDHUP, .revents = 0});
  const int ready = ::poll(polled_.data(), polled_.size(), milliseconds);
  if (ready > 0 && polled_.back().revents != 0) keeper_.keep(groups());  // somebody killed it
  const pollfd* streams = polled_.data();
  for (auto& worker : workers_) {
    if (fatal_) break;
    if (!worker.process.running()) continue;
    if (ready > 0) worker.process.attend(streams);
    const bool ended = ready > 0 && streams[kStreams - 1].revents != 0;
    const bool may_have_ended = ended || worker.process.ends_silently() || ready <= 0;
    streams += kStreams;
    if (worker.rows.empty()) {
      if (ended || worker.process.output_closed() || !worker.process.answer().empty()) {
        examine_idle(worker);
      }
    } else {
      examine(worker, may_have_ended);
    }
  }
  reap();
}

// It has ended, or said something that nobody asked for. No row suffers.
void ProgramEvaluator::Pool::examine_idle(Worker& worker) {
  const bool unasked = !worker.process.answer().empty();
  ++counts_.faults[static_cast<std::size_t>(unasked ? ProgramFault::unasked : ProgramFault::died)];
  kill_and_retire(worker);
}

void ProgramEvaluator::Pool::examine(Worker& worker, bool may_have_ended) {
  auto& process = worker.process;
  const auto found = look(worker);
  if (found.complaint) return fault(worker, *found.complaint);
  if (found.complete) return accept(worker, found);

  const bool unread = process.left_question_unread();
  const bool closing =
      unread || (process.output_closed() && options_.protocol != ProgramProtocol::once);
  if (may_have_ended || process.output_closed() || closing) {
    if (const auto ending = process.ending()) return after_its_end(worker, *ending);
  }
  const auto now = Clock::now();
  if (closing && worker.closing_until == Time::max()) worker.closing_until = now + kClosingTime;
  if (now >= worker.closing_until) {
    return fault(worker, {ProgramFault::closed,
                          unread ? "closed its standard input before it had read the question"
                                 : "closed its standard output before it had answered"});
  }
  if (now >= worker.deadline) examine_late(worker);
}

// Its time is over; but perhaps it was we who were late, and the answer has been there for long.
void ProgramEvaluator::Pool::examine_late(Worker& worker) {
  worker.process.read_rest();
  const auto found = look(worker);
  if (found.complaint) return fault(worker, *found.complaint);
  if (found.complete) return accept(worker, found);
  const auto rows = worker.rows.size();
  fault(worker, {ProgramFault::timeout,
                 fmt::format("did not answer{} within {} s",
                             rows > 1 ? fmt::format(" {} rows", rows) : "", worker.seconds)});
}

// Its last words may be in the pipe.
void ProgramEvaluator::Pool::after_its_end(Worker& worker, const Ending& ending) {
  worker.process.read_rest();
  const auto& answer = worker.process.answer();
  Look found;
  if (options_.protocol != ProgramProtocol::once) {
    found = look(worker);
  } else if (ending.well() || !ending.known) {
    found.complaint = read_numbers(answer, values_);
    found.complete = true;
  }
  if (found.complaint) return fault(worker, *found.complaint);
  if (found.complete) return accept(worker, found);
  auto message = ending.text();
  if (options_.protocol != ProgramProtocol::once) {
    message += answer.empty() ? " before it had answered" : " in the middle of an answer";
  }
  fault(worker, {ProgramFault::died, std::move(message)}, ending.was_not_found());
}

ProgramEvaluator::Pool::Look ProgramEvaluator::Pool::look(const Worker& worker) {
  const auto& answer = worker.process.answer();
  if (answer.empty()) return {};
  Look found;
  if (options_.protocol == ProgramProtocol::npy) {
    found = look_at_array(worker);
  } else if (options_.protocol == ProgramProtocol::lines) {
    found = look_at_line(worker);
  }
  const bool endless = options_.protocol != ProgramProtocol::npy && !found.complete &&
                       answer.size() > options_.longest_answer;
  if (!found.complaint && endless) {
    found.complaint = Complaint{
        ProgramFault::too_long,
        fmt::format("answered more than {} bytes{}, expected {}: {}", options_.longest_answer,
                    options_.protocol == ProgramProtocol::lines ? " without an end of line" : "",
                    numbers_text(answers_), in_quotes(answer))};
  }
  return found;
}

ProgramEvaluator::Pool::Look ProgramEvaluator::Pool::look_at_line(const Worker& worker) {
  const std::string_view answer = worker.process.answer();
  const auto end = answer.find('\n');
  if (end == std::string_view::npos) return {};
  if (end + 1 != answer.size()) {
    return {
        .complete = true,
        .complaint = Complaint{ProgramFault::unasked,
                               fmt::format("answered more than one line, expected one for each: {}",
                                           in_quotes(answer))}};
  }
  auto complaint = read_numbers(answer.substr(0, end), values_);
  if (!complaint && !worker.process.question_written()) {
    complaint =
        Complaint{ProgramFault::unasked, fmt::format("answered before it had read the question: {}",
                                                     in_quotes(answer.substr(0, end)))};
  }
  return {.complete = true, .complaint = std::move(complaint)};
}

ProgramEvaluator::Pool::Look ProgramEvaluator::Pool::look_at_array(const Worker& worker) const {
  const auto& answer = worker.process.answer();
  const auto rows = static_cast<Index>(worker.rows.size());
  auto progress = NpyAnswer::look(answer, rows, static_cast<Index>(answers_));
  if (progress.complaint) return {.complete = true, .complaint = std::move(progress.complaint)};
  if (progress.total == 0 || answer.size() < progress.total) return {};
  if (answer.size() > progress.total) {
    return {.complete = true,
            .complaint = Complaint{ProgramFault::unasked,
                                   fmt::format("answered {} bytes more than the array that was "
                                               "asked for",
                                               answer.size() - progress.total)}};
  }
  return {.complete = true, .values_at = progress.values_at};
}

}  // namespace rarefy
