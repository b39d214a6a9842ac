// Writing to a pipe that somebody may have closed. Whether a process ends by the signal that comes
// of it is for the program to say, not for the library.
#pragma once

#include <pthread.h>

#include <cerrno>
#include <csignal>
#include <ctime>

namespace rarefy {

/// Keeps the signal of a closed pipe from this thread, and takes back one that came of what was
/// done meanwhile.
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

}  // namespace rarefy
