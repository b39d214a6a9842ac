// Episodes of the maze in a second.
#pragma once

namespace rarefy::bench {

/// A table for controllers drawn from N(0, 1) and for evolved ones: the plain scalar loop of
/// the tests, then every instruction set of this machine on one thread, then two threads.
void print_maze();

}  // namespace rarefy::bench
