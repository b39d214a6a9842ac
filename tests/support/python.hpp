// The one reader that counts for .npy and .npz files: NumPy itself.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "rarefy/storage/atomic_file.hpp"

/// A Python that has NumPy, or "".
inline std::string python_with_numpy() {
  for (const std::string python : {
#ifdef RAREFY_PYTHON
           RAREFY_PYTHON,
#endif
           "python3", "/usr/bin/python3"}) {
    const auto command = python + " -c 'import numpy' >/dev/null 2>&1";
    if (std::system(command.c_str()) == 0) return python;
  }
  return "";
}

/// Whether a script, run in a folder, ends well.
inline bool runs(const std::string& python, const std::filesystem::path& folder,
                 const std::string& script) {
  rarefy::write_file_atomically(folder / "script.py", std::string_view(script));
  const auto command = "cd '" + folder.string() + "' && " + python + " script.py";
  return std::system(command.c_str()) == 0;
}
