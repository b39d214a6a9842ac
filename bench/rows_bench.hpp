// What the benchmarks of evaluators have in common: rows to send, a clock, a table in which
// everything stands beside threads of the same process.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string_view>
#include <thread>

#include "rarefy/core/workers.hpp"
#include "rarefy/evaluators/evaluator.hpp"

namespace rows_bench {

using rarefy::Batch;
using rarefy::Evaluation;
using rarefy::Index;

constexpr Index kSolution = 100;
constexpr Index kFeatures = 2;
constexpr int kRounds = 3;  // the best counts: the others had to wait for something else

inline void take_time(double seconds) {
  if (seconds > 0) std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

inline Batch some_rows(Index rows) {
  Batch batch(rows, kSolution);
  for (Index i = 0; i < batch.view().size(); ++i) {
    batch.data()[i] = 1.0 / static_cast<double>(i + 3);  // of many digits
  }
  return batch;
}

template <typename Evaluate>
double best_seconds(Evaluate evaluate) {
  double best = 1e300;
  for (int i = 0; i < kRounds; ++i) {
    const auto before = std::chrono::steady_clock::now();
    evaluate();
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - before;
    best = std::min(best, passed.count());
  }
  return best;
}

inline void print_head() {
  fmt::print("  {:<8} {:>7} {:>12} {:>10} {:>12} {:>12} {:>12}\n", "", "workers", "cost a row",
             "rows", "rows/s", "of threads", "of ideal");
  std::fflush(stdout);
}

/// `threads`: rows a second of as many threads.
inline void report(std::string_view who, Index workers, double cost, Index rows, double seconds,
                   double threads) {
  const auto rate = static_cast<double>(rows) / seconds;
  const auto ideal =
      cost > 0 ? fmt::format("{:5.1f} %", 100 * rate * cost / static_cast<double>(workers)) : "-";
  fmt::print("  {:<8} {:>7} {:>9} ms {:>10} {:>12.0f} {:>12.3g} {:>12}\n", who, workers,
             1000 * cost, rows, rate, rate / threads, ideal);
  std::fflush(stdout);
}

/// Rows a second.
inline double measure_threads(Index workers, double cost, Index rows) {
  rarefy::Workers team(workers);
  const auto solutions = some_rows(rows);
  Evaluation out(rows, kFeatures);
  const auto seconds = best_seconds([&] {
    team.for_each(rows, [&](Index i) {
      take_time(cost);
      std::copy_n(solutions.row(i).begin(), kFeatures, out.features.row(i).begin());
    });
  });
  const double rate = static_cast<double>(rows) / seconds;
  report("threads", workers, cost, rows, seconds, rate);
  return rate;
}

}  // namespace rows_bench
