#include "rarefy/experiment/make_program.hpp"

#include <filesystem>
#include <system_error>

#include "rarefy/core/error.hpp"

namespace rarefy {

std::shared_ptr<ProgramEvaluator> make_program(const Config& config) {
  if (!config.program.any()) return nullptr;
  if (!config.own_problem) {
    throw Error(ErrorKind::parameter, "command", config.program.command,
                "a description of its problem: n, and where features lie (low, high)");
  }
  const auto& problem = *config.own_problem;
  std::error_code unknown;  // a run may have come from another machine
  const bool there = std::filesystem::is_directory(config.program.folder, unknown);
  return std::make_shared<ProgramEvaluator>(
      ProgramOptions{.command = config.program.command,
                     .folder = there ? config.program.folder : std::string(),
                     .protocol = config.program.protocol,
                     .solution_dim = problem.solution_dim,
                     .feature_dim = problem.feature_dim(),
                     .with_objective = !problem.constant_objective,
                     .workers = config.program.workers,
                     .timeout = config.program.timeout,
                     .start_time = config.program.start_time,
                     .retries = config.program.retries});
}

}  // namespace rarefy
