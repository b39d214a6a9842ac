// What a program of the user's own could not evaluate, in words: failures.log.
#pragma once

#include <string>

#include "rarefy/evaluators/program_evaluator.hpp"
#include "rarefy/runs/observer.hpp"
#include "rarefy/storage/file_place.hpp"

namespace rarefy {

/// Writes a few lines for every solution that failed: when, why, and the end of the program's
/// standard error. The file is replaced as a whole, with every checkpoint, and keeps the newest.
class ProgramFailures : public Observer {
 public:
  ProgramFailures(ProgramRecord& program, FilePlace file);
  Next iteration_done(const Search& search) override;
  void checkpoint_written(const Search& search, const std::filesystem::path& file) override;
  void end(const Search& search, DriveEnd end) override;

 private:
  void take(const Search& search, std::int64_t iteration);
  void write();

  ProgramRecord& program_;
  FilePlace file_;
  std::string news_;  // not in the file yet
};

}  // namespace rarefy
