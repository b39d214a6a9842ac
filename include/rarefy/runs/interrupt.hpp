// Ctrl-C: the first finishes the iteration and saves, the second leaves at once. And other ways in
// which the world around a process could end a run.
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

/// Installs handlers for SIGINT, SIGTERM and SIGHUP, but for those that the process was started
/// to ignore, as by nohup. The flag, for Run::go(), is true once one was received; after the second
/// the process exits with kInterruptedExit. Leaving at once harms nothing: every file is replaced
/// as a whole. Calls harden_process().
const std::atomic<bool>& stop_on_interrupt(const InterruptMessages& messages = {});

/// Says something else from now on: what is true while cells are made is not while a run goes on.
void set_interrupt_messages(const InterruptMessages& messages);

/// For a program that runs for long, whatever started it. Standard input, output and error are
/// /dev/null where they were closed, so that no file gets their numbers, and messages meant for
/// them; a pipe that nobody reads (SIGPIPE) and a limit on the size of files (SIGXFSZ) become
/// errors of the write instead of the end, unless the program has handlers of its own.
void harden_process();

}  // namespace rarefy
