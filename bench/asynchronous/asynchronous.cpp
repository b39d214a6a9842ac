// make bench-asynchronous: what it is worth that emitters do not wait for each other, where
// evaluations take log-normal times.
//
//   bench_asynchronous [ITERATIONS [SEEDS [EMITTERS]]]
//       workers on a clock of their own: utilisation of workers and coverage, for equal evaluations
//   bench_asynchronous --sleep [ITERATIONS]
//       the same with threads that do sleep, on LP
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

#include "rarefy/archives/metrics.hpp"
#include "rarefy/domains/function_domain.hpp"
#include "rarefy/evaluators/threads_stream.hpp"
#include "rarefy/experiment/domain_table.hpp"
#include "rarefy/experiment/make_search.hpp"
#include "rarefy/runs/drive.hpp"
#include "support/simulated_workers.hpp"

namespace {

using rarefy::Index;

constexpr double kMean = 0.1;  // seconds
constexpr double kSigma = 1.0;

struct Outcome {
  double utilisation = 0;
  double coverage = 0;
  double seconds = 0;
};

Outcome simulate(const std::string& name, std::int64_t seed, Index workers, bool asynchronous,
                 std::int64_t iterations, Index emitters) {
  auto config = rarefy::default_config(name);
  config.emitters.count = emitters;
  config.seed = seed;
  const auto domain = rarefy::make_domain(config);
  const auto search = rarefy::make_search(config, domain->info(), 1);
  SimulatedWorkers evaluator(*domain, workers, {kMean, kSigma});
  if (asynchronous) {
    drive_asynchronously(*search, evaluator, iterations);
  } else {
    drive(*search, evaluator, iterations);
  }
  return {evaluator.utilisation(), rarefy::coverage(search->archive()), evaluator.now()};
}

struct Sums {
  double sum = 0, squares = 0;
  int count = 0;
  void add(double value) {
    sum += value;
    squares += value * value;
    ++count;
  }
  [[nodiscard]] double mean() const { return sum / count; }
  [[nodiscard]] double error() const {
    if (count < 2) return 0;
    const double variance = (squares - sum * sum / count) / (count - 1);
    return std::sqrt(std::max(0.0, variance) / count);
  }
};

int simulated(std::int64_t iterations, int seeds, Index emitters) {
  fmt::print(
      "{} iterations, {} seeds, {} emitters; evaluations take {} s on average, log-normal, sigma "
      "{}\n",
      iterations, seeds, emitters, kMean, kSigma);
  fmt::print("{:<6} {:>7}  {:<12} {:>12} {:>11} {:>18}\n", "", "workers", "", "utilisation",
             "hours", "coverage, %");
  for (const char* name : {"lp", "arm", "maze"}) {
    for (const Index workers : {16, 200}) {
      for (const bool asynchronous : {false, true}) {
        Sums coverage, utilisation, hours;
        for (int seed = 1; seed <= seeds; ++seed) {
          const auto outcome = simulate(name, seed, workers, asynchronous, iterations, emitters);
          coverage.add(100 * outcome.coverage);
          utilisation.add(100 * outcome.utilisation);
          hours.add(outcome.seconds / 3600);
        }
        fmt::print("{:<6} {:>7}  {:<12} {:>10.1f} % {:>11.2f} {:>9.2f} +- {:.2f}\n", name, workers,
                   asynchronous ? "asynchronous" : "synchronous", utilisation.mean(), hours.mean(),
                   coverage.mean(), coverage.error());
        std::fflush(stdout);
      }
    }
  }
  return 0;
}

// Really asleep.
int asleep(std::int64_t iterations) {
  using Clock = std::chrono::steady_clock;
  constexpr Index kWorkers = 16;
  auto config = rarefy::default_config("lp");
  const auto lp = rarefy::make_domain(config);
  const LogNormalDurations durations(kMean, kSigma);
  fmt::print("{} iterations of LP with {} threads that sleep for {} s on average\n", iterations,
             kWorkers, kMean);
  for (const bool asynchronous : {false, true}) {
    std::atomic<std::int64_t> busy{0};  // microseconds
    const rarefy::FunctionDomain sleeper(
        lp->info(), [&](std::span<const double> solution, std::span<double> features) {
          const double seconds = durations.of(solution);
          std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
          busy += static_cast<std::int64_t>(1e6 * seconds);
          double objective = 0;
          lp->evaluate({solution.data(), 1, static_cast<Index>(solution.size())},
                       {features.data(), 1, static_cast<Index>(features.size())}, {&objective, 1});
          return objective;
        });
    const auto search = rarefy::make_search(config, lp->info(), 1);
    rarefy::ThreadsStream threads(sleeper, kWorkers);
    const auto before = Clock::now();
    if (asynchronous) {
      drive_asynchronously(*search, threads, iterations);
    } else {
      drive(*search, threads, iterations);
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - before).count();
    fmt::print("  {:<12} {:>8.1f} s, workers busy {:>5.1f} % of the time\n",
               asynchronous ? "asynchronous" : "synchronous", seconds,
               100 * 1e-6 * static_cast<double>(busy) / (seconds * kWorkers));
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string_view> given(argv + 1, argv + argc);
  if (!given.empty() && given[0] == "--sleep") return asleep(argc > 2 ? std::atol(argv[2]) : 10);
  return simulated(argc > 1 ? std::atol(argv[1]) : 5000, argc > 2 ? std::atoi(argv[2]) : 5,
                   argc > 3 ? std::atol(argv[3]) : rarefy::EmitterOptions{}.count);
}
