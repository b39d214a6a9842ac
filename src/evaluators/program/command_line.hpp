// What is executed for a command.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rarefy/evaluators/program_evaluator.hpp"

namespace rarefy {

/// The program and its arguments, but for those of a row.
[[nodiscard]] std::vector<std::string> words_to_execute(const ProgramOptions& options);
/// What messages call it: "command './simulate'".
[[nodiscard]] std::string name_of_command(const ProgramOptions& options);
/// Whether a shell can become the program at once, because there is nothing else to do: no list,
/// pipeline, assignment or group.
[[nodiscard]] bool is_simple_command(std::string_view command);

}  // namespace rarefy
