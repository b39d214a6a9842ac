// What the bandwidth of a kernel density does, in one dimension: the paper's figure of it.
#pragma once

#include "rarefy/pictures/chart.hpp"

namespace rarefy {

/// Samples of a density with two modes, and estimates of it by our own KernelDensity with a
/// bandwidth that is too small, one that fits and one that is too large, a panel each.
[[nodiscard]] pictures::Chart bandwidth_figure();

}  // namespace rarefy
