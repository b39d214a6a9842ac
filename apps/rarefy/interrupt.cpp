#include "interrupt.hpp"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string_view>

#include "exit_codes.hpp"

namespace rarefy::command {
namespace {

std::atomic<bool> stop{false};
static_assert(std::atomic<bool>::is_always_lock_free);  // or a handler could not use it

// Only what a signal handler may do: a lock-free flag, write() and _exit().
void on_signal(int /*signal*/) {
  const int kept = errno;  // of what was interrupted
  const auto say = [](std::string_view text) {
    [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
  };
  if (stop.exchange(true)) {
    say("\nrarefy: left at once; 'rarefy resume' goes on from the last checkpoint\n");
    _exit(kInterrupted);
  }
  say("\nrarefy: finishing this iteration and saving (interrupt again to leave at once)\n");
  errno = kept;
}

}  // namespace

const std::atomic<bool>& stop_on_interrupt() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGHUP, &action, nullptr);
  return stop;
}

}  // namespace rarefy::command
