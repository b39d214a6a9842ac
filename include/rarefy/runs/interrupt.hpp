// Ctrl-C: the first finishes the iteration and saves, the second leaves at once.
#pragma once

#include <atomic>

namespace rarefy {

/// What is said on standard error when a signal arrives. Both must live for ever: literals do.
struct InterruptMessages {
  const char* first = "\nfinishing this iteration and saving (interrupt again to leave at once)\n";
  const char* second = "\nleft at once; the run can be resumed from its last checkpoint\n";
};

/// The exit code of a process that was interrupted, as shells have it.
inline constexpr int kInterruptedExit = 130;

/// Installs handlers for SIGINT, SIGTERM and SIGHUP. The flag, for Run::go(), is true once one was
/// received; after the second the process exits with kInterruptedExit. Leaving at once harms
/// nothing: every file is replaced as a whole.
const std::atomic<bool>& stop_on_interrupt(const InterruptMessages& messages = {});

}  // namespace rarefy
