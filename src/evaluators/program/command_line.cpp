#include "evaluators/program/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rarefy/core/text.hpp"

namespace rarefy {

bool is_simple_command(std::string_view command) {
  char quote = 0;
  bool first_word = true;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    if (c == '\\') {
      if (quote != '\'') ++i;
    } else if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (std::string_view(";|&(){}!#`\n").find(c) != std::string_view::npos ||
               (c == '=' && first_word)) {
      return false;
    } else if ((c == ' ' || c == '\t') && i > 0) {
      first_word = false;
    }
  }
  return quote == 0;
}

std::vector<std::string> words_to_execute(const ProgramOptions& options) {
  if (!options.arguments.empty()) return options.arguments;
  std::string script = is_simple_command(options.command) ? "exec " : "";
  script += options.command;
  if (options.protocol == ProgramProtocol::once) script += " \"$@\"";
  return {"/bin/sh", "-c", script, "sh"};
}

std::string name_of_command(const ProgramOptions& options) {
  const auto words = options.arguments.empty()
                         ? options.command
                         : fmt::format("{}", fmt::join(options.arguments, " "));
  return fmt::format("command '{}'", printable(words));
}

}  // namespace rarefy
