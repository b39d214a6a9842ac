// How much memory this process may come to have.
#pragma once

#include <filesystem>
#include <limits>
#include <string_view>

namespace rarefy {

struct MemoryLimit {
  double bytes = std::numeric_limits<double>::infinity();  ///< infinite: nobody knows of any
  std::string_view whose = "this machine";
};

/// The least of what the machine has, what a container (a control group) is allowed, and what
/// `ulimit -v` and `ulimit -d` allow. What other processes have taken is not looked at: they come
/// and go.
[[nodiscard]] MemoryLimit memory_limit();

/// The least limit of the control groups that this process is in, of both versions of them.
/// `root` is where /proc and /sys are looked for.
[[nodiscard]] double control_group_limit(const std::filesystem::path& root = "/");

}  // namespace rarefy
