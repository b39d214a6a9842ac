#include "rarefy/runs/archive_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

namespace rarefy {

void write_archive_csv(const Archive& archive, const std::function<void(std::string_view)>& out) {
  constexpr std::size_t kPiece = std::size_t{1} << 16;
  std::string text = "cell,visits,objective";
  for (Index d = 1; d <= archive.feature_dim(); ++d) text += fmt::format(",feature_{}", d);
  for (Index d = 1; d <= archive.solution_dim(); ++d) text += fmt::format(",solution_{}", d);
  text += '\n';
  std::vector<Index> order(static_cast<std::size_t>(archive.size()));
  std::iota(order.begin(), order.end(), Index{0});
  const auto cell_of = [&](Index elite) {
    return archive.cells()[static_cast<std::size_t>(elite)];
  };
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return cell_of(a) < cell_of(b); });
  for (const Index elite : order) {
    const auto end = std::back_inserter(text);
    fmt::format_to(end, "{},{},{}", cell_of(elite),
                   archive.visits()[static_cast<std::size_t>(cell_of(elite))],
                   archive.objectives()[static_cast<std::size_t>(elite)]);
    for (const double value : archive.features().row(elite)) fmt::format_to(end, ",{}", value);
    for (const double value : archive.solutions().row(elite)) fmt::format_to(end, ",{}", value);
    text += '\n';
    if (text.size() < kPiece) continue;
    out(text);
    text.clear();
  }
  out(text);
}

}  // namespace rarefy
