#include "chosen_cell.hpp"

#include <fmt/format.h>

#include "rarefy/core/error.hpp"
#include "rarefy/core/numbers.hpp"

namespace rarefy::command {
namespace {

std::string point_text(Index features) {
  if (features == 1) return "a point X in it";
  return features == 2 ? "a point X,Y in it" : fmt::format("a point in it, {} numbers", features);
}

std::string box_text(const FeatureSpace& space) {
  std::string text;
  for (std::size_t d = 0; d < space.lower.size(); ++d) {
    text += fmt::format("{}[{}, {}]", d > 0 ? " x " : "", space.lower[d], space.upper[d]);
  }
  return text;
}

Index parse_cell(const Tessellation& cells, std::string_view option, const std::string& text) {
  if (const auto number = parse_integer(text); number && *number >= 0 && *number < cells.cells()) {
    return *number;
  }
  const auto point = parse_numbers(text);
  if (!point || static_cast<Index>(point->size()) != cells.feature_dim()) {
    throw Error(ErrorKind::parameter, option, fmt::format("'{}'", text),
                fmt::format("the number of a cell, 0 to {}, or {}", cells.cells() - 1,
                            point_text(cells.feature_dim())));
  }
  const auto& space = cells.space();
  for (std::size_t d = 0; d < point->size(); ++d) {
    if ((*point)[d] < space.lower[d] || (*point)[d] > space.upper[d]) {
      throw Error(ErrorKind::parameter, option, fmt::format("'{}'", text),
                  fmt::format("a point within {}", box_text(space)));
    }
  }
  Index cell = 0;
  cells.assign(BatchView(point->data(), 1, cells.feature_dim()), std::span(&cell, 1));
  return cell;
}

}  // namespace

ChosenCell find_cell(const Archive& archive, std::string_view option, const std::string& text) {
  const Index cell = parse_cell(archive.tessellation(), option, text);
  const Index elite = archive.elite_of(cell);
  if (elite < 0) {
    throw Error(ErrorKind::parameter, option, fmt::format("cell {}", cell),
                "a cell that was reached; 'cells' in archive.npz lists them");
  }
  return {cell, elite};
}

}  // namespace rarefy::command
