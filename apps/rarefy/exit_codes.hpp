// What scripts can rely on. See also README.md.
#pragma once

namespace rarefy::command {

enum ExitCode : int {
  kDone = 0,
  kFailed = 1,         // something unforeseen
  kUsage = 2,          // a parameter, option or configuration that is not possible
  kBadData = 3,        // a file or value that cannot be used
  kSystem = 4,         // the system refused to read or write, or had no more memory for a run
  kInterrupted = 130,  // stopped by the user; the run can be resumed
};

}  // namespace rarefy::command
