// make bench-mpi: rows a second through MPI, by what a row costs, beside threads of this process.
// Started alone, it starts itself by mpirun, once for every case.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "rarefy/core/workers.hpp"
#include "rarefy/evaluators/mpi_evaluator.hpp"

namespace {

using rarefy::Batch;
using rarefy::BatchView;
using rarefy::Evaluation;
using rarefy::EvaluationSpan;
using rarefy::Index;
using Clock = std::chrono::steady_clock;

constexpr Index kSolution = 100;
constexpr Index kFeatures = 2;

void take_time(double seconds) {
  if (seconds > 0) std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

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

Batch some_rows(Index rows) {
  Batch batch(rows, kSolution);
  for (Index i = 0; i < batch.view().size(); ++i) {
    batch.data()[i] = 1.0 / static_cast<double>(i + 3);
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

// Every rank: bench_mpi rank COST ROWS
int measure_ranks(double cost, Index rows) {
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
  double best = 1e300;
  for (int i = 0; i < (cost > 0 ? 1 : 3); ++i) {
    best = std::min(best, seconds_of([&] { evaluate(rows); }));
  }
  report("MPI", session.size() - 1, cost, rows, best);
  return 0;
}

// The environment and not options, which differ between versions of mpirun.
int start_ranks(Index workers, double cost, Index rows) {
  const auto self = std::filesystem::read_symlink("/proc/self/exe").string();
  const auto command = fmt::format(
      "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe "
      "--bind-to none -n {} '{}' rank {} {}",
      workers + 1, self, cost, rows);
  return std::system(command.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::string_view(argv[1]) == "rank") {
    return measure_ranks(std::atof(argv[2]), std::atol(argv[3]));
  }
  fmt::print("rows through MPI, n = {}, {} features; rank 0 is one more\n", kSolution, kFeatures);
  fmt::print("  {:<8} {:>7} {:>12} {:>10} {:>12} {:>12}\n", "", "workers", "cost a row", "rows",
             "rows/s", "of ideal");
  std::fflush(stdout);
  struct Case {
    double cost;
    Index workers, rows;
  };
  for (const auto& [cost, workers, rows] :
       {Case{0, 1, 1'000'000}, Case{0, 2, 1'000'000}, Case{0.001, 4, 4000}, Case{0.1, 16, 480}}) {
    measure_threads(workers, cost, rows);
    if (start_ranks(workers, cost, rows) != 0) return 1;
  }
  return 0;
}
