// How a process ended, in words.
#pragma once

#include <string>

namespace rarefy {

struct Ending {
  bool known = false;      ///< false: somebody else has taken the status
  bool by_signal = false;  ///< else it exited
  int number = 0;          ///< of the signal, or the exit status

  [[nodiscard]] bool well() const { return known && !by_signal && number == 0; }
  /// What a shell says where there is no such program, or it may not be run.
  [[nodiscard]] bool was_not_found() const {
    return known && !by_signal && (number == 126 || number == 127);
  }
  /// "ended with exit status 3", "was ended by SIGSEGV".
  [[nodiscard]] std::string text() const;
};

}  // namespace rarefy
