#include "rarefy/archives/metrics.hpp"

#include <algorithm>
#include <numeric>

#include "core/maths.hpp"

namespace rarefy {

double coverage(const Archive& archive) {
  return static_cast<double>(archive.size()) / static_cast<double>(archive.tessellation().cells());
}

double cross_entropy(std::span<const std::int64_t> visits, double floor) {
  const auto total =
      static_cast<double>(std::accumulate(visits.begin(), visits.end(), std::int64_t{0}));
  double sum = 0.0;
  for (const auto count : visits) {
    const double share = total > 0 ? static_cast<double>(count) / total : 0.0;
    sum += maths::log(share + floor);
  }
  return -sum / static_cast<double>(visits.size());
}

double qd_score(const Archive& archive, double least) {
  double sum = 0.0;
  for (const double objective : archive.objectives()) sum += objective - least;
  return sum;
}

double mean_objective(const Archive& archive) {
  return archive.empty() ? 0.0 : qd_score(archive) / static_cast<double>(archive.size());
}

double best_objective(const Archive& archive) {
  const auto objectives = archive.objectives();
  return objectives.empty() ? 0.0 : *std::max_element(objectives.begin(), objectives.end());
}

}  // namespace rarefy
