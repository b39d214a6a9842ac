// Evaluation by programs of the user's own, a process for each worker.
//
//   lines  The program is started once a worker. It reads a line for each solution, plain numbers
//          with blanks between them, and answers with a line: the features, then the objective
//          where there is one. Five lines of shell, awk or Python will do; what it writes must not
//          wait in a buffer.
//   npy    The same with whole batches in binary, for fast programs: an .npy array (version 1.0,
//          '<f8', C order) of rows x solution_dim comes in, one of rows x answers goes out. A NaN
//          says that its row could not be evaluated.
//   once   The program is started for every solution, with its numbers as arguments, and writes
//          the answer to standard output. Its exit status must be 0.
//
// A worker that dies, takes too long or answers anything else is ended with all that it started,
// another takes its place, and the row is tried again; in the end it is marked as failed. Workers
// run in a session of their own, and none outlives this process, however that ends. (Beyond reach
// is what a worker sends off into another session, as daemons are.)
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rarefy/core/names.hpp"
#include "rarefy/evaluators/stream_evaluator.hpp"

namespace rarefy {

enum class ProgramProtocol { lines, npy, once };
template <>
struct EnumNames<ProgramProtocol> {
  static constexpr std::string_view thing = "protocol";
  static constexpr std::pair<ProgramProtocol, std::string_view> all[] = {
      {ProgramProtocol::lines, "lines"},
      {ProgramProtocol::npy, "npy"},
      {ProgramProtocol::once, "once"}};
};

/// What can be wrong with a program.
enum class ProgramFault {
  start,
  died,
  timeout,
  count,
  text,
  not_finite,
  too_long,
  closed,
  unasked
};
template <>
struct EnumNames<ProgramFault> {
  static constexpr std::string_view thing = "fault of a program";
  static constexpr std::pair<ProgramFault, std::string_view> all[] = {
      {ProgramFault::start, "could not be started"},
      {ProgramFault::died, "ended without an answer"},
      {ProgramFault::timeout, "took too long"},
      {ProgramFault::count, "too few or too many numbers"},
      {ProgramFault::text, "no numbers"},
      {ProgramFault::not_finite, "NaN or infinite"},
      {ProgramFault::too_long, "endless answer"},
      {ProgramFault::closed, "closed its input or output"},
      {ProgramFault::unasked, "answered without being asked"}};
};
inline constexpr std::size_t kProgramFaults = std::size(EnumNames<ProgramFault>::all);

struct ProgramOptions {
  /// A command line for /bin/sh. With `once`, the numbers are arguments of its last command.
  std::string command = {};
  /// Or a program and its arguments, without a shell.
  std::vector<std::string> arguments = {};
  std::filesystem::path folder = {};  ///< to run in; empty: this one
  ProgramProtocol protocol = ProgramProtocol::lines;
  Index solution_dim = 0;
  Index feature_dim = 0;
  bool with_objective = false;  ///< otherwise all objectives are 1
  Index workers = 0;            ///< 0: one for each core
  double timeout = 0;           ///< seconds a row; 0: none
  double start_time = 0;        ///< seconds more for the first row after a start
  Index retries = 2;            ///< how often a row is tried again
  /// Bytes of an answer; 0: as many as the numbers that are asked for could reasonably take. An
  /// array is as long as it must be.
  std::size_t longest_answer = 0;
  Index longest_chunk = 2048;  ///< rows of an array
};

/// A row that failed.
struct ProgramFailure {
  Index job = 0;
  Index row = 0;
  ProgramFault fault = ProgramFault::died;
  std::string message;       ///< of the last attempt, such as "ended with exit status 3 before ..."
  std::string error_output;  ///< the end of what it wrote to standard error
};

struct ProgramCounts {
  Index rows_done = 0;  ///< without those that failed
  Index rows_failed = 0;
  Index rows_retried = 0;  ///< how often a row was handed out again
  Index workers_started = 0;
  std::array<Index, kProgramFaults> faults = {};  ///< each time it was met, by ProgramFault
  [[nodiscard]] Index count(ProgramFault fault) const {
    return faults[static_cast<std::size_t>(fault)];
  }
};

/// How programs have done, wherever they run.
class ProgramRecord {
 public:
  virtual ~ProgramRecord() = default;
  [[nodiscard]] virtual const ProgramCounts& counts() const = 0;
  /// The rows that failed, in the order in which they did, the last 1000 of them; they are then
  /// forgotten.
  [[nodiscard]] virtual std::deque<ProgramFailure> take_failures() = 0;
};

class ProgramEvaluator : public StreamEvaluator, public ProgramRecord {
 public:
  /// Starts nothing yet. Throws for options that make no sense.
  explicit ProgramEvaluator(ProgramOptions options);
  /// Ends all workers. Those that are idle have half a second to end by themselves once their
  /// standard input is closed.
  ~ProgramEvaluator() override;
  ProgramEvaluator(const ProgramEvaluator&) = delete;
  ProgramEvaluator& operator=(const ProgramEvaluator&) = delete;

  void begin(Index job, BatchView solutions, const EvaluationSpan& out) override;
  /// Throws where the program cannot be started, and where nothing that it was asked has ever
  /// worked: not one of the first 8 attempts, or two a worker where that is more (two, or one a
  /// worker, where it only ever ran out of time).
  std::span<const RowDone> wait(StopFlag stop = nullptr) override;
  void abandon() override;
  [[nodiscard]] Index capacity() const override;

  /// It has worked somewhere else, with other rows: wait() does not take it for one that never
  /// does.
  void it_works();

  [[nodiscard]] const ProgramOptions& options() const;
  [[nodiscard]] const ProgramCounts& counts() const override;
  /// The rows that failed, in the order in which they did; the last 1000 of them.
  [[nodiscard]] const std::deque<ProgramFailure>& failures() const;
  [[nodiscard]] std::deque<ProgramFailure> take_failures() override;

 private:
  class Pool;
  std::unique_ptr<Pool> pool_;
};

}  // namespace rarefy
