// All processes of a session, in whichever groups they are.
#pragma once

#include <sys/types.h>

#include <span>

namespace rarefy {

/// Kills the groups that the leaders of sessions are in, and whatever else is in the sessions: a
/// shell with job control, or mpirun, put what they start into groups of their own. The leaders
/// must not have been waited for yet, so that their numbers are still their own.
void kill_sessions(std::span<const pid_t> leaders);

}  // namespace rarefy
