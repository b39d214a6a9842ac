#include "rarefy/density/network_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rarefy/core/error.hpp"
#include "rarefy/core/numbers.hpp"

namespace rarefy {

std::vector<Index> parse_layers(std::string_view text) {
  constexpr Index kWidest = 10'000;
  std::vector<Index> layers;
  for (const auto piece : split(text, ',')) {
    const auto width = parse_integer(trimmed(piece));
    if (!width || *width < 1 || *width > kWidest) {
      throw Error(ErrorKind::parameter, "hidden layers", fmt::format("'{}'", text),
                  fmt::format("widths from 1 to {}, with commas between", kWidest));
    }
    layers.push_back(*width);
  }
  return layers;
}

std::string text_of(const std::vector<Index>& layers) {
  return fmt::format("{}", fmt::join(layers, ","));
}

}  // namespace rarefy
