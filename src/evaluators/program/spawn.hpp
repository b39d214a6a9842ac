// Starts another program from a process that may have threads and much memory.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace rarefy {

struct SpawnRequest {
  std::vector<std::string> arguments;  ///< the program (sought in PATH) and what it is given
  std::string folder;                  ///< to run in; empty: this one
  int in = -1, out = -1, err = -1;     ///< what becomes its standard streams; all above 2
  /// Where the new process leaves a line "+ ID" before it becomes the program; -1: nowhere. A
  /// socket: nothing comes of one that is closed.
  int announce_to = -1;
  /// Is killed with this thread, where that is the main thread of the process.
  bool dies_with_us = true;
};

struct Spawned {
  pid_t id = -1;
  int error = 0;                  ///< errno where it could not be started
  bool entered_folder = true;     ///< false: that was what failed
  bool out_of_resources = false;  ///< no process could be made: another time one may be
};

/// The new process leads a session and group of its own, has the default action for all signals,
/// blocks none, and inherits no descriptors but its standard streams.
[[nodiscard]] Spawned spawn(const SpawnRequest& request);

}  // namespace rarefy
