#include "rarefy/evaluators/program_evaluator.hpp"

#include <fmt/format.h>

#include <cmath>

#include "evaluators/program/program_pool.hpp"
#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

void check_at_least(std::string_view thing, Index given, Index least) {
  if (given >= least) return;
  throw Error(ErrorKind::parameter, thing, fmt::format("{}", given),
              fmt::format("at least {}", least));
}

void check_seconds(std::string_view thing, double given) {
  if (std::isfinite(given) && given >= 0) return;
  throw Error(ErrorKind::parameter, thing, fmt::format("{}", given), "seconds, at least 0");
}

ProgramOptions checked(ProgramOptions options) {
  const bool blank = options.command.find_first_not_of(" \t\n") == std::string::npos;
  if (blank == options.arguments.empty()) {
    throw Error(ErrorKind::parameter, "command of a program",
                blank ? "none" : "a command line and a list of arguments", "one of them");
  }
  const auto with_null = [](const std::string& word) {
    return word.find('\0') != std::string::npos;
  };
  bool any_null = with_null(options.command) || with_null(options.folder.string());
  for (const auto& word : options.arguments) any_null = any_null || with_null(word);
  if (any_null) {
    throw Error(ErrorKind::parameter, "command of a program", "a null character", "none");
  }
  check_at_least("solution_dim", options.solution_dim, 1);
  check_at_least("feature_dim", options.feature_dim, 1);
  check_at_least("workers", options.workers, 0);
  check_at_least("retries", options.retries, 0);
  check_at_least("longest_chunk", options.longest_chunk, 1);
  check_seconds("timeout", options.timeout);
  check_seconds("start_time", options.start_time);
  return options;
}

}  // namespace

ProgramEvaluator::ProgramEvaluator(ProgramOptions options)
    : pool_(std::make_unique<Pool>(checked(std::move(options)))) {}
ProgramEvaluator::~ProgramEvaluator() = default;

void ProgramEvaluator::begin(Index job, BatchView solutions, const EvaluationSpan& out) {
  pool_->begin(job, solutions, out);
}
std::span<const RowDone> ProgramEvaluator::wait(StopFlag stop) {
  return pool_->wait(stop, [this] { still_waiting(); });
}
void ProgramEvaluator::abandon() { pool_->abandon(); }
void ProgramEvaluator::it_works() { pool_->it_works(); }
Index ProgramEvaluator::capacity() const { return pool_->workers(); }
const ProgramOptions& ProgramEvaluator::options() const { return pool_->options(); }
const ProgramCounts& ProgramEvaluator::counts() const { return pool_->counts(); }
const std::deque<ProgramFailure>& ProgramEvaluator::failures() const { return pool_->failures(); }
std::deque<ProgramFailure> ProgramEvaluator::take_failures() {
  return std::exchange(pool_->failures(), {});
}

}  // namespace rarefy
