#include "rarefy/experiment/make_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <utility>

#include "experiment/make_parts.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/experiment/algorithm_table.hpp"
#include "rarefy/experiment/memory_estimate.hpp"
#include "rarefy/restarts/memory_cells.hpp"
#include "rarefy/storage/npy.hpp"
#include "rarefy/storage/npz.hpp"
#include "rarefy/tessellations/cvt.hpp"
#include "rarefy/tessellations/grid.hpp"

namespace rarefy {
namespace {

// A .npy file, the archive of a run, or the folder it lies in.
Batch read_solutions(const std::filesystem::path& path, const ShapeCheck& accept) {
  if (path.extension() == ".npy") return read_npy_batch(path, accept);
  std::error_code unknown;  // which is told when it cannot be opened
  const auto archive = std::filesystem::is_directory(path, unknown) ? path / "archive.npz" : path;
  return to_batch(read_npz_array(archive, "solutions", accept));
}

void check_shape(Index rows, Index columns, const DomainInfo& domain, const std::string& file) {
  if (columns == domain.solution_dim && rows > 0) return;
  throw Error(ErrorKind::data, fmt::format("{}: initial solutions", file),
              fmt::format("{} x {}", rows, columns),
              fmt::format("at least one row of {} values", domain.solution_dim));
}

std::shared_ptr<const Grid> make_grid(const Config& config, const DomainInfo& domain) {
  const auto features = static_cast<std::size_t>(domain.feature_dim());
  return std::make_shared<Grid>(domain.feature_space,
                                std::vector<Index>(features, config.archive.intervals));
}

// A small file may hold a large array. It is copied when it is read, and lies in the search then.
void check_room(Index rows, Index columns, const std::string& file) {
  constexpr double kCopies = 3;
  const double bytes = sizeof(double) * static_cast<double>(rows) * static_cast<double>(columns);
  const auto limit = memory_limit();
  if (kCopies * bytes <= limit.bytes) return;
  throw Error(
      ErrorKind::data, fmt::format("{}: initial solutions", file), memory_text(bytes),
      fmt::format("at most a third of the {} of {}", memory_text(limit.bytes), limit.whose));
}

}  // namespace

bool uses_grid(const Config& config, const DomainInfo& domain) {
  switch (config.archive.kind) {
    case CellKind::automatic: return domain.feature_dim() <= 2 && config.archive.centroids.empty();
    case CellKind::grid: return true;
    case CellKind::cvt: break;
  }
  return false;
}

void check_search(const Config& config, const DomainInfo& domain, const MemoryUse& use) {
  domain.check();
  check_config(config, domain);
  // A grid takes no memory, and says itself when it has more cells than can be counted.
  if (!use.cells && uses_grid(config, domain)) (void)make_grid(config, domain);
  check_memory(config, domain, use);
}

std::shared_ptr<const Tessellation> make_tessellation(const Config& config,
                                                      const DomainInfo& domain, Workers& workers,
                                                      StopFlag stop) {
  const auto& space = domain.feature_space;
  if (uses_grid(config, domain)) return make_grid(config, domain);
  if (!config.archive.centroids.empty()) {
    return std::make_shared<Cvt>(space, read_npy_batch(config.archive.centroids));
  }
  return std::make_shared<Cvt>(space, config.archive.cvt, workers, stop);
}

Batch read_initial_solutions(const Config& config, const DomainInfo& domain) {
  const auto& file = config.emitters.initial_solutions;
  if (file.empty()) return {};
  auto solutions = read_solutions(file, [&](std::span<const Index> shape) {
    if (shape.size() != 2) return;
    check_shape(shape[0], shape[1], domain, file);
    check_room(shape[0], shape[1], file);
  });
  check_initial_solutions(solutions, config, domain, file);
  return solutions;
}

void check_initial_solutions(BatchView solutions, const Config& config, const DomainInfo& domain,
                             const std::string& file) {
  check_shape(solutions.rows(), solutions.cols(), domain, file);
  const auto bounds = bounds_of(config.emitters, domain);
  for (Index i = 0; i < solutions.rows(); ++i) {
    for (const double value : solutions.row(i)) {
      if (!std::isfinite(value)) {
        throw Error(ErrorKind::data, fmt::format("{}: row {}", file, i), fmt::format("{}", value),
                    "finite numbers");
      }
    }
    if (bounds.any() && !lies_inside(solutions.row(i), bounds)) {
      throw Error(ErrorKind::data, fmt::format("{}: row {}", file, i), "a solution out of bounds",
                  fmt::format("values from {} to {}", bounds.lower[0], bounds.upper[0]));
    }
  }
}

SearchParts make_parts(const Config& config, const DomainInfo& domain,
                       std::shared_ptr<const Tessellation> cells, BatchView initial_solutions) {
  domain.check();
  check_config(config, domain);
  const auto& algorithm = algorithm_of(config);
  const std::vector<double> origin(static_cast<std::size_t>(domain.solution_dim),
                                   config.emitters.x0);
  SearchParts parts;
  Batch starts(config.emitters.count, domain.solution_dim);
  for (Index i = 0; i < config.emitters.count; ++i) {
    const auto start =
        initial_solutions.empty()
            ? std::span<const double>(origin)
            : initial_solutions.row(i * initial_solutions.rows() / config.emitters.count);
    std::copy(start.begin(), start.end(), starts.row(i).begin());
    auto emitter = algorithm.emitter->make(config, domain, static_cast<std::uint32_t>(i));
    emitter->restart(start);
    parts.emitters.push_back(std::move(emitter));
    parts.triggers.push_back(make_trigger(config.restarts));
  }
  if (!(config.emitters.*algorithm.emitter->step)) {
    parts.probe = std::make_unique<StepProbe>(StepProbeOptions{
        .starts = std::move(starts),
        .space = domain.feature_space,
        .candidates = config.emitters.count * config.emitters.batch,
        .bounds = bounds_of(config.emitters, domain),
        .seed = seed_of(config),
        .choice = domain.feature_dim() > 2 ? algorithm.steps_in_many : algorithm.steps});
  }
  parts.restart_point = make_restart_point(config, domain);
  if (const Index size = parts.emitters.front()->shape_size();
      size > 0 && config.restarts.shape_rate > 0) {
    parts.common_shape = std::make_unique<CommonShape>(config.restarts.shape_rate, size);
  }
  parts.density = algorithm.density->make(config, domain, cells);
  parts.archive = std::make_unique<Archive>(std::move(cells), domain.solution_dim);
  if (remembers(config)) {
    parts.memory = std::make_unique<Archive>(
        make_memory_cells(domain.feature_space, config.restarts.memory_cells, seed_of(config)),
        domain.solution_dim);
  }
  return parts;
}

SearchOptions make_search_options(const Config& config, Batch initial_solutions) {
  SearchOptions options;
  options.seed = seed_of(config);
  options.score_before_observing = config.profile != Profile::published ||
                                   algorithm_of(config).published_scores_before_observing;
  options.outside = config.density.outside;
  options.nan_means_failed = config.nan_fails;
  options.initial_solutions = std::move(initial_solutions);
  return options;
}

std::unique_ptr<Search> make_search(const Config& config, const DomainInfo& domain, Index threads) {
  return make_search(config, domain, std::make_shared<Workers>(threads));
}

std::unique_ptr<Search> make_search(const Config& config, const DomainInfo& domain,
                                    std::shared_ptr<Workers> team,
                                    std::shared_ptr<const Tessellation> cells) {
  MemoryUse use = {.threads = team->threads(), .saves = false};
  if (cells != nullptr) use.cells = cells->cells();
  check_search(config, domain, use);
  if (cells == nullptr) cells = make_tessellation(config, domain, *team);
  return make_search(config, domain, std::move(team), std::move(cells),
                     read_initial_solutions(config, domain));
}

std::unique_ptr<Search> make_search(const Config& config, const DomainInfo& domain,
                                    std::shared_ptr<Workers> team,
                                    std::shared_ptr<const Tessellation> cells,
                                    Batch initial_solutions) {
  auto parts = make_parts(config, domain, std::move(cells), initial_solutions);
  auto options = make_search_options(config, std::move(initial_solutions));
  options.workers = std::move(team);
  return std::make_unique<Search>(std::move(parts), options);
}

}  // namespace rarefy
