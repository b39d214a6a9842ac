// The one reader that counts for archive.npz: NumPy itself.
#pragma once

#include "command_line.hpp"

inline constexpr const char* kPython = "/usr/bin/python3";

inline bool numpy_is_here() {
  static const bool here = [] {
    Process process({kPython, "-c", "import numpy"});
    return process.wait().exit_code == 0;
  }();
  return here;
}

/// Runs a script; what it asserts is asserted.
inline ProcessResult python(const std::string& script, const Words& arguments) {
  Process process(Words{kPython, "-c", script} + arguments);
  return process.wait();
}
