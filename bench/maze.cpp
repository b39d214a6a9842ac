#include "maze.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "rarefy/core/error.hpp"
#include "rarefy/core/instruction_set.hpp"
#include "rarefy/core/random.hpp"
#include "rarefy/domains/maze.hpp"
#include "rarefy/evaluators/evaluator.hpp"
#include "rarefy/experiment/make_search.hpp"
#include "rarefy/runs/drive.hpp"
#include "stopwatch.hpp"
#include "support/maze_reference.hpp"

namespace rarefy::bench {
namespace {

Batch random_controllers(Index count) {
  Batch controllers(count, Maze::kParameters);
  fill_normals({.seed = 1, .purpose = Purpose::user}, controllers.values());
  return controllers;
}

// What density descent has found after a while: robots that get about.
Batch evolved_controllers(const Maze& maze, Index most) {
  const auto config = default_config("maze");
  const auto search = make_search(config, maze.info());
  ThreadsEvaluator evaluator(maze, search->workers());
  constexpr std::int64_t kIterations = 1000;
  drive(*search, evaluator, kIterations);
  const auto& archive = search->archive();
  // The last found: the first are as good as random.
  const Index count = std::min(most, archive.size());
  Batch controllers(count, Maze::kParameters);
  const auto rows = archive.solutions().rows(archive.size() - count, count).values();
  std::copy(rows.begin(), rows.end(), controllers.values().begin());
  return controllers;
}

double episodes_per_second(const Maze& maze, BatchView controllers, Index threads) {
  Workers workers(threads);
  ThreadsEvaluator evaluator(maze, workers);
  Batch features(controllers.rows(), 2);
  std::vector<double> objectives(static_cast<std::size_t>(controllers.rows()));
  const double once = best_time(7, 1, [&] {
    evaluator.evaluate(controllers, {features, objectives});
  });
  return static_cast<double>(controllers.rows()) / once;
}

double scalar_episodes_per_second(const Maze& maze, BatchView controllers) {
  const Index count = std::min<Index>(controllers.rows(), 1000);
  const auto world = maze_reference::world(maze.options());
  float fitness = 0;  // used, so that nothing is left out
  const double once = best_time(3, 1, [&] {
    for (Index i = 0; i < count; ++i) {
      fitness +=
          maze_reference::episode(world, maze_reference::controller(controllers.row(i))).fitness;
    }
  });
  if (fitness > 0) fmt::print("a fitness cannot be positive\n");
  return static_cast<double>(count) / once;
}

}  // namespace

void print_maze() {
  const Maze maze;
  constexpr Index kControllers = 5000;
  const Batch random = random_controllers(kControllers);
  const Batch evolved = evolved_controllers(maze, kControllers);
  fmt::print("deceptive maze\n  {:<26} {:>9} {:>9}\n", "episodes/s", "N(0, 1)", "evolved");
  const auto line = [](const std::string& name, double a, double b) {
    fmt::print("  {:<26} {:>9.0f} {:>9.0f}\n", name, a, b);
  };
  line("plain scalar loop", scalar_episodes_per_second(maze, random),
       scalar_episodes_per_second(maze, evolved));
  const auto best = instruction_set();
  for (const auto* name : {"baseline", "avx2", "avx512"}) {
    try {
      pin_instruction_set(instruction_set_named(name));
    } catch (const Error&) {
      continue;  // not on this machine
    }
    line(fmt::format("{}, 1 thread", name), episodes_per_second(maze, random, 1),
         episodes_per_second(maze, evolved, 1));
  }
  pin_instruction_set(best);
  line(fmt::format("{}, 2 threads", name_of(best)), episodes_per_second(maze, random, 2),
       episodes_per_second(maze, evolved, 2));
  fmt::print("\n");
}

}  // namespace rarefy::bench
