#include "rarefy/experiment/presets.hpp"

#include <fmt/format.h>

#include <utility>

#include "experiment/parts.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/domains/arm.hpp"
#include "rarefy/domains/linear_projection.hpp"
#include "rarefy/domains/maze.hpp"
#include "rarefy/storage/npy.hpp"
#include "rarefy/tessellations/cvt.hpp"
#include "rarefy/tessellations/grid.hpp"

namespace rarefy {
std::unique_ptr<Domain> make_domain(const Config& config) {
  if (config.domain == "arm") {
    return std::make_unique<Arm>(
        ArmOptions{.n = config.n, .objective = arm_objective_named(config.objective)});
  }
  if (config.domain == "maze") {
    if (config.n != Maze::kParameters) {
      throw Error(ErrorKind::parameter, "n", fmt::format("{}", config.n),
                  fmt::format("{}, the parameters of the robot's controller", Maze::kParameters));
    }
    MazeOptions options;
    options.walls = config.walls.empty() ? maze_map_named(config.maze) : parse_walls(config.walls);
    options.start = parse_maze_start(config.start);
    options.objective = maze_objective_named(config.objective);
    options.nothing_seen = config.nothing_seen;
    return std::make_unique<Maze>(std::move(options));
  }
  return std::make_unique<LinearProjection>(LinearProjectionOptions{
      .n = config.n, .m = config.m, .objective = lp_objective_named(config.objective)});
}

bool uses_grid(const Config& config, const DomainInfo& domain) {
  if (config.archive == "auto") return domain.feature_dim() <= 2 && config.centroids.empty();
  return config.archive == "grid";
}

std::shared_ptr<const Tessellation> make_tessellation(const Config& config,
                                                      const DomainInfo& domain, Workers& workers) {
  const auto& space = domain.feature_space;
  if (uses_grid(config, domain)) {
    const auto features = static_cast<std::size_t>(domain.feature_dim());
    return std::make_shared<Grid>(space, std::vector<Index>(features, config.grid));
  }
  if (!config.centroids.empty()) {
    return std::make_shared<Cvt>(space, read_npy_batch(config.centroids));
  }
  CvtOptions options;
  options.cells = config.cells;
  options.samples = config.cvt_samples;
  options.seed = static_cast<std::uint64_t>(config.cvt_seed);
  options.iterations = config.cvt_iterations;
  options.tolerance = config.cvt_tolerance;
  return std::make_shared<Cvt>(space, options, workers);
}

std::unique_ptr<Search> make_search(const Config& config, const DomainInfo& domain, Index threads) {
  Workers workers(threads);
  return make_search(config, domain, make_tessellation(config, domain, workers), threads);
}

std::unique_ptr<Search> make_search(const Config& config, const DomainInfo& domain,
                                    std::shared_ptr<const Tessellation> cells, Index threads) {
  return std::make_unique<Search>(make_parts(config, domain, std::move(cells)),
                                  make_search_options(config, threads));
}

SearchParts make_parts(const Config& config, const DomainInfo& domain,
                       std::shared_ptr<const Tessellation> cells) {
  presets::check(config, domain);
  SearchParts parts;
  for (std::int64_t i = 0; i < config.emitters; ++i) {
    parts.emitters.push_back(presets::make_emitter(config, domain, static_cast<std::uint32_t>(i)));
    parts.triggers.push_back(presets::make_trigger(config));
  }
  parts.restart_point = presets::make_restart_point(config, domain);
  parts.density = presets::make_density(config, domain, cells);
  parts.archive = std::make_unique<Archive>(std::move(cells), domain.solution_dim);
  return parts;
}

SearchOptions make_search_options(const Config& config, Index threads) {
  // Only the paper's own algorithm seems to have been measured the other way round.
  const bool before = !presets::is_published(config) || config.algorithm != "dds-kde";
  return {.seed = static_cast<std::uint64_t>(config.seed),
          .threads = threads,
          .score_before_observing = before};
}

}  // namespace rarefy
