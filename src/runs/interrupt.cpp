#include "rarefy/runs/interrupt.hpp"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace rarefy {
namespace {

std::atomic<bool> stop{false};
std::atomic<const char*> first_text{nullptr}, second_text{nullptr};
static_assert(std::atomic<bool>::is_always_lock_free);  // or a handler could not use them
static_assert(std::atomic<const char*>::is_always_lock_free);

// Only what a signal handler may do: lock-free flags, write() and _exit().
void on_signal(int /*signal*/) {
  const int kept = errno;  // of what was interrupted
  const auto say = [](const char* text) {
    [[maybe_unused]] const auto written = write(STDERR_FILENO, text, std::strlen(text));
  };
  if (stop.exchange(true)) {
    say(second_text.load());
    _exit(kInterruptedExit);
  }
  say(first_text.load());
  errno = kept;
}

}  // namespace

const std::atomic<bool>& stop_on_interrupt(const InterruptMessages& messages) {
  first_text = messages.first;
  second_text = messages.second;
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGHUP, &action, nullptr);
  return stop;
}

}  // namespace rarefy
