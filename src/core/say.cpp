#include "rarefy/core/say.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

#include "rarefy/core/text.hpp"

namespace rarefy {
namespace {

// Keeps the signal of a closed pipe from this thread, and takes back one that came of what was
// done meanwhile: whether a program ends by it is for the program to say, not for a message.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    // NOLINTNEXTLINE(cppcoreguidelines-prefer-member-initializer): pipe_ must be filled before
    blocked_ = pthread_sigmask(SIG_BLOCK, &pipe_, &before_) == 0;
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;
  ~NoPipeSignal() {
    if (!blocked_) return;
    const timespec no_time{};
    while (!was_pending_ && sigtimedwait(&pipe_, nullptr, &no_time) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_{}, before_{};
  bool was_pending_ = false, blocked_ = false;
};

// Whoever made standard error non-blocking may be slow to read; for a moment we wait.
bool can_be_written() {
  constexpr int kMilliseconds = 200;
  pollfd error_stream{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  return poll(&error_stream, 1, kMilliseconds) == 1;
}

void write_all(std::string_view text) {
  const NoPipeSignal quiet;
  while (!text.empty()) {
    const auto written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR && !(errno == EAGAIN && can_be_written())) {
      break;
    }
  }
}

}  // namespace

void say_as_is(std::string_view text) noexcept {
  const int kept = errno;
  write_all(text);
  errno = kept;
}

void say(std::string_view text) noexcept {
  try {
    say_as_is(printable(text));
  } catch (...) {  // NOLINT(bugprone-empty-catch): no memory to say it with
  }
}

}  // namespace rarefy
