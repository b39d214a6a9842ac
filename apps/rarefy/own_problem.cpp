#include "own_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <string_view>
#include <vector>

#include "rarefy/core/error.hpp"
#include "rarefy/experiment/parameters.hpp"

namespace rarefy::command {
namespace {

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  for (std::size_t from = 0; from <= text.size();) {
    const auto to = std::min(text.find(',', from), text.size());
    parts.emplace_back(text.substr(from, to - from));
    from = to + 1;
  }
  return parts;
}

std::vector<double> numbers(std::string_view option, const std::string& text) {
  std::vector<double> values;
  for (const auto& part : split(text)) {
    double value = 0;
    const auto* const end = part.data() + part.size();
    const auto [rest, error] = std::from_chars(part.data(), end, value);
    if (error != std::errc() || rest != end || !std::isfinite(value)) {
      throw Error(ErrorKind::parameter, std::string(option), fmt::format("'{}'", text),
                  "numbers with commas between them, one for each feature");
    }
    values.push_back(value);
  }
  return values;
}

std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '-' || c == '_';
    if (kept) out += c;
  }
  return out;
}

// What the program is called, for folders: "python3 -u simulate.py --fast" is "simulate".
std::string name_of_program(const std::string& command) {
  constexpr std::string_view kStarters[] = {
      "python", "sh",      "bash",   "dash", "zsh",  "awk", "mawk",    "gawk",   "perl", "ruby",
      "node",   "julia",   "octave", "java", "exec", "env", "Rscript", "matlab", "nice", "time",
      "srun",   "taskset", "while",  "for",  "if",   "do",  "read",    "cd"};
  std::istringstream words(command);
  for (std::string word; words >> word;) {
    if (word.starts_with('-') || word.find('=') != std::string::npos) continue;
    auto name = plain(std::filesystem::path(word).stem().string());
    const auto letters = name.substr(0, name.find_first_of("0123456789"));
    const bool starter =
        std::find(std::begin(kStarters), std::end(kStarters), letters) != std::end(kStarters);
    if (!name.empty() && !starter) return name;
  }
  return "program";
}

Index length_of_solutions(const Settings& settings) {
  const auto* const n = settings.find("n");
  if (n == nullptr) {
    throw Error(ErrorKind::parameter,
                "--command: needs --n, how many numbers a solution of its problem has");
  }
  return std::get<std::int64_t>(n->value);
}

}  // namespace

void OwnProblemOptions::add_to(CLI::App& verb) {
  const auto option = [&](const char* flag, std::string& to, const char* meaning) {
    verb.add_option(flag, to, meaning)->type_name("")->group("A problem of your own (--command)");
  };
  option("--low", low, "where features begin: numbers with commas, one for each");
  option("--high", high, "where they end");
  option("--feature-names", feature_names, "what they are, with commas, for pictures");
  option("--name", name, "of the problem, for folders [that of the program]");
  option("--title", title, "of the problem, for pictures");
  verb.add_flag("--with-objective", with_objective,
                "the program answers with an objective after the features; greater is better")
      ->group("A problem of your own (--command)");
}

bool OwnProblemOptions::any() const {
  return !low.empty() || !high.empty() || !feature_names.empty() || !name.empty() ||
         !title.empty() || with_objective;
}

void OwnProblemOptions::describe(Settings& settings) const {
  const auto* const command = settings.find("command");
  if (command == nullptr || text_of(command->value).empty()) {  // a file may say that there is none
    if (any()) {
      throw Error(ErrorKind::parameter,
                  "--low, --high, --feature-names, --name, --title and --with-objective describe "
                  "the problem of a program: give one with --command");
    }
    return;
  }
  if (!any() && settings.own_problem) return;  // as the file says
  if (settings.find("domain") != nullptr && !settings.own_problem) {
    throw Error(ErrorKind::parameter,
                "--command: a program evaluates a problem of its own, and there is a domain, too");
  }
  if (low.empty() || high.empty()) {
    throw Error(ErrorKind::parameter,
                "--command: needs --low and --high, where the features of its problem lie");
  }
  DomainInfo problem;
  problem.name = name.empty() ? name_of_program(text_of(command->value)) : name;
  problem.title = title;
  problem.solution_dim = length_of_solutions(settings);
  problem.feature_space = {.lower = numbers("--low", low), .upper = numbers("--high", high)};
  if (problem.feature_space.lower.size() != problem.feature_space.upper.size()) {
    throw Error(ErrorKind::parameter, "--high",
                fmt::format("{} numbers", problem.feature_space.upper.size()),
                fmt::format("{}, as many as --low has", problem.feature_space.lower.size()));
  }
  if (!feature_names.empty()) problem.feature_names = split(feature_names);
  problem.constant_objective = !with_objective;
  problem.check();
  std::erase_if(settings.values,
                [](const Setting& setting) { return setting.parameter->section == "domain"; });
  settings.set("domain", problem.name);
  settings.own_problem = std::move(problem);
}

}  // namespace rarefy::command
