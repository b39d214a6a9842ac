#include "rarefy/runs/interrupt.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <list>
#include <mutex>

namespace rarefy {
namespace {

std::atomic<bool> stop{false};
std::atomic<const InterruptMessages*> texts{nullptr};
static_assert(std::atomic<bool>::is_always_lock_free);  // or a handler could not use them
static_assert(std::atomic<const InterruptMessages*>::is_always_lock_free);

// Only what a signal handler may do: lock-free flags, write() and _exit().
void on_signal(int /*signal*/) {
  const int kept = errno;  // of what was interrupted
  const auto say = [](const char* text) {
    [[maybe_unused]] const auto written = write(STDERR_FILENO, text, std::strlen(text));
  };
  const bool second = stop.exchange(true);
  const auto* told = texts.load();
  say(second ? told->second : told->first);
  if (second) _exit(kInterruptedExit);
  errno = kept;
}

bool has_disposition(int signal, void (*disposition)(int)) {
  struct sigaction now {};
  if (sigaction(signal, nullptr, &now) != 0) return false;
  return (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == disposition;
}

}  // namespace

void set_interrupt_messages(const InterruptMessages& messages) {
  // Kept for ever: a handler may be reading the old ones.
  static auto& all = *new std::list<InterruptMessages>;
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  all.push_back(messages);
  texts = &all.back();
}

const std::atomic<bool>& stop_on_interrupt(const InterruptMessages& messages) {
  harden_process();
  set_interrupt_messages(messages);
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (!has_disposition(signal, SIG_IGN)) sigaction(signal, &action, nullptr);
  }
  return stop;
}

void harden_process() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    // The least free number is given out, which is this one.
    [[maybe_unused]] const int opened = open("/dev/null", O_RDWR);
  }
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigemptyset(&ignore.sa_mask);
  for (const int signal : {SIGPIPE, SIGXFSZ}) {
    if (has_disposition(signal, SIG_DFL)) sigaction(signal, &ignore, nullptr);
  }
}

}  // namespace rarefy
