#include "experiment_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace rarefy::command {
namespace {

using TableLine = std::array<std::string, 4>;

std::string mean_coverage(const ResultRow& row) {
  std::vector<double> values;
  for (const auto& trial : row.trials) {
    if (trial.state == TrialState::finished) values.push_back(100 * trial.metrics.back().coverage);
  }
  if (values.empty()) return "-";
  const auto count = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  const double mean = sum / count;
  for (const double value : values) squares += (value - mean) * (value - mean);
  if (values.size() == 1) return fmt::format("{:.2f}", mean);
  return fmt::format("{:.2f} +- {:.2f}", mean, std::sqrt(squares / (count - 1) / count));
}

}  // namespace

std::string short_table(const Results& results) {
  const bool with_profile = std::ranges::any_of(results.rows, [&](const ResultRow& row) {
    return row.profile != results.rows.front().profile;
  });
  std::vector<TableLine> lines = {{"domain", "algorithm", "trials", "coverage %"}};
  for (const auto& row : results.rows) {
    const auto done = std::ranges::count(row.trials, TrialState::finished, &Trial::state);
    lines.push_back({row.domain, row.label(with_profile),
                     fmt::format("{} of {}", done, row.trials.size()), mean_coverage(row)});
  }
  std::array<std::size_t, 3> widths{};
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const auto& line : lines) {
    text += fmt::format("{:<{}}  {:<{}}  {:<{}}  {}\n", line[0], widths[0], line[1], widths[1],
                        line[2], widths[2], line[3]);
  }
  return text;
}

}  // namespace rarefy::command
