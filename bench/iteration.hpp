// One iteration of a search with a full buffer, stage by stage.
#pragma once

#include <string>

#include "rarefy/core/batch.hpp"
#include "rarefy/experiment/config.hpp"

namespace rarefy::bench {

/// Milliseconds an iteration; the stages add up to the whole.
struct IterationTimes {
  double ask = 0, evaluate = 0, score = 0, observe = 0, record_and_adapt = 0;
  [[nodiscard]] double whole() const { return ask + evaluate + score + observe + record_and_adapt; }
};

/// The default profile on `domain`: runs until the buffer is full, then measures the median
/// over rounds of iterations.
[[nodiscard]] IterationTimes time_iteration(const std::string& domain, Index threads);
/// The same with a configuration of one's own.
[[nodiscard]] IterationTimes time_iteration(const Config& config, Index threads);

}  // namespace rarefy::bench
