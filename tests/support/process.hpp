// Another program, run as a user would run it: with arguments, signals, a terminal, and a time
// limit after which it is killed, so that no test hangs. The limit is wide: what a test says must
// not depend on how fast or how busy the machine is.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "support/sanitized.hpp"

struct ProcessOptions {
  std::filesystem::path folder = {};  ///< to run in; empty: this one
  bool terminal = false;              ///< standard input, output and error are a terminal
  unsigned short columns = 160;       ///< of that terminal
  /// Called in the new process before the program starts. What it returns, if not 0, is the
  /// exit code, and the program does not start. It must not allocate much: the process is a fork.
  std::function<int()> prepare = {};
  std::chrono::seconds limit = std::chrono::seconds(kSanitized ? 1000 : 600);
};

/// Whether a program can be given a terminal: a container or a chroot may have no /dev/pts. A
/// test that needs one says GTEST_SKIP() << kNoTerminal where there is none.
inline bool have_terminal() {
  int outer = -1, inner = -1;
  if (::openpty(&outer, &inner, nullptr, nullptr, nullptr) != 0) return false;
  ::close(inner);
  ::close(outer);
  return true;
}
inline constexpr const char* kNoTerminal = "no pseudo-terminal can be opened here (/dev/pts)";

struct ProcessResult {
  int exit_code = -1;  ///< -1 when it did not exit by itself
  int signal = 0;      ///< what killed it
  bool out_of_time = false;
  std::string out;  ///< everything, where it had a terminal
  std::string err;
};

class Process {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Process(std::vector<std::string> command, ProcessOptions options = {})
      : options_(std::move(options)), deadline_(Clock::now() + options_.limit) {
    std::vector<char*> arguments;
    for (auto& word : command) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    if (options_.terminal) {
      start_on_terminal(arguments.data());
    } else {
      start_on_pipes(arguments.data());
    }
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    if (!ended_) {
      ::kill(child_, SIGKILL);
      (void)wait();
    }
    for (auto& source : sources_) close_source(source);
  }

  [[nodiscard]] pid_t id() const { return child_; }
  void send(int signal) {
    if (!ended_) ::kill(child_, signal);
  }

  /// Waits until `condition` holds; false when the program ended, or ran out of time, before.
  template <typename Condition>
  bool wait_until(Condition condition) {
    while (!condition()) {
      if (reap() || Clock::now() >= deadline_) return condition();
      pump(2);
    }
    return true;
  }
  /// Waits until the program has written `text`.
  bool wait_for_text(std::string_view text) {
    return wait_until([&] {
      return result_.out.find(text) != std::string::npos ||
             result_.err.find(text) != std::string::npos;
    });
  }
  /// Closes what it writes to: pipes that nobody reads, or a terminal that is gone.
  void stop_reading() {
    for (auto& source : sources_) close_source(source);
  }
  /// What it has written so far.
  [[nodiscard]] const ProcessResult& so_far() const { return result_; }

  /// Waits for the end.
  const ProcessResult& wait() {
    while (!reap()) {
      if (Clock::now() >= deadline_) {
        result_.out_of_time = true;
        ::kill(child_, SIGKILL);
        deadline_ = Clock::time_point::max();
      }
      pump(5);
    }
    // What is still in the pipes; a grandchild that holds them open is not waited for.
    for (int empty = 0; empty < 3 && (sources_[0].file >= 0 || sources_[1].file >= 0);) {
      if (!pump(5)) ++empty;
    }
    return result_;
  }

 private:
  struct Source {
    int file = -1;
    std::string* text = nullptr;
  };

  static void check(bool ok, const char* doing) {
    if (!ok) throw std::system_error(errno, std::generic_category(), doing);
  }

  // In the child. Does not return.
  [[noreturn]] void start(char* const* arguments) const {
    // If the test dies, so does what it started.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ}) ::signal(signal, SIG_DFL);
    if (!options_.folder.empty() && ::chdir(options_.folder.c_str()) != 0) ::_exit(125);
    if (options_.prepare) {
      if (const int code = options_.prepare(); code != 0) ::_exit(code);
    }
    ::execvp(arguments[0], arguments);
    ::_exit(127);
  }

  void start_on_pipes(char* const* arguments) {
    std::array<int, 2> out{}, err{};
    check(::pipe2(out.data(), O_CLOEXEC) == 0 && ::pipe2(err.data(), O_CLOEXEC) == 0, "pipe");
    child_ = ::fork();
    check(child_ >= 0, "fork");
    if (child_ == 0) {
      const int nothing = ::open("/dev/null", O_RDONLY);
      ::dup2(nothing, STDIN_FILENO);
      ::dup2(out[1], STDOUT_FILENO);
      ::dup2(err[1], STDERR_FILENO);
      start(arguments);
    }
    ::close(out[1]);
    ::close(err[1]);
    sources_ = {Source{out[0], &result_.out}, Source{err[0], &result_.err}};
  }

  void start_on_terminal(char* const* arguments) {
    int terminal = -1;
    winsize size{};
    size.ws_col = options_.columns;
    size.ws_row = 24;
    child_ = ::forkpty(&terminal, nullptr, nullptr, &size);
    check(child_ >= 0, "forkpty");
    if (child_ == 0) {
      ::setenv("TERM", "xterm", 1);
      start(arguments);
    }
    sources_ = {Source{terminal, &result_.out}, Source{}};
  }

  static void close_source(Source& source) {
    if (source.file >= 0) ::close(std::exchange(source.file, -1));
  }

  // Takes what was written; true when there was anything.
  bool pump(int milliseconds) {
    std::array<pollfd, 2> polled{};
    for (std::size_t i = 0; i < 2; ++i) polled[i] = {sources_[i].file, POLLIN, 0};
    if (sources_[0].file < 0 && sources_[1].file < 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
      return false;
    }
    if (::poll(polled.data(), 2, milliseconds) <= 0) return false;
    bool any = false;
    for (std::size_t i = 0; i < 2; ++i) {
      if (sources_[i].file < 0 || polled[i].revents == 0) continue;
      std::array<char, 4096> piece{};
      const auto got = ::read(sources_[i].file, piece.data(), piece.size());
      if (got > 0) {
        sources_[i].text->append(piece.data(), static_cast<std::size_t>(got));
        any = true;
      } else if (got == 0 || errno != EINTR) {
        close_source(sources_[i]);  // a terminal ends with EIO
      }
    }
    return any;
  }

  bool reap() {
    if (ended_) return true;
    int status = 0;
    if (::waitpid(child_, &status, WNOHANG) != child_) return false;
    ended_ = true;
    if (WIFEXITED(status)) result_.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) result_.signal = WTERMSIG(status);
    return true;
  }

  ProcessOptions options_;
  Clock::time_point deadline_;
  pid_t child_ = -1;
  bool ended_ = false;
  ProcessResult result_;
  std::array<Source, 2> sources_;
};
