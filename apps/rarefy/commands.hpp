// The verbs of the command, one file each. Every `add_...` puts a subcommand on the
// application and leaves in `chosen` what to do when the user picks it.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace rarefy::command {

/// What scripts can rely on. See also README.md.
enum ExitCode : int {
  kDone = 0,
  kFailed = 1,         // something unforeseen
  kUsage = 2,          // a parameter, option or configuration that cannot be
  kBadData = 3,        // a file or value that cannot be used
  kSystem = 4,         // the system refused to read or write
  kInterrupted = 130,  // stopped by the user; the run can be resumed
};

using Action = std::function<int()>;

void add_run(CLI::App& app, Action& chosen);
void add_resume(CLI::App& app, Action& chosen);
void add_evaluate(CLI::App& app, Action& chosen);
void add_list(CLI::App& app, Action& chosen);
void add_show(CLI::App& app, Action& chosen);

}  // namespace rarefy::command
