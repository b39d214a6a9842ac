#include "evaluators/program/worker_process.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "core/no_pipe_signal.hpp"
#include "rarefy/core/text.hpp"

namespace rarefy {
namespace {

constexpr std::size_t kErrorsKept = 2048;
// At a time of one stream, so that a worker that floods it does not keep us from the others.
constexpr std::size_t kPiece = std::size_t{1} << 18;
constexpr std::size_t kErrorPiece = std::size_t{1} << 16;

struct PipeEnds {
  Descriptor read = Descriptor(), write = Descriptor();
  [[nodiscard]] bool valid() const { return read.valid() && write.valid(); }
};

PipeEnds make_pipe() {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  Descriptor first(ends[0]), second(ends[1]);
  return {above_standard_streams(std::move(first)), above_standard_streams(std::move(second))};
}

void never_block(const Descriptor& descriptor) {
  ::fcntl(descriptor.get(), F_SETFL, ::fcntl(descriptor.get(), F_GETFL) | O_NONBLOCK);
}

void widen(const Descriptor& pipe) {
  ::fcntl(pipe.get(), F_SETPIPE_SZ, 1 << 20);  // as it is where that is refused
}

Descriptor handle_of(pid_t id) {
#ifdef SYS_pidfd_open
  return above_standard_streams(Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, id, 0))));
#else
  return Descriptor();
#endif
}

/// Appends about `most` bytes of what is there at most; false at the end of the stream.
bool take_what_is_there(const Descriptor& from, std::string& text, std::size_t most) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): read() fills what is used of it
  std::array<char, 1 << 16> piece;
  for (std::size_t taken = 0; taken < most;) {
    const auto got = uninterrupted([&] { return ::read(from.get(), piece.data(), piece.size()); });
    if (got < 0) return errno == EAGAIN;
    if (got == 0) return false;
    text.append(piece.data(), static_cast<std::size_t>(got));
    if (static_cast<std::size_t>(got) < piece.size()) return true;
    taken += static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace

WorkerProcess::Start WorkerProcess::start(SpawnRequest request, Input input, bool wide,
                                          Keeper& keeper) {
  auto in = input == Input::pipe ? make_pipe()
                                 : PipeEnds{open_at(AT_FDCWD, "/dev/null", O_RDONLY), Descriptor()};
  auto out = make_pipe();
  auto err = make_pipe();
  if (!in.read.valid() || !out.valid() || !err.valid() ||
      (input == Input::pipe && !in.write.valid())) {
    return {.error = errno, .out_of_resources = true};
  }
  if (input == Input::pipe) never_block(in.write);
  never_block(out.read);
  never_block(err.read);
  if (wide) {
    widen(in.write);
    widen(out.read);
  }
  request.in = in.read.get();
  request.out = out.write.get();
  request.err = err.write.get();
  request.announce_to = keeper.socket();
  const auto spawned = spawn(request);
  if (spawned.error != 0) {
    if (spawned.id > 0) {
      keeper.forget(spawned.id);
      reap_child(spawned.id);
    }
    return {.error = spawned.error,
            .entered_folder = spawned.entered_folder,
            .out_of_resources = spawned.out_of_resources};
  }
  id_ = spawned.id;
  in_ = std::move(in.write);
  out_ = std::move(out.read);
  err_ = std::move(err.read);
  handle_ = handle_of(id_);
  input_closed_ = false;
  question_.clear();
  answer_.clear();
  errors_.clear();
  written_ = 0;
  ending_.reset();
  return {};
}

void WorkerProcess::end(Keeper& keeper, std::vector<pid_t>& dying) {
  if (!running()) return;
  ::kill(-id_, SIGKILL);
  keeper.forget(id_);
  dying.push_back(id_);
  close_all();
}

void WorkerProcess::close_all() {
  id_ = -1;
  for (auto* const descriptor : {&in_, &out_, &err_, &handle_}) *descriptor = Descriptor();
}

std::optional<Ending> WorkerProcess::ending() {
  if (ending_ || !running()) return ending_;
  siginfo_t info{};
  const int result = uninterrupted(
      [&] { return ::waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED | WNOHANG | WNOWAIT); });
  if (result != 0) {
    ending_ = Ending{};  // somebody else has waited for it
  } else if (info.si_pid == id_) {
    ending_ =
        Ending{.known = true, .by_signal = info.si_code != CLD_EXITED, .number = info.si_status};
  }
  return ending_;
}

void WorkerProcess::ask(std::string_view question) {
  if (question.data() != question_.data()) question_ = question;
  written_ = 0;
  answer_.clear();
  write_more();
}

void WorkerProcess::write_more() {
  if (!in_.valid() || input_closed_) return;
  const NoPipeSignal quiet;
  while (written_ < question_.size()) {
    const auto result = uninterrupted([&] {
      return ::write(in_.get(), question_.data() + written_, question_.size() - written_);
    });
    if (result < 0) {
      input_closed_ = errno != EAGAIN;
      return;
    }
    written_ += static_cast<std::size_t>(result);
  }
}

void WorkerProcess::read_more() {
  if (out_.valid() && !take_what_is_there(out_, answer_, kPiece)) out_ = Descriptor();
}

void WorkerProcess::read_errors() {
  if (!err_.valid()) return;
  if (!take_what_is_there(err_, errors_, kErrorPiece)) err_ = Descriptor();
  if (errors_.size() > kErrorsKept) errors_.erase(0, errors_.size() - kErrorsKept);
}

void WorkerProcess::read_rest() {
  // What a pipe holds is all that there can be, but for what others of its group still write.
  constexpr int kMostPieces = 4;
  for (int piece = 0; piece < kMostPieces; ++piece) read_more();
  for (int piece = 0; piece < kMostPieces; ++piece) read_errors();
}

bool WorkerProcess::left_question_unread() const {
  if (!in_.valid() || !input_closed_) return false;
  int unread = 0;
  return !question_written() || (::ioctl(in_.get(), FIONREAD, &unread) == 0 && unread > 0);
}

std::string WorkerProcess::error_output() const {
  std::string_view text = errors_;
  if (text.size() == kErrorsKept) {  // from the beginning of a line, where there is one
    const auto end = text.find('\n');
    if (end != std::string_view::npos && end + 1 < text.size()) text.remove_prefix(end + 1);
  }
  while (text.ends_with('\n')) text.remove_suffix(1);
  return printable(text);
}

bool WorkerProcess::can_be_asked() {
  std::array<pollfd, 2> streams{pollfd{.fd = out_.get(), .events = POLLIN, .revents = 0},
                                pollfd{.fd = in_.get(), .events = 0, .revents = 0}};
  if (!out_.valid() || !in_.valid()) return false;
  if (::poll(streams.data(), streams.size(), 0) == 0) return true;
  answer_.clear();
  read_more();
  return false;
}

std::array<pollfd, WorkerProcess::kPolled> WorkerProcess::polled() const {
  // The other side's closing of its input is told whether asked for or not; once is enough.
  const auto writing = static_cast<short>(question_written() ? 0 : POLLOUT);
  return {pollfd{.fd = input_closed_ ? -1 : in_.get(), .events = writing, .revents = 0},
          pollfd{.fd = out_.get(), .events = POLLIN, .revents = 0},
          pollfd{.fd = err_.get(), .events = POLLIN, .revents = 0},
          pollfd{.fd = ending_ ? -1 : handle_.get(), .events = POLLIN, .revents = 0}};
}

void WorkerProcess::attend(const pollfd* polled) {
  if ((polled[0].revents & POLLERR) != 0) {
    input_closed_ = true;
  } else if (polled[0].revents != 0) {
    write_more();
  }
  if (polled[1].revents != 0) read_more();
  if (polled[2].revents != 0) read_errors();
}

}  // namespace rarefy
