// The flow's products against the fastest there are.
#pragma once

namespace rarefy::bench {

/// A table for networks of the paper's size and small ones, on one thread and on two: time and
/// floating-point operations a second of training and of log-densities, beside those of large
/// products on as many cores.
void print_flow();

}  // namespace rarefy::bench
