// A trial that is tried: what comes of it, whatever that is.
#pragma once

#include <string>

#include "rarefy/trials/board.hpp"
#include "rarefy/trials/run_trial.hpp"

namespace rarefy {

struct AttemptEnd {
  enum class Kind { finished, stopped, failed };
  Kind kind = Kind::failed;
  std::string error = {};  ///< why it failed
};

/// Never throws what a run does: it tells.
[[nodiscard]] AttemptEnd attempt(const TrialOrder& order, const TrialTeam& team);

/// Tells the board.
void note(TrialBoard& board, std::size_t trial, const AttemptEnd& end);

}  // namespace rarefy
