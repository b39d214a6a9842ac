#include "rarefy/experiment/metrics_log.hpp"

#include <fmt/format.h>

#include <iterator>

#include "rarefy/core/error.hpp"
#include "rarefy/experiment/metrics.hpp"

namespace rarefy {

MetricsLine measure(const Search& search, const Config& config, double seconds) {
  const auto& archive = search.archive();
  return {
      .iteration = search.iteration(),
      .evaluations = search.evaluations(),
      .coverage = coverage(archive),
      .cross_entropy = cross_entropy(archive.visits(), config.entropy_floor),
      .qd_score = qd_score(archive, config.objective_floor),
      .best_objective = best_objective(archive),
      .restarts = search.restarts(),
      .seconds = seconds,
  };
}

std::string MetricsLog::csv() const {
  std::string out =
      "iteration,evaluations,coverage,cross_entropy,qd_score,best_objective,restarts,seconds\n";
  for (const auto& line : lines_) {
    fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{},{:.3f}\n", line.iteration,
                   line.evaluations, line.coverage, line.cross_entropy, line.qd_score,
                   line.best_objective, line.restarts, line.seconds);
  }
  return out;
}

void MetricsLog::save(StateWriter& out) const {
  std::vector<std::int64_t> counts;
  std::vector<double> values;
  for (const auto& line : lines_) {
    counts.insert(counts.end(), {line.iteration, line.evaluations, line.restarts});
    values.insert(values.end(), {line.coverage, line.cross_entropy, line.qd_score,
                                 line.best_objective, line.seconds});
  }
  out.integers("metrics.counts", counts);
  out.reals("metrics.values", values);
}

void MetricsLog::load(StateReader& in) {
  constexpr std::size_t kMost = std::size_t{1} << 32;
  const auto counts = in.integers_up_to("metrics.counts", kMost);
  const auto values = in.reals_up_to("metrics.values", kMost);
  const std::size_t size = counts.size() / 3;
  if (counts.size() != 3 * size || values.size() != 5 * size) {
    throw Error(ErrorKind::corrupt, "saved state: the metrics have lines of different lengths");
  }
  lines_.clear();
  for (std::size_t i = 0; i < size; ++i) {
    const auto* count = &counts[3 * i];
    const auto* value = &values[5 * i];
    lines_.push_back(
        {count[0], count[1], value[0], value[1], value[2], value[3], count[2], value[4]});
  }
}

}  // namespace rarefy
