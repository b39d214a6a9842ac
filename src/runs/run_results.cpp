// What a run leaves for people and other programs to look at.
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "rarefy/core/error.hpp"
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
  const auto picture = picture_of(archive, domain_->info(), config_, iteration);
  if (!picture.empty()) write_file_atomically(folder_.heatmap(), picture);
}

}  // namespace rarefy
