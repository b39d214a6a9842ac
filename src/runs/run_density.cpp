// The density of a run, for people and other programs to look at.
#include <fmt/format.h>

#include <vector>

#include "rarefy/core/error.hpp"
#include "rarefy/runs/density_picture.hpp"
#include "rarefy/runs/run.hpp"
#include "rarefy/storage/atomic_file.hpp"
#include "rarefy/storage/npz.hpp"

namespace rarefy {

void Run::write_density() {
  auto* const density = dynamic_cast<DensityEstimate*>(&search_->density());
  if (density == nullptr) {
    throw Error(ErrorKind::parameter, "density", fmt::format("a run of {}", config_.algorithm),
                "a run of dds-kde, dds-cnf, dds-gmm or dds-qd: other algorithms do not "
                "estimate one");
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
