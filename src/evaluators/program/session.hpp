// All processes of a session, in whichever groups they are.
#pragma once

#include <sys/types.h>

namespace rarefy {

/// Kills the group that the leader of a session is in, and whatever else is in the session: a
/// shell with job control, or mpirun, put what they start into groups of their own. The leader
/// must not have been waited for yet, so that the number is still its own.
void kill_session(pid_t leader);

}  // namespace rarefy
