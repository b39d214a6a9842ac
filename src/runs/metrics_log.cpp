#include "rarefy/runs/metrics_log.hpp"

#include <fmt/format.h>

#include <iterator>
#include <limits>

#include "rarefy/archives/metrics.hpp"
#include "rarefy/core/error.hpp"

namespace rarefy {

MetricsLine measure(const Search& search, double entropy_floor,
                    std::optional<double> objective_floor, double seconds) {
  const auto& archive = search.archive();
  const auto evaluated = search.evaluations() - search.failed();
  return {
      .iteration = search.iteration(),
      .evaluations = search.evaluations(),
      .coverage = coverage(archive),
      .cross_entropy = cross_entropy(archive.visits(), entropy_floor),
      .qd_score = objective_floor ? qd_score(archive, *objective_floor)
                                  : std::numeric_limits<double>::quiet_NaN(),
      .best_objective = best_objective(archive),
      .mean_objective = mean_objective(archive),
      .restarts = search.restarts(),
      .failed = search.failed(),
      .outside = evaluated > 0
                     ? static_cast<double>(search.outside()) / static_cast<double>(evaluated)
                     : 0.0,
      .seconds = seconds,
  };
}

void MetricsLog::add(const MetricsLine& line, Line kind) {
  if (last_makes_way_) lines_.pop_back();
  lines_.push_back(line);
  last_makes_way_ = kind == Line::makes_way;
}

std::string MetricsLog::csv() const {
  std::string out =
      "iteration,evaluations,coverage,cross_entropy,qd_score,best_objective,mean_objective,"
      "restarts,"
      "failed,outside,seconds\n";
  for (const auto& line : lines_) {
    fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{},{},{},{},{:.3f}\n",
                   line.iteration, line.evaluations, line.coverage, line.cross_entropy,
                   line.qd_score, line.best_objective, line.mean_objective, line.restarts,
                   line.failed, line.outside, line.seconds);
  }
  return out;
}

namespace {
constexpr std::size_t kCounts = 4, kValues = 7;  // in a line
}

void MetricsLog::save(StateWriter& out) const {
  std::vector<std::int64_t> counts;
  std::vector<double> values;
  for (const auto& line : lines_) {
    counts.insert(counts.end(), {line.iteration, line.evaluations, line.restarts, line.failed});
    values.insert(values.end(),
                  {line.coverage, line.cross_entropy, line.qd_score, line.best_objective,
                   line.mean_objective, line.outside, line.seconds});
  }
  out.integer("metrics.last_makes_way", last_makes_way_ ? 1 : 0);
  out.integers("metrics.counts", counts);
  out.reals("metrics.values", values);
}

void MetricsLog::load(StateReader& in) {
  constexpr std::size_t kMost = std::size_t{1} << 32;
  const bool makes_way = in.integer("metrics.last_makes_way", 0, 1) == 1;
  const auto counts = in.integers_up_to("metrics.counts", kMost);
  const auto values = in.reals_up_to("metrics.values", kMost);
  const std::size_t size = counts.size() / kCounts;
  if (counts.size() != kCounts * size || values.size() != kValues * size ||
      (makes_way && size == 0)) {
    throw Error(ErrorKind::corrupt, "saved state: the metrics have lines of different lengths");
  }
  lines_.clear();
  last_makes_way_ = makes_way;
  for (std::size_t i = 0; i < size; ++i) {
    const auto* count = &counts[kCounts * i];
    const auto* value = &values[kValues * i];
    lines_.push_back({.iteration = count[0],
                      .evaluations = count[1],
                      .coverage = value[0],
                      .cross_entropy = value[1],
                      .qd_score = value[2],
                      .best_objective = value[3],
                      .mean_objective = value[4],
                      .restarts = count[2],
                      .failed = count[3],
                      .outside = value[5],
                      .seconds = value[6]});
  }
}

}  // namespace rarefy
