// What a run leaves for people and other programs to look at.
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "rarefy/core/error.hpp"
#include "rarefy/runs/density_picture.hpp"
#include "rarefy/runs/picture.hpp"
#include "rarefy/runs/run.hpp"
#include "rarefy/storage/atomic_file.hpp"
#include "rarefy/storage/npz.hpp"

namespace rarefy {

void Run::write_results() const {
  write_file_atomically(folder_.metrics(), metrics_.csv());
  const auto& archive = search_->archive();
  const auto& cells = archive.tessellation();
  const Index count = archive.size();
  const std::int64_t iteration = search_->iteration();
  std::vector<NamedArray> arrays = {
      {"solutions", archive.solutions()},
      {"objectives", archive.objectives(), {count}},
      {"features", archive.features()},
      {"cells", archive.cells(), {count}},
      {"visits", archive.visits(), {cells.cells()}},
      {"iteration", std::span(&iteration, 1), {}},
      {"lower", cells.space().lower, {cells.feature_dim()}},
      {"upper", cells.space().upper, {cells.feature_dim()}},
  };
  for (auto& array : cells.arrays()) arrays.push_back(std::move(array));
  write_npz(folder_.archive(), arrays);
  write_file_atomically(folder_.heatmap(),
                        picture_of(archive, domain_->info(), config_, iteration));
}

void Run::write_density() {
  auto* const density = dynamic_cast<DensityEstimate*>(&search_->density());
  if (density == nullptr) {
    throw Error(ErrorKind::parameter, "density", fmt::format("a run of {}", config_.algorithm),
                "a run of dds-kde or dds-cnf: other algorithms do not estimate one");
  }
  if (!density->informed()) {
    throw Error(ErrorKind::parameter, "density", "a run of 0 iterations",
                "at least one: nothing has been seen yet");
  }
  const auto raster = density_raster(*density, domain_->info(), search_->workers());
  write_npz(folder_.density_values(), std::vector<NamedArray>{
                                          {"log_density", raster.log_density},
                                          {"x", raster.x, {static_cast<Index>(raster.x.size())}},
                                          {"y", raster.y, {static_cast<Index>(raster.y.size())}},
                                          {"samples", density->samples()},
                                      });
  const auto map = density_map(raster, *density, domain_->info(), config_, search_->iteration());
  write_file_atomically(folder_.density_picture(), pictures::render_png(map));
}

}  // namespace rarefy
