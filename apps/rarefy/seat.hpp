// Whether this process is one of several that mpirun, or another launcher, has started as one job.
#pragma once

#include "rarefy/core/batch.hpp"

namespace rarefy::command {

struct Seat {
  Index rank = 0;
  Index size = 1;  ///< 0: the launcher does not say
  [[nodiscard]] bool alone() const { return size == 1; }
};

/// By what launchers leave in the environment, so that MPI need not be begun to find out. A program
/// inherits that from whoever starts it, so it counts only where the launcher itself has started
/// this process: a script under mpirun may use rarefy as it uses any other program.
/// RAREFY_MPI=on: it counts always (for a script that stands between the two); off: never.
[[nodiscard]] Seat seat_of_process();

}  // namespace rarefy::command
