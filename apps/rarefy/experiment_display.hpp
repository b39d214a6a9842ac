// What the user sees while an experiment goes on.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "rarefy/core/stop.hpp"
#include "rarefy/trials/board.hpp"

namespace rarefy::command {

/// On a terminal a few lines that are drawn again and again; elsewhere a plain line for every trial
/// that ends, and now and then another. Both on standard error. Quiet: nothing but failures.
class ExperimentDisplay {
 public:
  ExperimentDisplay(bool quiet, StopFlag stop);
  ~ExperimentDisplay() { leave(); }
  ExperimentDisplay(const ExperimentDisplay&) = delete;
  ExperimentDisplay& operator=(const ExperimentDisplay&) = delete;

  void show(const ExperimentProgress& progress);

 private:
  using Clock = std::chrono::steady_clock;
  void draw(const ExperimentProgress& progress);
  void tell(const ExperimentProgress& progress);
  /// Takes away what was drawn, to make room for a line that stays.
  void erase();
  /// What is drawn stays, and what comes next is below it.
  void leave();

  bool quiet_, terminal_;
  StopFlag stop_;
  bool stop_seen_ = false;
  std::size_t drawn_ = 0;  // lines
  Clock::time_point last_;
};

}  // namespace rarefy::command
