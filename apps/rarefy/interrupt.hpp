// Ctrl-C: the first finishes the iteration and saves, the second leaves at once.
#pragma once

#include <atomic>

namespace rarefy::command {

/// Installs the handlers for SIGINT, SIGTERM and SIGHUP. The flag is true once one was received.
/// Leaving at once harms nothing: every file is replaced as a whole.
const std::atomic<bool>& stop_on_interrupt();

}  // namespace rarefy::command
