// All workers of a program, and the loop that attends to them. No threads: everything happens in
// begin() and wait(), by streams that never block and one poll().
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "evaluators/program/answers.hpp"
#include "evaluators/program/keeper.hpp"
#include "evaluators/program/row_queue.hpp"
#include "evaluators/program/worker_process.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/evaluators/program_evaluator.hpp"

namespace rarefy {

class ProgramEvaluator::Pool {
 public:
  explicit Pool(ProgramOptions options);
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool();

  void begin(Index job, BatchView solutions, const EvaluationSpan& out);
  /// `waiting` is called now and then.
  std::span<const RowDone> wait(StopFlag stop, const std::function<void()>& waiting);
  void abandon();
  void it_works() { ever_worked_ = true; }
  [[nodiscard]] Index workers() const { return static_cast<Index>(workers_.size()); }

  [[nodiscard]] const ProgramOptions& options() const { return options_; }
  [[nodiscard]] const ProgramCounts& counts() const { return counts_; }
  [[nodiscard]] std::deque<ProgramFailure>& failures() { return failures_; }

 private:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;
  // Milliseconds. Whoever asks to stop waits so long at most; so does what nothing tells us of.
  static constexpr int kTick = 100;

  struct Worker {
    WorkerProcess process;
    std::vector<RowUnderWay> rows;  // under way; none: it is idle
    bool asked_before = false;      // since it was started
    Time asked_at = Time::min();
    double seconds = 0;                // that it has for the rows
    Time deadline = Time::max();       // for the answer
    Time closing_until = Time::max();  // has closed a stream, and should end by then
    Time not_before = Time::min();     // when another process may be started
    int faults_in_turn = 0;
  };
  /// What can be made of an answer so far.
  struct Look {
    bool complete = false;
    std::optional<Complaint> complaint = {};
    std::size_t values_at = 0;  // in an array
  };

  // ---- handing out
  void hand_out();
  void ask(Worker& worker);
  bool start(Worker& worker);
  void put_off(Worker& worker, int error);
  [[nodiscard]] std::vector<pid_t> groups() const;
  void fill_question(Worker& worker) const;

  // ---- attending
  void attend(int milliseconds);
  void examine(Worker& worker, bool may_have_ended);
  void examine_idle(Worker& worker);
  [[nodiscard]] Look look(const Worker& worker);
  [[nodiscard]] Look look_at_line(const Worker& worker);
  [[nodiscard]] Look look_at_array(const Worker& worker) const;
  void examine_late(Worker& worker);
  void after_its_end(Worker& worker, const Ending& ending);
  [[nodiscard]] int milliseconds_to_wait() const;

  // ---- outcomes
  void accept(Worker& worker, const Look& look);
  void adapt_chunks(const Worker& worker);
  void accept_row(const RowUnderWay& row, std::span<const double> values);
  void fault(Worker& worker, const Complaint& complaint, bool was_not_found = false);
  void fail_row(const RowUnderWay& row, const Complaint& complaint, std::string errors);
  void judge_program(const Complaint& complaint, const std::string& errors, bool was_not_found);
  void retire(Worker& worker);
  void kill_and_retire(Worker& worker);
  void end_all();
  void reap();

  ProgramOptions options_;
  std::string name_;
  std::vector<std::string> words_;
  std::size_t answers_ = 0;  // numbers a row
  pid_t owner_;              // a fork of this process has no part in our workers

  Keeper keeper_;
  std::deque<Worker> workers_;
  std::vector<pid_t> dying_;
  RowQueue queue_;
  Index chunk_ = 1;                    // rows that are handed out together at most
  std::vector<RowDone> ready_, done_;  // not named yet; named by the last wait()
  std::vector<double> values_;
  std::vector<pollfd> polled_;

  ProgramCounts counts_;
  std::deque<ProgramFailure> failures_;
  std::optional<Error> fatal_;
  bool ever_worked_ = false;
  bool only_timeouts_ = true;
  Index attempts_failed_ = 0;                // before any worked
  Time starts_refused_since_ = Time::max();  // by the system
  Time no_start_before_ = Time::min();
};

}  // namespace rarefy
