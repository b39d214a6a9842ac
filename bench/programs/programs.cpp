// make bench-programs: rows a second through programs, by protocol and what a row costs, beside
// threads of this process. With arguments, rows through a program of yours that answers with the
// first two of 100 numbers: bench_programs PROTOCOL WORKERS ROWS COMMAND
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include "../rows_bench.hpp"
#include "rarefy/evaluators/program_evaluator.hpp"

namespace {

using namespace rows_bench;
using rarefy::ProgramOptions;
using rarefy::ProgramProtocol;

void measure_programs(ProgramOptions options, double cost, Index rows, double threads) {
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
  report(name_of(protocol), workers, cost, rows, best_seconds([&] { evaluate(rows); }), threads);
}

int measure_ours() {
  const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  double threads = 0;
  const auto ours = [&](ProgramProtocol protocol, Index workers, double cost, Index rows) {
    const auto worker = (here / "bench_programs_worker").string();
    const auto name = std::string(name_of(protocol));
    measure_programs({.arguments = {worker, name, fmt::format("{}", cost)},
                      .protocol = protocol,
                      .workers = workers},
                     cost, rows, threads);
  };
  using enum ProgramProtocol;
  for (const Index workers : {1, 2}) {
    threads = measure_threads(workers, 0, 1'000'000);
    ours(lines, workers, 0, 50'000);
    ours(npy, workers, 0, 200'000);
    ours(once, workers, 0, 1000);
  }
  struct Case {
    double cost;
    Index workers, rows;
  };
  for (const auto& [cost, workers, rows] : {Case{0.001, 4, 4000}, Case{0.1, 16, 480}}) {
    threads = measure_threads(workers, cost, rows);
    for (const auto protocol : {lines, npy, once}) {
      ours(protocol, workers, cost, rows);
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  fmt::print("rows through programs, n = {}, {} features\n", kSolution, kFeatures);
  print_head();
  if (argc < 5) return measure_ours();
  const Index workers = std::atol(argv[2]);
  const double threads = measure_threads(workers, 0, 1'000'000);
  measure_programs(
      {.command = argv[4], .protocol = rarefy::named<ProgramProtocol>(argv[1]), .workers = workers},
      0, std::atol(argv[3]), threads);
  return 0;
}
