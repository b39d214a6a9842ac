// One process that evaluates: its streams, what is on the way to it and what came back.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evaluators/program/ending.hpp"
#include "evaluators/program/keeper.hpp"
#include "evaluators/program/spawn.hpp"

namespace rarefy {

class WorkerProcess {
 public:
  enum class Input { pipe, nothing };
  struct Start {
    int error = 0;                  ///< errno; 0: it runs
    bool entered_folder = true;     ///< false: that was what failed
    bool out_of_resources = false;  ///< another time it may work
  };

  WorkerProcess() = default;
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  /// Whoever has started it ends it, too: forget() or end().
  ~WorkerProcess() = default;

  /// `wide`: much goes through its pipes.
  Start start(SpawnRequest request, Input input, bool wide, Keeper& keeper);
  /// Kills what is left of its group, and leaves the dead child in `dying`, to be waited for. (See
  /// kill_sessions() for what may be elsewhere.)
  void end(Keeper& keeper, std::vector<pid_t>& dying);

  [[nodiscard]] bool running() const { return id_ > 0; }
  [[nodiscard]] pid_t id() const { return id_; }
  /// How it ended; nothing while it lives. It stays a zombie, and so its number its own.
  std::optional<Ending> ending();

  // ---- a question and its answer
  void ask(std::string_view question);
  /// As much as the pipe takes.
  void write_more();
  void read_more();
  void read_errors();
  /// All that is there of an answer and of errors, once it has ended.
  void read_rest();
  [[nodiscard]] bool question_written() const { return written_ == question_.size(); }
  /// It closed its standard input, and the question is not read: it never will be.
  [[nodiscard]] bool left_question_unread() const;
  [[nodiscard]] bool output_closed() const { return !out_.valid(); }
  [[nodiscard]] const std::string& answer() const { return answer_; }
  [[nodiscard]] std::string error_output() const;
  /// Room for a question, to be filled and asked.
  [[nodiscard]] std::string& question() { return question_; }
  /// Whether an idle one can be asked: it lives, reads, and has said nothing more. What it said
  /// otherwise is in answer().
  [[nodiscard]] bool can_be_asked();
  void close_input() { in_ = Descriptor(); }
  void forget_answer() { answer_.clear(); }
  /// Whether polled() cannot tell that it ended.
  [[nodiscard]] bool ends_silently() const { return !handle_.valid(); }

  // ---- the event loop
  static constexpr std::size_t kPolled = 4;
  [[nodiscard]] std::array<pollfd, kPolled> polled() const;
  /// Reads and writes what can be.
  void attend(const pollfd* polled);

 private:
  void close_all();

  pid_t id_ = -1;
  Descriptor in_, out_, err_, handle_;
  bool input_closed_ = false;  // by the other side
  std::string question_, answer_, errors_;
  std::size_t written_ = 0;
  std::optional<Ending> ending_;
};

}  // namespace rarefy
