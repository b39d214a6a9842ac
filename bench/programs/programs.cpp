// make bench-programs: rows a second through programs, by protocol and what a row costs, beside
// threads of this process. With arguments, rows through a program of yours that answers with the
// first two of 100 numbers: bench_programs PROTOCOL WORKERS ROWS COMMAND
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "rarefy/core/workers.hpp"
#include "rarefy/evaluators/program_evaluator.hpp"

namespace {

using rarefy::Batch;
using rarefy::Evaluation;
using rarefy::Index;
using rarefy::ProgramOptions;
using rarefy::ProgramProtocol;
using Clock = std::chrono::steady_clock;

constexpr Index kSolution = 100;
constexpr Index kFeatures = 2;

void take_time(double seconds) {
  if (seconds > 0) std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

// ---- the measurements --------------------------------------------------------------------------

Batch some_rows(Index rows) {
  Batch batch(rows, kSolution);
  for (Index i = 0; i < batch.view().size(); ++i) {
    batch.data()[i] = 1.0 / static_cast<double>(i + 3);  // of many digits
  }
  return batch;
}

template <typename Evaluate>
double seconds_of(Evaluate evaluate) {
  const auto before = Clock::now();
  evaluate();
  return std::chrono::duration<double>(Clock::now() - before).count();
}

void report(std::string_view who, Index workers, double cost, Index rows, double seconds) {
  const auto rate = static_cast<double>(rows) / seconds;
  const auto ideal =
      cost > 0 ? fmt::format("{:5.1f} %", 100 * rate * cost / static_cast<double>(workers)) : "-";
  fmt::print("  {:<8} {:>7} {:>9} ms {:>10} {:>12.0f} {:>12}\n", who, workers, 1000 * cost, rows,
             rate, ideal);
  std::fflush(stdout);
}

void measure_programs(ProgramOptions options, double cost, Index rows) {
  options.solution_dim = kSolution;
  options.feature_dim = kFeatures;
  const auto protocol = options.protocol;
  const auto workers = options.workers;
  rarefy::ProgramEvaluator evaluator(std::move(options));
  const auto solutions = some_rows(rows);
  const auto evaluate = [&](Index some) {
    Evaluation part(some, kFeatures);
    evaluator.evaluate(solutions.view().rows(0, some), part.span());
    if (part.features(some - 1, 1) != solutions(some - 1, 1)) fmt::print("wrong answers\n");
  };
  if (protocol != ProgramProtocol::once) evaluate(workers);  // so that all are started
  double best = 1e300;  // the others had to wait for something else on the machine
  for (int i = 0; i < 3; ++i) best = std::min(best, seconds_of([&] { evaluate(rows); }));
  report(name_of(protocol), workers, cost, rows, best);
}

void measure_threads(Index workers, double cost, Index rows) {
  rarefy::Workers team(workers);
  const auto solutions = some_rows(rows);
  Evaluation out(rows, kFeatures);
  const auto seconds = seconds_of([&] {
    team.for_each(rows, [&](Index i) {
      take_time(cost);
      std::copy_n(solutions.row(i).begin(), kFeatures, out.features.row(i).begin());
    });
  });
  report("threads", workers, cost, rows, seconds);
}

int measure_ours() {
  const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const auto ours = [&](ProgramProtocol protocol, Index workers, double cost, Index rows) {
    const auto worker = (here / "bench_programs_worker").string();
    const auto name = std::string(name_of(protocol));
    measure_programs({.arguments = {worker, name, fmt::format("{}", cost)},
                      .protocol = protocol,
                      .workers = workers},
                     cost, rows);
  };
  using enum ProgramProtocol;
  for (const Index workers : {1, 2}) {
    measure_threads(workers, 0, 1'000'000);
    ours(lines, workers, 0, 50'000);
    ours(npy, workers, 0, 200'000);
    ours(once, workers, 0, 1000);
  }
  struct Case {
    double cost;
    Index workers, rows;
  };
  for (const auto& [cost, workers, rows] : {Case{0.001, 4, 4000}, Case{0.1, 16, 480}}) {
    measure_threads(workers, cost, rows);
    for (const auto protocol : {lines, npy, once}) {
      ours(protocol, workers, cost, rows);
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  fmt::print("rows through programs, n = {}, {} features\n", kSolution, kFeatures);
  fmt::print("  {:<8} {:>7} {:>12} {:>10} {:>12} {:>12}\n", "", "workers", "cost a row", "rows",
             "rows/s", "of ideal");
  if (argc < 5) return measure_ours();
  measure_programs({.command = argv[4],
                    .protocol = rarefy::named<ProgramProtocol>(argv[1]),
                    .workers = std::atol(argv[2])},
                   0, std::atol(argv[3]));
  return 0;
}
