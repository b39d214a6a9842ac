// Programs for evaluators to try, and solutions that tell good rows from bad.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "rarefy/evaluators/program_evaluator.hpp"

inline std::string program(const std::string& name) {
  return std::string(RAREFY_SOURCE_DIR) + "/tests/evaluators/programs/" + name;
}

/// The system's own: one that a manager of versions puts in front takes long to start.
inline std::string python() {
  return ::access("/usr/bin/python3", X_OK) == 0 ? "/usr/bin/python3" : "python3";
}

/// Answers with the first two numbers of every line.
inline constexpr const char* kEcho = "while read -r x y rest; do echo \"$x $y\"; done";

/// Rows (i, i + 0.25, ...), but those named begin with 13; i is never 13 otherwise.
inline rarefy::Batch numbered_rows(rarefy::Index rows, const std::vector<rarefy::Index>& bad = {},
                                   rarefy::Index cols = 2) {
  rarefy::Batch batch(rows, cols);
  for (rarefy::Index i = 0; i < rows; ++i) {
    for (rarefy::Index j = 0; j < cols; ++j) {
      batch(i, j) = static_cast<double>(i) + 100.0 + 0.25 * static_cast<double>(j);
    }
  }
  for (const auto i : bad) batch(i, 0) = 13;
  return batch;
}

/// Whether a process runs; one that nobody has waited for yet does not.
inline bool lives(pid_t id) {
  std::ifstream file("/proc/" + std::to_string(id) + "/stat");
  std::string text;
  if (!std::getline(file, text)) return false;
  const auto state = text.find(") ");
  return state != text.npos && text[state + 2] != 'Z' && text[state + 2] != 'X';
}

/// Processes that this one has started, zombies included.
inline std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const auto name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != name.npos) continue;
    std::ifstream file(entry.path() / "stat");
    std::string text;
    if (!std::getline(file, text)) continue;
    const auto state = text.rfind(") ");
    if (state == text.npos) continue;
    if (std::stoi(text.substr(state + 4)) == parent) children.push_back(std::stoi(name));
  }
  return children;
}

/// Waits for what must come to be; how long that takes depends on the machine.
template <typename Condition>
bool comes_true(Condition condition) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

/// What the evaluation throws, or "".
inline std::string error_of(rarefy::ProgramEvaluator& evaluator, rarefy::BatchView solutions) {
  rarefy::Evaluation out(solutions.rows(), evaluator.options().feature_dim);
  try {
    evaluator.evaluate(solutions, out.span());
  } catch (const rarefy::Error& error) {
    return error.what();
  }
  return "";
}
