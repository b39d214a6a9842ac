// rarefy under mpirun: how it is started on this machine, and the processes that it then is.
#pragma once

#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command/command_line.hpp"
#include "evaluators/programs.hpp"

/// As root, with more ranks than cores, and over nothing but this machine's own network.
inline int surroundings() {
  ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  ::setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 1);
  ::setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 1);
  ::setenv("OMPI_MCA_btl_tcp_if_include", "lo", 1);
  ::setenv("OMPI_MCA_oob_tcp_if_include", "lo", 1);
  return 0;
}

/// mpirun gives what is left of a job so many seconds to end by itself, twice: not here.
inline int surroundings_in_haste() {
  ::setenv("OMPI_MCA_odls_base_sigkill_timeout", "0", 1);
  return surroundings();
}

inline Words ranks(int count, const Words& command) {
  return Words{RAREFY_MPIRUN, "-q", "-n", std::to_string(count)} + command;
}
inline Words rarefy_on(int count, const Words& arguments) {
  return ranks(count, command_words(arguments));
}
inline ProcessResult run_words(const Words& words,
                               std::function<int()> prepare = surroundings_in_haste) {
  Process process(words, {.prepare = std::move(prepare)});
  return process.wait();
}

/// A file of a process; empty where that is gone.
inline std::string file_of_process(const std::string& process, const std::string& name) {
  std::ifstream file("/proc/" + process + "/" + name, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  return text.str();
}

/// Processes in whose command line `text` is.
inline std::vector<pid_t> processes_with(const std::string& text) {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const auto name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != name.npos) continue;
    if (contains(file_of_process(name, "cmdline"), text) && lives(std::stoi(name)))
      found.push_back(std::stoi(name));
  }
  return found;
}

/// Its place among the ranks; -1 for a process that is none.
inline int rank_of(pid_t process) {
  const auto all = file_of_process(std::to_string(process), "environ");
  constexpr std::string_view kVariable("\0OMPI_COMM_WORLD_RANK=", 22);  // after the one before
  const auto at = all.find(kVariable);
  return at == all.npos ? -1 : std::atoi(all.c_str() + at + kVariable.size());
}
