// make bench-mpi: rows a second through MPI, by what a row costs, beside threads of this process.
// Started alone, it starts itself by mpirun, once for every case.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "../rows_bench.hpp"
#include "rarefy/evaluators/mpi_evaluator.hpp"

namespace {

using namespace rows_bench;
using rarefy::BatchView;
using rarefy::EvaluationSpan;

// Answers with the first two of 100 numbers.
class Sleeper : public rarefy::Evaluator {
 public:
  explicit Sleeper(double seconds) : seconds_(seconds) {}
  void evaluate(BatchView solutions, const EvaluationSpan& out) override {
    for (Index i = 0; i < solutions.rows(); ++i) {
      take_time(seconds_);
      std::copy_n(solutions.row(i).begin(), kFeatures, out.features.row(i).begin());
    }
  }

 private:
  double seconds_;
};

// Every rank: bench_mpi rank COST ROWS THREADS
int measure_ranks(double cost, Index rows, double threads) {
  rarefy::MpiSession session;
  if (session.rank() > 0) {
    return rarefy::serve_mpi(session, [&](const auto&) { return std::make_shared<Sleeper>(cost); })
               ? 0
               : 1;
  }
  rarefy::MpiEvaluator evaluator(session, {.solution_dim = kSolution, .feature_dim = kFeatures});
  const auto solutions = some_rows(rows);
  const auto evaluate = [&](Index some) {
    Evaluation part(some, kFeatures);
    evaluator.evaluate(solutions.view().rows(0, some), part.span());
    if (part.features(some - 1, 1) != solutions(some - 1, 1)) fmt::print("wrong answers\n");
  };
  evaluate(session.size() - 1);  // so that it is known what a row costs
  const auto best = best_seconds([&] { evaluate(rows); });
  report("MPI", session.size() - 1, cost, rows, best, threads);
  return 0;
}

// The environment and not options, which differ between versions of mpirun.
int start_ranks(Index workers, double cost, Index rows, double threads) {
  const auto self = std::filesystem::read_symlink("/proc/self/exe").string();
  const auto command = fmt::format(
      "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe "
      "--bind-to none -n {} '{}' rank {} {} {}",
      workers + 1, self, cost, rows, threads);
  return std::system(command.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 5 && std::string_view(argv[1]) == "rank") {
    return measure_ranks(std::atof(argv[2]), std::atol(argv[3]), std::atof(argv[4]));
  }
  fmt::print("rows through MPI, n = {}, {} features; rank 0 is one more\n", kSolution, kFeatures);
  print_head();
  struct Case {
    double cost;
    Index workers, rows;
  };
  for (const auto& [cost, workers, rows] :
       {Case{0, 1, 1'000'000}, Case{0, 2, 1'000'000}, Case{0.001, 4, 4000}, Case{0.1, 16, 480}}) {
    const double threads = measure_threads(workers, cost, rows);
    if (start_ranks(workers, cost, rows, threads) != 0) return 1;
  }
  return 0;
}
