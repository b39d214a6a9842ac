// make bench: what an iteration costs, stage by stage, beside what its pieces cost alone.
// Arguments go to Google Benchmark, whose kernels follow the table.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdio>

#include "floors.hpp"
#include "flow.hpp"
#include "iteration.hpp"
#include "maze.hpp"
#include "rarefy/core/instruction_set.hpp"
#include "rarefy/core/version.hpp"

namespace {

using rarefy::Index;
using rarefy::bench::Floors;
using rarefy::bench::IterationTimes;

// What the stages of an iteration of 15 x 36 solutions, n = 100, cannot go below with the
// same pieces, in milliseconds on one thread.
IterationTimes floor_of(const Floors& f, double score, double assignment) {
  constexpr double kEmitters = 15, kNormals = 1800, kBatch = 540, kCells = 10'000;
  return {.ask = 1e3 * kEmitters * (kNormals * f.normal + f.multiply + f.cholesky),
          .evaluate = 0,
          .score = 1e3 * kBatch * score,
          .observe = 0,
          .record_and_adapt = 1e3 * (kEmitters * f.rank_update + kBatch * kCells * assignment)};
}

void print_domain(const char* title, const char* domain, const IterationTimes& floor) {
  const auto one = rarefy::bench::time_iteration(domain, 1);
  const auto two = rarefy::bench::time_iteration(domain, 2);
  fmt::print("{}\n  {:<18} {:>9} {:>10} {:>14}\n", title, "ms an iteration", "1 thread",
             "2 threads", "floor, 1 thr.");
  const auto line = [](const char* name, double a, double b, double c) {
    fmt::print("  {:<18} {:>9.3f} {:>10.3f} {:>14}\n", name, a, b,
               c > 0 ? fmt::format("{:.3f}", c) : "-");
  };
  line("ask", one.ask, two.ask, floor.ask);
  line("evaluate", one.evaluate, two.evaluate, floor.evaluate);
  line("score", one.score, two.score, floor.score);
  line("observe", one.observe, two.observe, floor.observe);
  line("record and adapt", one.record_and_adapt, two.record_and_adapt, floor.record_and_adapt);
  line("whole", one.whole(), two.whole(), floor.whole());
  fmt::print("\n");
}

// The same bandwidth for all, so that nothing but the buffer differs.
void print_buffers() {
  auto config = rarefy::default_config("lp");
  config.density.kde.bandwidth = rarefy::Bandwidth::normalised(0.0622);
  fmt::print("linear projection, by the size of the buffer (seen: twice as many)\n");
  fmt::print("  {:<18} {:>9} {:>10} {:>24}\n", "ms an iteration", "1 thread", "2 threads",
             "of that score, observe");
  for (const std::int64_t buffer : {10'000, 100'000, 1'000'000, 10'000'000, 0}) {
    config.density.buffer = buffer;
    const auto one = rarefy::bench::time_iteration(config, 1);
    const auto two = rarefy::bench::time_iteration(config, 2);
    fmt::print("  {:<18} {:>9.3f} {:>10.3f} {:>9.3f}, {:.3f} / {:.3f}, {:.3f}\n",
               buffer > 0 ? fmt::format("{}", buffer) : "unlimited", one.whole(), two.whole(),
               one.score, one.observe, two.score, two.observe);
    std::fflush(stdout);
  }
  fmt::print("\n");
}

}  // namespace

int main(int argc, char** argv) {
  fmt::print("rarefy {}, instruction set {}\n", rarefy::kVersion,
             rarefy::name_of(rarefy::instruction_set()));
  fmt::print("15 emitters x 36 solutions, n = 100, buffer of 10,000 full, default profile\n\n");
  const Floors floors = rarefy::bench::measure_floors(100, 36);
  fmt::print("floors, measured alone on one thread\n");
  fmt::print("  normal number      {:8.2f} ns\n", 1e9 * floors.normal);
  fmt::print("  product 18x100x100 {:8.2f} us\n", 1e6 * floors.multiply);
  fmt::print("  Cholesky 100x100   {:8.2f} us\n", 1e6 * floors.cholesky);
  fmt::print("  rank-19 update     {:8.2f} us\n", 1e6 * floors.rank_update);
  fmt::print("  density by panels  {:8.2f} ns in 2-D\n", 1e9 * floors.panel_query);
  fmt::print("  Gaussian kernel    {:8.3f} ns in 2-D, {:.3f} ns in 10-D\n", 1e9 * floors.kernel_2d,
             1e9 * floors.kernel_10d);
  fmt::print("  CVT comparison     {:8.3f} ns in 10-D\n\n", 1e9 * floors.nearest_10d);

  print_domain("linear projection", "lp", floor_of(floors, floors.panel_query, 0));
  print_domain("arm", "arm", floor_of(floors, floors.panel_query, 0));
  print_domain("multi-feature linear projection, 10,000 CVT cells", "multi-lp",
               floor_of(floors, 1e4 * floors.kernel_10d, floors.nearest_10d));

  print_buffers();
  rarefy::bench::print_maze();
  rarefy::bench::print_flow();

  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
