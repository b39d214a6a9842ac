#include "rarefy/experiment/domain_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rarefy/core/error.hpp"
#include "rarefy/core/names.hpp"
#include "rarefy/domains/arm.hpp"
#include "rarefy/domains/linear_projection.hpp"
#include "rarefy/domains/maze.hpp"

namespace rarefy {
namespace {

std::unique_ptr<Domain> make_projection(const ProblemOptions& options) {
  return std::make_unique<LinearProjection>(LinearProjectionOptions{
      .n = options.n, .m = options.m, .objective = named<LpObjective>(options.objective)});
}

std::unique_ptr<Domain> make_arm(const ProblemOptions& options) {
  return std::make_unique<Arm>(
      ArmOptions{.n = options.n, .objective = named<ArmObjective>(options.objective)});
}

std::unique_ptr<Domain> make_maze(const ProblemOptions& options) {
  MazeOptions maze;
  maze.walls = options.walls.empty() ? walls_of(options.maze) : options.walls;
  maze.start = options.start;
  maze.objective = named<MazeObjective>(options.objective);
  maze.no_wall_reading = options.no_wall_reading;
  return std::make_unique<Maze>(std::move(maze));
}

// What is printed does not give the printed results in three places: the bandwidth of multi-lp,
// printed 2.56, where 5.12 = h0 * full width does; and the step sizes of CMA-ME on the arm and in
// the maze, printed 0.2 and 0.5, where the two the other way round do.
std::vector<DomainRow> make_rows() {
  return {
      {.name = "lp",
       .meaning = "linear projection: n values to 2 features, 100 x 100 grid",
       .make = make_projection,
       .objectives = names_of<LpObjective>(),
       .set_defaults = [](ProblemOptions&) {},
       .printed = {.dds_sigma0 = 1.5,
                   .cnf_sigma0 = 0.5,
                   .bandwidth = 25.6,
                   .novelty_threshold = 21.504,
                   .cma_mae_sigma0 = 0.5,
                   .cma_me_sigma0 = 0.5,
                   .iso_sigma = 0.5},
       .parameters = {"m"}},
      {.name = "multi-lp",
       .meaning = "multi-feature linear projection: n values to 10 features, 10,000 CVT cells",
       .make = make_projection,
       .objectives = names_of<LpObjective>(),
       .set_defaults = [](ProblemOptions& options) { options.m = 10; },
       .printed = {.dds_sigma0 = 1.5,
                   .cnf_sigma0 = 0.5,
                   .bandwidth = 2.56,
                   .novelty_threshold = 2.1504,
                   .cma_mae_sigma0 = 0.5,
                   .cma_me_sigma0 = 0.5,
                   .iso_sigma = 0.5},
       .mend = [](PublishedValues& values) { values.bandwidth = 5.12; },
       .parameters = {"m"}},
      {.name = "arm",
       .meaning = "planar arm of n joints: where its end point goes, 100 x 100 grid",
       .make = make_arm,
       .objectives = names_of<ArmObjective>(),
       .set_defaults = [](ProblemOptions& options) { options.n = ArmOptions{}.n; },
       .printed = {.dds_sigma0 = 0.5,
                   .cnf_sigma0 = 1.5,
                   .bandwidth = 10,
                   .novelty_threshold = 8.4,
                   .cma_mae_sigma0 = 0.2,
                   .cma_me_sigma0 = 0.2,
                   .iso_sigma = 0.1},
       .mend = [](PublishedValues& values) { values.cma_me_sigma0 = 0.5; },
       .parameters = {}},
      {.name = "maze",
       .meaning = "robot with a neural controller in a maze: where it ends, 100 x 100 grid",
       .make = make_maze,
       .objectives = names_of<MazeObjective>(),
       .set_defaults = [](ProblemOptions& options) { options.n = Maze::kParameters; },
       .printed = {.dds_sigma0 = 1.5,
                   .cnf_sigma0 = 1.5,
                   .bandwidth = 0.01,
                   .novelty_threshold = 0.042,
                   .cma_mae_sigma0 = 0.5,
                   .cma_me_sigma0 = 0.5,
                   .iso_sigma = 0.1},
       .mend = [](PublishedValues& values) { values.cma_me_sigma0 = 0.2; },
       .parameters = {"maze", "walls", "start", "no-wall-reading"},
       // Whoever asks about given robots wants to know what they spend as well.
       .evaluated_objective = "energy",
       .only_n = Maze::kParameters},
  };
}

void check_options(const DomainRow& row, const ProblemOptions& options) {
  if (std::find(row.objectives.begin(), row.objectives.end(), options.objective) ==
      row.objectives.end()) {
    throw unknown_name(fmt::format("objective of {}", row.name), options.objective, row.objectives);
  }
  if (row.only_n != 0 && options.n != row.only_n) {
    throw Error(
        ErrorKind::parameter, "n", fmt::format("{}", options.n),
        fmt::format("{}: solutions of {} have no other number of values", row.only_n, row.name));
  }
}

}  // namespace

std::span<const DomainRow> domain_rows() {
  static const std::vector<DomainRow> rows = make_rows();
  return rows;
}

const DomainRow& domain_named(std::string_view name) {
  std::vector<std::string_view> known;
  for (const auto& row : domain_rows()) {
    if (row.name == name) return row;
    known.push_back(row.name);
  }
  throw unknown_name("domain", name, known);
}

const DomainRow* domain_row_of(const Config& config) {
  return config.own_problem ? nullptr : &domain_named(config.domain);
}

std::unique_ptr<Domain> make_domain(const Config& config) {
  const auto* row = domain_row_of(config);
  if (row == nullptr) {
    throw Error(ErrorKind::parameter, "domain", fmt::format("'{}'", config.domain),
                "one that is known by name: it belongs to the program that made the run");
  }
  check_options(*row, config.problem);
  return row->make(config.problem);
}

DomainInfo domain_info(const Config& config) {
  return config.own_problem ? *config.own_problem : make_domain(config)->info();
}

}  // namespace rarefy
